"""The trigger of a `run_cell` that waits for a free slot, where a run may have only some cells at a time."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

from airflow.triggers.base import BaseTrigger, TriggerEvent

from plimsoll_airflow.internals.supervisor import task_states
from plimsoll_airflow.ownership import RUN_CELL_TASK

_ENDED = {"success", "failed", "skipped", "upstream_failed", "removed"}


def has_slot(states: Mapping[str, str | None], map_index: int, parallel: int) -> bool:
    """Tell whether fewer than `parallel` of the earlier instances have not ended yet.

    `states` are those that Airflow gives tasks: `run_cell_0` and so on. Only earlier instances count. So the first one
    that has not ended may always start, and at most `parallel` instances run, in whatever order they look.
    """
    before = [states.get(f"{RUN_CELL_TASK}_{number}") for number in range(map_index)]
    return sum(state not in _ENDED for state in before) < parallel


class SlotTrigger(BaseTrigger):
    """The wait for a free slot for that mapped instance."""

    def __init__(self, dag_id: str, run_id: str, map_index: int, parallel: int, poll_s: float) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.dag_id, self.run_id = dag_id, run_id
        self.map_index, self.parallel, self.poll_s = map_index, parallel, poll_s

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Return the data from which a triggerer makes this trigger again."""
        names = ("dag_id", "run_id", "map_index", "parallel", "poll_s")
        return f"{__name__}.{type(self).__qualname__}", {name: getattr(self, name) for name in names}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Yield one event, when a slot is free."""
        while not await asyncio.to_thread(self.is_free):
            await asyncio.sleep(self.poll_s)
        yield TriggerEvent("slot")  # type: ignore[no-untyped-call]

    def is_free(self) -> bool:
        """Tell whether a slot is free, by the states of all instances. Can be called in a task's process too."""
        return has_slot(task_states(self.dag_id, self.run_id, RUN_CELL_TASK), self.map_index, self.parallel)
