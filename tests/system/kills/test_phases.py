"""`kill -9` of every process of a real Airflow while cells are in every phase: docs/reference/reliability.md.

A campaign has a cell for each phase, and a gate holds each cell in the middle of its phase. One kill then strikes all
of them at once; whatever part died is started again, as Compose or systemd would; the gates are opened, and the
campaign runs to its end.
"""

from collections.abc import Sequence

import psutil
import pytest
from tests.support.airflow.kill_scene import AN_HOUR_AGO, PARTS, Gate, Scene, await_end
from tests.support.suite.requirements import long
from tests.system.kills.definitions import DEFINITIONS, IN_TASKS, LIFE, PROCESSES

from plimsoll.domain.campaign.grid import grid
from plimsoll.domain.campaign.resolve import resolve

PHASES = [phase for phases in IN_TASKS for phase in phases]

pytestmark = [pytest.mark.timeout(2400), long("all of Airflow is killed while tasks run in integration/local")]


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


@pytest.mark.parametrize("part", PARTS)
def test_kill_of_parts_of_airflow(part: str, scene: Scene) -> None:
    gates = [
        (f"{part}~{cell.id}", phase)
        for cell, phases in zip(reversed(grid(resolve(DEFINITIONS[part]))), LIFE, strict=True)
        for phase in phases
    ]
    scene.begin(part, DEFINITIONS[part], gates)
    held = scene.held(gates)
    scene.kill_part(part)
    if part == "scheduler":  # its workers and their tasks end with it
        await_end(held)

    ended = scene.end(part)

    assert ended.state == "success", scene.failures(part)
    scene.assert_each_cell_counts_once(part)
    assert_each_load_was_started_once(scene, part)


def gates_of(name: str) -> Sequence[Gate]:
    """Return where the cells of that campaign are held in tasks."""
    cells = enumerate(grid(resolve(DEFINITIONS[name])))
    return [(f"{name}~{cell.id}", phase) for number, cell in cells for phase in IN_TASKS[number % len(IN_TASKS)]]


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
