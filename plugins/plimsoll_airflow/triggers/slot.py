"""The trigger of a `run_cell` that waits for a free slot, where a run may have only some cells at a time."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

from airflow.triggers.base import BaseTrigger, TriggerEvent
from asgiref.sync import sync_to_async

from plimsoll_airflow.internals.inventory import HOLDING
from plimsoll_airflow.internals.supervisor import task_states
from plimsoll_airflow.runs.ownership import RUN_CELL_TASK

START, MAKE_WAY = "start", "make way"
"""What a cell that has waited is to do."""

_ENDED = {"success", "failed", "skipped", "upstream_failed", "removed"}


def next_step(states: Mapping[str, str | None], map_index: int, parallel: int) -> str | None:
    """Tell whether a cell is to start, or to make way; None while it is to wait.

    `states` are those that Airflow gives tasks: `run_cell_0` and so on. Only earlier instances count. So the first one
    that has not ended may always start, and at most `parallel` instances run, in whatever order they look. A cell makes
    way if an earlier one may need its place in the pool or in the DAG run, for which it would itself wait for ever.
    """
    before = [states.get(f"{RUN_CELL_TASK}_{number}") for number in range(map_index)]
    living = [state for state in before if state not in _ENDED]
    if len(living) < parallel:
        return START
    return MAKE_WAY if any(state not in HOLDING for state in living) else None


class SlotTrigger(BaseTrigger):
    """The wait for a free slot for that mapped instance."""

    def __init__(self, dag_id: str, run_id: str, map_index: int, parallel: int, poll_s: float) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.dag_id, self.run_id = dag_id, run_id
        self.map_index, self.parallel, self.poll_s = map_index, parallel, poll_s

    def serialize(self) -> tuple[str, dict[str, Any]]:
        names = ("dag_id", "run_id", "map_index", "parallel", "poll_s")
        return f"{__name__}.{type(self).__qualname__}", {name: getattr(self, name) for name in names}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Yield one event, when there is something to do.

        A cell makes way at the second look that says so: most that wait to be scheduled are a moment later.
        """
        before = None
        # By asgiref: before 3.2.2 a triggerer ends if threads that its loop does not know ask Airflow something.
        while (step := await sync_to_async(self.step)()) is None or before != step != START:
            before = step
            await asyncio.sleep(self.poll_s)
        yield TriggerEvent(step)  # type: ignore[no-untyped-call]

    def step(self) -> str | None:
        """Return what is to be done now, by the states of all instances. Can be called in a task's process too."""
        return next_step(task_states(self.dag_id, self.run_id, RUN_CELL_TASK), self.map_index, self.parallel)
