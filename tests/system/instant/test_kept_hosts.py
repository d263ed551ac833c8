"""Hosts that are kept for a campaign, through a real Airflow: over all cells and rounds, and not beyond."""

import time

import pytest
from tests.fakes.installation import Installation
from tests.support.airflow.stack import StackUnderTest

from plimsoll.services.campaigns import CampaignStore, read_fingerprint

pytestmark = pytest.mark.timeout(900)


def test_all_rounds_of_a_search_run_on_the_same_hosts(
    shared_airflow: StackUnderTest, installation: Installation
) -> None:
    airflow = shared_airflow
    airflow.client.set_pool("clusters", 4, "How many clusters may live at once")
    first = airflow.run_to_end("kept", {"campaign_id": "kept-mine"}, timeout_s=300)
    _wait_for_end(airflow)

    assert first.state == "success"
    assert [run.state for run in airflow.client.dag_runs("kept")] == ["success"] * 2
    assert installation.attempts("kept-mine") == {"v1-001k-r1": [1], "v1-002k-r1": [1]}
    campaign = CampaignStore(installation.toolkit.store, "kept-mine")
    fingerprints = [read_fingerprint(campaign.store, verdict.key) for verdict in campaign.verdicts()]
    assert [one and one.cluster for one in fingerprints] == ["hosts/1"] * 2
    assert installation.provider.provided("kept") == 1
    assert not [one for one in installation.provider.clusters() if one.id.campaign_id == "kept-mine"]


def _wait_for_end(airflow: StackUnderTest) -> None:
    """Until no run of the search is left to follow another."""
    deadline = time.monotonic() + 500
    while (runs := airflow.client.dag_runs("kept")) and not (len(runs) == 2 and all(run.is_final for run in runs)):
        assert time.monotonic() < deadline, runs
        time.sleep(0.5)
