"""`kill -9` of every process of a real Airflow while cells are in every phase of their life: docs/reliability.md.

A campaign has a cell for each phase, and a gate holds each cell in the middle of its phase. One kill then strikes all
of them at once; whatever part died is started again, as Compose or systemd would; the gates are opened, and the
campaign runs to its end.
"""

from collections.abc import Sequence

import psutil
import pytest
from tests.fakes.gated import LOADING
from tests.support.airflow.kill_scene import AN_HOUR_AGO, PARTS, Gate, Scene, await_end
from tests.system.kills.definitions import DEFINITIONS, IN_TASKS, PROCESSES

from plimsoll.domain.cell import grid

# Those whose supervisor was killed; the tasks of v1 are reported by theirs.
OF_THE_DEAD = "dag_id = 'cell' and state = 'running' and run_id ~ '^tasks__v[23]'"

pytestmark = pytest.mark.timeout(2400)


def test_kill_of_a_tasks_process_its_supervisor_or_its_worker(scene: Scene) -> None:
    held = scene.hold("tasks", DEFINITIONS["tasks"], gates_of("tasks", IN_TASKS))
    for (cell, _), task in held.items():
        strike(PROCESSES[int(cell.partition("~v")[2][0]) - 1], task)
    # No second try may work beside a first one: whoever loses its supervisor ends with it.
    await_end(held)
    scene.tell(f"update task_instance set last_heartbeat_at = {AN_HOUR_AGO} where {OF_THE_DEAD}")

    ended = scene.end("tasks")

    assert ended.state == "success", scene.failures("tasks")
    scene.assert_each_cell_counts_once("tasks")
    assert_each_load_was_started_once(scene, "tasks")


@pytest.mark.parametrize("part", PARTS)
def test_kill_of_a_part_of_airflow(part: str, scene: Scene) -> None:
    held = scene.hold(part, DEFINITIONS[part], gates_of(part, (*IN_TASKS, (LOADING,))))
    scene.kill_part(part)
    if part == "scheduler":  # its workers and their tasks end with it
        await_end(held)

    ended = scene.end(part)

    assert ended.state == "success", scene.failures(part)
    scene.assert_each_cell_counts_once(part)
    assert_each_load_was_started_once(scene, part)


def gates_of(name: str, phases: Sequence[Sequence[str]]) -> Sequence[Gate]:
    """Where the cells of that campaign are held."""
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


def assert_each_load_was_started_once(scene: Scene, name: str) -> None:
    """Whatever was killed, tries that followed went on with the attempt and the load that they found."""
    starts = [cell for cell in scene.gates.starts() if cell.startswith(f"{name}~")]
    assert sorted(starts) == sorted(f"{name}~{cell.id}" for cell in grid(DEFINITIONS[name]))
