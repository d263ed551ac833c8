"""A cell of the demo on real Cassandra nodes, through Celery's workers: measured, judged and reported as anywhere."""

from collections.abc import Mapping

from tests.fakes.installation import Installation
from tests.support.airflow.run_to_report import run_to_report
from tests.support.airflow.team_stack import Team

from plimsoll.domain.definition import Definition
from plimsoll.services.campaign.state import valid_verdict
from plimsoll.services.publish.publishing import report_key
from plimsoll.services.store.campaigns import CampaignStore, read_fingerprint


def test_a_real_cell_is_measured_judged_and_reported(
    team: Team, installation: Installation, definitions: Mapping[str, Definition]
) -> None:
    definition, campaign = definitions["real"], CampaignStore(installation.toolkit.store, "real-mine")

    run_to_report(team, campaign, definition, timeout_s=900)

    verdict = valid_verdict(campaign, "g1-00200-r1")
    assert verdict is not None
    assert verdict.met is not None
    assert verdict.operations > 1000
    fingerprint = read_fingerprint(campaign.store, verdict.key)
    assert fingerprint is not None
    assert [(node.database_version, node.jvm.collector) for node in fingerprint.nodes] == [("4.0.1", "G1")]
    assert campaign.store.exists(report_key("real-mine"))
    assert not installation.toolkit.providers["local"].clusters()
