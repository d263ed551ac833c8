"""`kill -9` of every process of a real Airflow while cells are in every phase of their life: the first half of the
fault table in docs/reliability.md.

A campaign has a cell for each phase, which a gate holds in the middle of that phase. One kill then strikes all of them
at once; whoever dies is started again, as Compose or systemd would; the gates are opened; the campaign runs to its end.
"""

import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import psutil
import pytest
from tests.airflow_stack import StackUnderTest
from tests.fakes.gated import LOADING, PHASES, TASK_PHASES, Gates, toolkit
from tests.fakes.installation import Installation, instant_definition
from tests.keeping import kept_running, main_process

from plimsoll.domain.cell import grid
from plimsoll.domain.definition import Definition
from plimsoll.services.campaigns import CampaignStore, read_verdict
from plimsoll_airflow.local.client import DagRun

TASKS = instant_definition("tasks", variants=3, loads=len(TASK_PHASES), parallel=18)
PARTS = instant_definition("parts", variants=1, loads=len(PHASES), parallel=7)
HELD_S = 240.0

pytestmark = pytest.mark.timeout(900)

# What is lost is noticed by its silence. Shipped settings wait five minutes for a sign of life.
PROMPT = {
    "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT": "20",
    "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT_DETECTION_INTERVAL": "3",
    "AIRFLOW__SCHEDULER__SCHEDULER_HEALTH_CHECK_THRESHOLD": "20",
    "AIRFLOW__SCHEDULER__ORPHANED_TASKS_CHECK_INTERVAL": "5",
    "AIRFLOW__TRIGGERER__TRIGGERER_HEALTH_CHECK_THRESHOLD": "15",
    "AIRFLOW__CORE__PARALLELISM": "24",
}


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    made = Installation(tmp_path_factory.mktemp("plimsoll"), toolkit)
    for definition in (TASKS, PARTS):
        made.define(definition)
    return made


@pytest.fixture(scope="module")
def gates(installation: Installation) -> Gates:
    return Gates(installation.folder / "work" / "gates")


@pytest.fixture(scope="module")
def airflow(airflow_stack: Callable[..., StackUnderTest], installation: Installation, checkout: Path) -> StackUnderTest:
    environment = {**installation.environment, **PROMPT, "PYTHONPATH": str(checkout)}
    started = airflow_stack(env=environment, dag_ids=["tasks", "parts", "cell", "reaper"])
    started.client.set_pool("clusters", 24, "How many clusters may live at once")
    return started


def hold(gates: Gates, definition: Definition, phases: Collection[str]) -> Mapping[str, str]:
    """Close the gates of all cells, each variant's cells in one phase each; the phase by cell."""
    held = {cell.id: list(phases)[number % len(phases)] for number, cell in enumerate(grid(definition))}
    for cell_id, phase in held.items():
        gates.close(cell_id, phase)
    return held


def await_all(gates: Gates, held: Mapping[str, str]) -> dict[str, int]:
    """Wait until every cell is at its gate; the process that waits there, by cell."""
    deadline = time.monotonic() + HELD_S
    while len(arrived := {one.cell_id: one.pid for one in gates.arrivals()}) < len(held):
        assert time.monotonic() < deadline, f"did not come to their gates: {set(held) - set(arrived)}"
        time.sleep(0.2)
    return arrived


@pytest.mark.parametrize("component", ["api-server", "triggerer", "scheduler", "postgres"])
def test_part(component: str, airflow: StackUnderTest, installation: Installation, gates: Gates) -> None:
    t0 = time.monotonic()
    held = hold(gates, PARTS, PHASES)
    (gates.folder / "arrivals.txt").unlink(missing_ok=True)
    (gates.folder / "starts.txt").unlink(missing_ok=True)
    airflow.client.unpause("parts")
    run = airflow.client.trigger("parts", {"campaign_id": component})
    arrived = await_all(gates, held)
    print("held after", time.monotonic() - t0)
    with kept_running(airflow) as restarted:
        main_process(airflow, component).kill()
        time.sleep(35)
        print(restarted, [ (a.cell_id,a.phase,a.pid, psutil.pid_exists(a.pid)) for a in gates.arrivals() if a.phase != LOADING])
        for cell in held:
            gates.open(cell)
        t0 = time.monotonic()
        while True:
            try:
                ended = airflow.wait_for(run, timeout_s=300)
                break
            except Exception as e:
                print(repr(e))
                time.sleep(1)
        print("ended after", time.monotonic() - t0, restarted)
    report(airflow, installation, gates, PARTS, held, component)
    assert ended.state == "success"


def report(airflow, installation, gates, definition, held, campaign_id):
    campaign = CampaignStore(installation.toolkit.store, campaign_id)
    for cell, phase in held.items():
        attempts = campaign.attempts(cell)
        verdicts = [read_verdict(campaign.store, key) for key in attempts]
        run = airflow.client.dag_run("cell", f"{campaign_id}__{cell}")
        tries = {t.task_id: (t.state, t.try_number) for t in airflow.client.task_instances("cell", run.run_id)}
        print(cell, phase, run.state, [(v.valid, v.reasons) if v else None for v in verdicts], tries)
    print(Counter(gates.starts()))
    print(installation.provider.clusters())
