"""`kill -9` of every process of a real Airflow while cells are in every phase of their life: docs/reliability.md.

A campaign has a cell for each phase, and a gate holds each cell in the middle of its phase. One kill then strikes all
of them at once; whatever part died is started again, as Compose or systemd would; the gates are opened, and the
campaign runs to its end.
"""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import psutil
import pytest
from tests.fakes.gated import LOADING, Gates, toolkit
from tests.fakes.installation import Installation, instant_definition
from tests.support.airflow.restarts import kept_running, main_process
from tests.support.airflow.stack import StackUnderTest

from plimsoll.domain.cell import grid
from plimsoll.services.campaigns import CampaignStore, read_manifest
from plimsoll_airflow.local import database
from plimsoll_airflow.local.campaign import CampaignRun
from plimsoll_airflow.local.client import DagRun
from plimsoll_airflow.local.errors import ApiError
from plimsoll_airflow.local.processes import is_alive

PROCESSES = ("task", "supervisor", "worker")
PARTS = ("triggerer", "api-server", "postgres", "scheduler")
# The phases that a variant's cells are held in, cell by cell; judging does not hold up destruction.
IN_TASKS = (("provision",), ("deploy",), ("start",), ("collect",), ("judge", "destroy"))
ALL = (*IN_TASKS, (LOADING,))
# Of `tasks`, each variant meets another fate: v1 the task's process, v2 its supervisor, v3 the whole worker.
DEFINITIONS = {
    "tasks": instant_definition("tasks", variants=len(PROCESSES), loads=len(IN_TASKS), parallel=15),
    **{part: instant_definition(part, variants=1, loads=len(ALL), parallel=6) for part in PARTS},
}
Gate = tuple[str, str]
"""Cell and phase."""
# Long enough for a machine that is busy with ten times as much.
HELD_S, WHOLE_S, GONE_S, ENDED_S = 600.0, 300.0, 60.0, 900.0

# How often Airflow looks for the dead. How long they must be silent stays as shipped: a busy machine is not dead.
PROMPT = {
    "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT_DETECTION_INTERVAL": "3",
    "AIRFLOW__SCHEDULER__ORPHANED_TASKS_CHECK_INTERVAL": "3",
    "AIRFLOW__CORE__PARALLELISM": "24",
}
AN_HOUR_AGO = "now() - interval '1 hour'"
# Those whose supervisor was killed; the tasks of v1 are reported by theirs.
OF_THE_DEAD = "dag_id = 'cell' and state = 'running' and run_id ~ '^tasks__v[23]'"
JOBS = {"scheduler": "SchedulerJob", "triggerer": "TriggererJob"}
"""Parts of Airflow that are known by a heartbeat, with its kind."""

pytestmark = pytest.mark.timeout(2400)


@dataclass
class Scene:
    """A running Airflow, and campaigns whose cells are held at gates."""

    airflow: StackUnderTest
    installation: Installation
    restarted: Sequence[str]
    """Parts of Airflow that have died and were started again, in that order."""
    begun: dict[str, DagRun] = field(default_factory=dict)

    @property
    def gates(self) -> Gates:
        """Where they are held."""
        return Gates(self.installation.folder / "work" / "gates")

    def begin(self, name: str) -> DagRun:
        """Have the campaign's cells run up to their gates; those that have begun go on."""
        if name not in self.begun:
            for cell, phase in gates_of(name):
                self.gates.close(cell, phase)
            client, dag_id = self.airflow.client, DEFINITIONS[name].dag_id
            client.unpause(dag_id)
            self.begun[name] = client.trigger(dag_id, {"campaign_id": name}, run_id=name)
        return self.begun[name]

    def hold(self, name: str) -> Mapping[Gate, psutil.Process]:
        """Begin, and wait until every cell is at its gates; the tasks' processes that wait there."""
        self.begin(name)
        wanted = set(gates_of(name))
        until(lambda: wanted <= set(self.waiting()), HELD_S, lambda: f"not there: {wanted - set(self.waiting())}")
        tasks = [gate for gate in wanted if gate[1] != LOADING]
        return {gate: psutil.Process(self.waiting()[gate]) for gate in tasks}

    def waiting(self) -> Mapping[Gate, int]:
        """The process that came last to each gate."""
        return {(one.cell, one.phase): one.pid for one in self.gates.arrivals()}

    def end(self, name: str) -> DagRun:
        """Open the gates and wait for the campaign's end."""
        for cell, phase in gates_of(name):
            self.gates.open(cell, phase)
        return self.airflow.wait_for(self.begin(name), timeout_s=ENDED_S, poll_s=1)

    def tell(self, statement: str) -> str:
        """Run a statement on Airflow's database: nobody need wait until the dead have been silent for long."""
        return database.execute(self.airflow.stack.home, statement)

    def await_restart(self, part: str, since: datetime) -> None:
        """Wait until that part was started again, and Airflow says that it lives by a sign younger than `since`."""
        until(lambda: part in self.restarted, WHOLE_S, lambda: f"{part} lives on")
        until(lambda: self.lives(part, since), WHOLE_S, lambda: f"{part} gives no sign of life")

    def lives(self, part: str, since: datetime) -> bool:
        """Whether it does; that the api-server says anything is its own sign, and the database's."""
        try:
            health = self.airflow.client.health()
        except ApiError:
            return False
        return health.status["metadatabase"] == "healthy" and part not in health.missing(since)

    def failures(self, name: str) -> str:
        """What the campaign's tasks say of it."""
        store = self.installation.toolkit.store
        return "\n".join(CampaignRun(self.airflow.client, store, DEFINITIONS[name], self.begin(name)).failures())


@pytest.fixture(scope="module")
def scene(airflow_stack: Callable[..., StackUnderTest], installation: Installation, checkout: Path) -> Iterator[Scene]:
    for definition in DEFINITIONS.values():
        installation.define(definition)
    path = os.pathsep.join([str(checkout), os.environ.get("PYTHONPATH", "")])
    environment = {**installation.environment, **PROMPT, "PYTHONPATH": path}
    dag_ids = [definition.dag_id for definition in DEFINITIONS.values()]
    airflow = airflow_stack(env=environment, dag_ids=[*dag_ids, "cell"])
    airflow.client.set_pool("clusters", 24, "How many clusters may live at once")
    with kept_running(airflow) as restarted:
        yield Scene(airflow, installation, restarted)


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    return Installation(tmp_path_factory.mktemp("plimsoll"), toolkit)


def test_kill_of_a_tasks_process_its_supervisor_or_its_worker(scene: Scene) -> None:
    held = scene.hold("tasks")
    for (cell, _), task in held.items():
        strike(PROCESSES[int(cell.partition("~v")[2][0]) - 1], task)
    # No second try may work beside a first one: whoever loses its supervisor ends with it.
    await_end(held)
    scene.tell(f"update task_instance set last_heartbeat_at = {AN_HOUR_AGO} where {OF_THE_DEAD}")

    ended = scene.end("tasks")

    assert ended.state == "success", scene.failures("tasks")
    assert_each_cell_counts_once(scene, "tasks")


@pytest.mark.parametrize("part", PARTS)
def test_kill_of_a_part_of_airflow(part: str, scene: Scene) -> None:
    held = scene.hold(part)
    since, job = datetime.now(UTC), scene.tell("select max(id) from job")
    main_process(scene.airflow, part).kill()
    if part in JOBS:
        dead = f"id <= {job} and job_type = '{JOBS[part]}'"
        scene.tell(f"update job set latest_heartbeat = {AN_HOUR_AGO} where {dead}")
    scene.await_restart(part, since)
    if part == "scheduler":  # its workers and their tasks end with it
        await_end(held)

    ended = scene.end(part)

    assert ended.state == "success", scene.failures(part)
    assert_each_cell_counts_once(scene, part)


def gates_of(name: str) -> Sequence[Gate]:
    """Where the cells of that campaign are held."""
    phases = IN_TASKS if name == "tasks" else ALL
    cells = enumerate(grid(DEFINITIONS[name]))
    return [(f"{name}~{cell.id}", phase) for number, cell in cells for phase in phases[number % len(phases)]]


def strike(what: str, task: psutil.Process) -> None:
    """Kill the process of a task, or the one that supervises it, or both: all that a worker consists of."""
    supervisor = task.parent()
    assert supervisor is not None
    if what in ("supervisor", "worker"):
        supervisor.kill()
    if what in ("task", "worker"):
        task.kill()


def assert_each_cell_counts_once(scene: Scene, name: str) -> None:
    """Every cell has one valid attempt, one start of its load and no cluster; the report is there."""
    installation, definition = scene.installation, DEFINITIONS[name]
    campaign = CampaignStore(installation.toolkit.store, name)
    verdicts = Counter(verdict.key.cell_id for verdict in campaign.verdicts() if verdict.valid)
    assert verdicts == Counter(cell.id for cell in grid(definition))
    keys = [key for cell in grid(definition) for key in campaign.attempts(cell.id)]
    assert all(read_manifest(campaign.store, key) for key in keys)
    starts = [cell for cell in scene.gates.starts() if cell.startswith(f"{name}~")]
    assert sorted(starts) == sorted({cell for cell, _ in gates_of(name)})
    assert [cluster.key for cluster in installation.provider.clusters() if cluster.key.campaign_id == name] == []
    assert installation.toolkit.store.exists(f"{name}/report/report.html")


def await_end(held: Mapping[Gate, psutil.Process]) -> None:
    """Wait until none of the held processes is there any more."""
    until(lambda: not any(map(is_alive, held.values())), GONE_S, lambda: f"live on: {held}")


def until(condition: Callable[[], bool], seconds: float, otherwise: Callable[[], str]) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, otherwise()
        time.sleep(0.3)
