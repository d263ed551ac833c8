"""Campaigns through a team's Airflow: CeleryExecutor, two workers, PostgreSQL, Redis; everything is real but the clusters."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fakes.airflow_campaign import run_campaign
from tests.fakes.gated import TASK_PHASES, Gates, toolkit
from tests.fakes.installation import Installation, instant_definition
from tests.lacking import needs
from tests.processes import until
from tests.team_stack import REDIS, Team, running_team

from plimsoll.domain.cell import grid
from plimsoll.domain.definition import Definition
from plimsoll.services.campaigns import CampaignStore

DEMO = instant_definition("demo", variants=2, loads=2, parallel=4)
HELD = instant_definition("held", variants=1, loads=len(TASK_PHASES), parallel=len(TASK_PHASES))

pytestmark = [pytest.mark.timeout(1200), needs(REDIS is not None, "the broker is redis-server")]

# A dead worker is noticed by its silence, and what it had is given to another one. Shipped settings wait longer.
PROMPT = {
    "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT": "30",
    "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT_DETECTION_INTERVAL": "3",
    "AIRFLOW__CELERY_BROKER_TRANSPORT_OPTIONS__VISIBILITY_TIMEOUT": "40",
}


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    made = Installation(tmp_path_factory.mktemp("plimsoll"), toolkit)
    for definition in (DEMO, HELD):
        made.define(definition)
    return made


@pytest.fixture(scope="module")
def team(installation: Installation, tmp_path_factory: pytest.TempPathFactory, checkout: Path) -> Iterator[Team]:
    environment = {**installation.environment, **PROMPT, "PYTHONPATH": str(checkout)}
    with running_team(tmp_path_factory.mktemp("team"), env=environment, dag_ids=["demo", "held", "cell"]) as running:
        yield running


def test_a_campaign_is_the_work_of_both_workers_and_reaches_its_report(team: Team, installation: Installation) -> None:
    outcome = run_campaign(team, installation, DEMO, parallel=4, timeout_s=600)

    assert outcome.failures == ()
    assert outcome.run.state == "success"
    assert all(team.tasks_done().values())
    (campaign_id,) = installation.toolkit.store.folders("")
    assert_every_cell_was_measured_once(installation, DEMO, campaign_id)
    assert installation.toolkit.store.exists(f"{campaign_id}/report/report.html")


def test_a_worker_killed_in_every_phase_of_a_cell_loses_nothing(team: Team, installation: Installation) -> None:
    gates = Gates(installation.folder / "work" / "gates")
    held = dict(zip((cell.id for cell in grid(HELD)), TASK_PHASES, strict=True))
    for cell_id, phase in held.items():
        gates.close(cell_id, phase)
    team.client.set_pool("clusters", len(held), "How many clusters may live at once")
    team.client.unpause(HELD.dag_id)
    team.let_take_tasks("grace", allowed=False)
    run = team.client.trigger(HELD.dag_id, {"campaign_id": "struck"})
    until(lambda: {one.cell_id for one in gates.arrivals()} == held.keys(), "every cell at its gate", patience_s=300)
    struck = {one.pid for one in gates.arrivals()}
    assert struck <= {process.pid for process in team.processes_of("ada")}

    team.let_take_tasks("grace", allowed=True)
    team.kill("ada")
    for cell_id in held:
        gates.open(cell_id)
    ended = team.wait_for(run, timeout_s=600)

    assert ended.state == "success"
    assert_every_cell_was_measured_once(installation, HELD, "struck")
    starts = Counter(cluster for cluster in gates.starts() if cluster.startswith("struck~"))
    assert sorted(starts.values()) == [1] * len(held)


def assert_every_cell_was_measured_once(installation: Installation, definition: Definition, campaign_id: str) -> None:
    """One attempt at each, valid; no cluster is left."""
    campaign = CampaignStore(installation.toolkit.store, campaign_id)
    cells = [cell.id for cell in grid(definition)]
    assert {cell: [key.attempt for key in campaign.attempts(cell)] for cell in cells} == dict.fromkeys(cells, [1])
    assert all(campaign.valid_verdict(cell) for cell in cells)
    assert installation.provider.clusters() == []
