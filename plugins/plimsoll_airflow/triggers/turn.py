"""The trigger of a `run_cell` that waits for its turn, where a run was asked for fewer cells at a time."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

from airflow.sdk.execution_time.task_runner import RuntimeTaskInstance
from airflow.triggers.base import BaseTrigger, TriggerEvent

TASK = "run_cell"
_ENDED = {"success", "failed", "skipped", "upstream_failed", "removed"}


def is_its_turn(states: Mapping[str, str | None], map_index: int, parallel: int) -> bool:
    """Whether fewer than `parallel` of the instances before this one are still to end.

    `states` as a task is told them: `run_cell_0` and so on. Only earlier ones count: so the first that has not ended
    may always start, and of those that have started no more than `parallel` are under way, whoever looks first.
    """
    before = [states.get(f"{TASK}_{number}") for number in range(map_index)]
    return sum(state not in _ENDED for state in before) < parallel


class TurnTrigger(BaseTrigger):
    """Fires once it is the turn of that mapped instance."""

    def __init__(self, dag_id: str, run_id: str, map_index: int, parallel: int, poll_s: float) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.dag_id, self.run_id = dag_id, run_id
        self.map_index, self.parallel, self.poll_s = map_index, parallel, poll_s

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """How a triggerer makes it again."""
        names = ("dag_id", "run_id", "map_index", "parallel", "poll_s")
        return f"{__name__}.{type(self).__qualname__}", {name: getattr(self, name) for name in names}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """One event, when the turn has come."""
        while not await asyncio.to_thread(self.has_come):
            await asyncio.sleep(self.poll_s)
        yield TriggerEvent("turn")  # type: ignore[no-untyped-call]

    def has_come(self) -> bool:
        """Ask Airflow for the states of all instances; from a task's process too."""
        found = RuntimeTaskInstance.get_task_states(self.dag_id, task_ids=[TASK], run_ids=[self.run_id])
        return is_its_turn(found.get(self.run_id, {}), self.map_index, self.parallel)
