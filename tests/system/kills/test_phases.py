"""`kill -9` of every process of a real Airflow while cells are in every phase of their life: docs/reliability.md.

A campaign has a cell for each phase, and a gate holds each cell in the middle of its phase. One kill then strikes all
of them at once; whatever part died is started again, as Compose or systemd would; the gates are opened, and the
campaign runs to its end. `make test` kills at each phase one of the processes that a task consists of, and the parts of
Airflow that no task ends with in one campaign; `make test-long` all at each, and each part in a campaign of its own.
"""

from collections.abc import Sequence

import psutil
import pytest
from tests.fakes.gated import LOADING
from tests.support.airflow.kill_scene import AN_HOUR_AGO, Gate, Scene, await_end
from tests.system.kills.definitions import DEFINITIONS, IN_TASKS, PROCESSES, STRUCK

from plimsoll.domain.cell import grid

PHASES = [phase for phases in IN_TASKS for phase in phases]

pytestmark = pytest.mark.timeout(2400)


def test_kill_of_a_tasks_process_its_supervisor_or_its_worker(scene: Scene) -> None:
    held = scene.hold("tasks", DEFINITIONS["tasks"], gates_of("tasks", IN_TASKS))
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


@pytest.mark.parametrize("parts", STRUCK, ids="-".join)
def test_kill_of_parts_of_airflow(parts: Sequence[str], scene: Scene) -> None:
    name = "-".join(parts)
    held = scene.hold(name, DEFINITIONS[name], gates_of(name, (*IN_TASKS, (LOADING,))))
    for part in parts:
        scene.kill_part(part)
    if "scheduler" in parts:  # its workers and their tasks end with it
        await_end(held)

    ended = scene.end(name)

    assert ended.state == "success", scene.failures(name)
    scene.assert_each_cell_counts_once(name)
    assert_each_load_was_started_once(scene, name)


def gates_of(name: str, phases: Sequence[Sequence[str]]) -> Sequence[Gate]:
    """Where the cells of that campaign are held."""
    cells = enumerate(grid(DEFINITIONS[name]))
    return [(f"{name}~{cell.id}", phase) for number, cell in cells for phase in phases[number % len(phases)]]


def fate_at(gate: Gate) -> str:
    """What of the task that waits there is killed."""
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
    """Whatever was killed, tries that followed went on with the attempt and the load that they found."""
    starts = [cell for cell in scene.gates.starts() if cell.startswith(f"{name}~")]
    assert sorted(starts) == sorted(f"{name}~{cell.id}" for cell in grid(DEFINITIONS[name]))
