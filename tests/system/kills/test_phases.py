"""`kill -9` of every process of a real Airflow while cells are in every phase: docs/reference/reliability.md.

A campaign has a cell for each phase, and a gate holds each cell in the middle of its phase. One kill then strikes all
of them at once; whatever part died is started again, as Compose or systemd would; the gates are opened, and the
campaign runs to its end. `make test` kills at each phase one of the processes that a task consists of; and in one
campaign first the triggerer and the api-server, then, when each cell is a phase further, PostgreSQL and the scheduler.
`make test-long` kills all processes at each phase, and each part in a campaign of its own.
"""

from collections.abc import Sequence
from itertools import chain

import psutil
import pytest
from tests.support.airflow.kill_scene import AN_HOUR_AGO, Gate, Scene, await_end
from tests.system.kills.definitions import BLOWS, DEFINITIONS, IN_TASKS, LIFE, PROCESSES, name_of

from plimsoll.domain.cell import grid
from plimsoll.domain.resolve import resolve

PHASES = [phase for phases in IN_TASKS for phase in phases]

pytestmark = pytest.mark.timeout(2400)


def test_kill_of_a_tasks_process_its_supervisor_or_its_worker(scene: Scene) -> None:
    gates = gates_of("tasks")
    scene.begin("tasks", DEFINITIONS["tasks"], gates)
    held = scene.held(gates)
    fates = {gate: fate_at(gate) for gate in held}
    assert set(fates.values()) == set(PROCESSES)
    for gate, task in held.items():
        strike(fates[gate], task)
    # No second try may work beside a first one: whoever loses its supervisor ends with it.
    await_end(held)
    # Nobody else reports these; a supervisor that lives reports its task.
    unreported = ", ".join(str(task.pid) for gate, task in held.items() if fates[gate] != "task")
    of_the_dead = f"dag_id = 'cell' and state = 'running' and pid in ({unreported})"
    scene.tell(f"update task_instance set last_heartbeat_at = {AN_HOUR_AGO} where {of_the_dead}")

    ended = scene.end("tasks")

    assert ended.state == "success", scene.failures("tasks")
    scene.assert_each_cell_counts_once("tasks")
    assert_each_load_was_started_once(scene, "tasks")


@pytest.mark.parametrize("blows", BLOWS, ids=name_of)
def test_kill_of_parts_of_airflow(blows: Sequence[Sequence[str]], scene: Scene) -> None:
    name = name_of(blows)
    gates = [gates_at(name, blow) for blow in range(len(blows))]
    scene.begin(name, DEFINITIONS[name], list(dict.fromkeys(chain.from_iterable(gates))))
    for parts, here, then in zip(blows, gates, [*gates[1:], []], strict=True):
        held = scene.held(here)
        for part in parts:
            scene.kill_part(part)
        if "scheduler" in parts:  # its workers and their tasks end with it
            await_end(held)
        scene.open([gate for gate in here if gate not in then])

    ended = scene.end(name)

    assert ended.state == "success", scene.failures(name)
    scene.assert_each_cell_counts_once(name)
    assert_each_load_was_started_once(scene, name)


def gates_of(name: str) -> Sequence[Gate]:
    """Return where the cells of that campaign are held in tasks."""
    cells = enumerate(grid(resolve(DEFINITIONS[name])))
    return [(f"{name}~{cell.id}", phase) for number, cell in cells for phase in IN_TASKS[number % len(IN_TASKS)]]


def gates_at(name: str, blow: int) -> Sequence[Gate]:
    """Return where the cells of that campaign are held at that blow, counted from 0.

    The first cell is in the last phase at the first blow, and each cell is one phase further at each later blow. Cells
    that do not come so far wait in the first phase. So every phase has a cell at each blow.
    """
    ahead = len(LIFE) - 1 + blow
    found = ((cell, LIFE[max(0, ahead - n) :][:1]) for n, cell in enumerate(grid(resolve(DEFINITIONS[name]))))
    return [(f"{name}~{cell.id}", phase) for cell, there in found for phases in there for phase in phases]


def fate_at(gate: Gate) -> str:
    """Return what of the task that waits there is killed."""
    cell, phase = gate
    variant = int(cell.partition("~v")[2][0])
    return PROCESSES[(PHASES.index(phase) + variant) % len(PROCESSES)]


def strike(what: str, task: psutil.Process) -> None:
    """Kill the process of a task, or the one that supervises it, or both: all that a worker consists of."""
    supervisor = task.parent()
    assert supervisor is not None
    if what in ("supervisor", "worker"):
        supervisor.kill()
    if what in ("task", "worker"):
        task.kill()


def assert_each_load_was_started_once(scene: Scene, name: str) -> None:
    """Check that whatever was killed, later tries went on with the attempt and the load that they found."""
    starts = [cell for cell in scene.gates.starts() if cell.startswith(f"{name}~")]
    assert sorted(starts) == sorted(f"{name}~{cell.id}" for cell in grid(resolve(DEFINITIONS[name])))
