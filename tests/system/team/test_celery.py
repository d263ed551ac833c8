"""Campaigns through Celery's workers, and the death of one of them.

One of the campaigns is on a real node.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from tests.fakes.gated import Gates
from tests.fakes.installation import Installation
from tests.support.airflow.run_to_report import run_to_report
from tests.support.airflow.team_stack import Team
from tests.support.processes import until
from tests.support.suite.requirements import long

from plimsoll.domain.campaign.grid import grid
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.hosts.owner import installation_of
from plimsoll.services.campaign.state.reading import valid_verdict
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.store.layout import report_key
from plimsoll_airflow.runs.ownership import INSTALLATION_VARIABLE

pytestmark = long("campaigns run without Celery, and all of Airflow is killed in integration/local")


def test_a_campaign_is_the_work_of_both_workers_and_reaches_its_report(
    team: Team, installation: Installation, definitions: Mapping[str, Definition]
) -> None:
    """On real Cassandra nodes, so that a cell is measured as anywhere."""
    definition, campaign = definitions["real"], CampaignStore(installation.toolkit.store, "real-mine")

    run_to_report(team, campaign, definition, timeout_s=900)

    assert all(team.tasks_done().values())
    verdict = valid_verdict(campaign, "g1-00200-r1")
    assert verdict is not None
    assert verdict.met is not None
    assert verdict.operations > 1000
    fingerprint = layout.FINGERPRINT.read(campaign.store, verdict.key)
    assert fingerprint is not None
    assert [(node.database_version, node.processes[0].jvm.collector) for node in fingerprint.nodes] == [("4.0.1", "G1")]
    assert not installation.toolkit.providers["local"].clusters()
    assert_reported(team, campaign, definition)


def test_a_worker_killed_in_every_phase_of_a_cell_loses_nothing(
    team: Team, installation: Installation, definitions: Mapping[str, Definition], gates: Gates, phases: Sequence[str]
) -> None:
    definition = definitions["held"]
    held = dict(zip((f"struck~{cell.id}" for cell in grid(resolve(definition))), phases, strict=True))
    for cell, phase in held.items():
        gates.close(cell, phase)
    team.client.unpause(definition.dag_id)
    team.let_take_tasks("grace", allowed=False)
    run = team.client.trigger(definition.dag_id, {"campaign_id": "struck"})
    until(lambda: {one.cell for one in gates.arrivals()} == held.keys(), "every cell at its gate", patience_s=300)
    struck = {one.pid for one in gates.arrivals()}
    assert struck <= {process.pid for process in team.processes_of("ada")}

    team.let_take_tasks("grace", allowed=True)
    team.kill("ada")
    for cell, phase in held.items():
        gates.open(cell, phase)
    ended = team.wait_for(run, timeout_s=600)

    assert ended.state == "success"
    assert_every_cell_was_measured_once(installation, definition, "struck")
    starts = Counter(gates.starts())
    assert {cell: starts[cell] for cell in held} == dict.fromkeys(held, 1)
    assert_reported(team, CampaignStore(installation.toolkit.store, "struck"), definition)
    assert_named_after_this_airflow(team, CampaignStore(installation.toolkit.store, "struck"))


def assert_named_after_this_airflow(team: Team, campaign: CampaignStore) -> None:
    """Check that owners of attempts have the id that the scheduler has made and that workers ask for."""
    attempts = [layout.ATTEMPT.read(campaign.store, verdict.key) for verdict in campaign.verdicts()]
    installations = {installation_of(attempt.owner) for attempt in attempts if attempt}
    assert installations == {team.client.call("GET", f"/variables/{INSTALLATION_VARIABLE}")["value"]}


def assert_reported(team: Team, campaign: CampaignStore, definition: Definition) -> None:
    """Check that the report is in the store, and that Airflow has told its asset's event."""
    assert campaign.store.exists(report_key(campaign.campaign_id))
    events = team.client.call("GET", "/assets/events", params={"source_dag_id": definition.dag_id})["asset_events"]
    reports = [(event["name"], event["extra"]["campaign_id"]) for event in events]
    assert reports == [(f"report-{definition.name}", campaign.campaign_id)]


def assert_every_cell_was_measured_once(installation: Installation, definition: Definition, campaign_id: str) -> None:
    """Check that each has one valid attempt, and that no cluster of the campaign is left."""
    campaign = CampaignStore(installation.toolkit.store, campaign_id)
    cells = [cell.id for cell in grid(resolve(definition))]
    assert {cell: [key.attempt for key in campaign.attempts(cell)] for cell in cells} == {cell: [1] for cell in cells}
    assert all(valid_verdict(campaign, cell) for cell in cells)
    assert installation.clusters_of(campaign_id) == []
