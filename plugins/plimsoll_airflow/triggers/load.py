"""The trigger of steps that start a detached job, such as `load`: it watches the job until its end."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, TypeVar

from airflow.triggers.base import BaseTrigger, TaskSuccessEvent, TriggerEvent
from asgiref.sync import sync_to_async

from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.text.errors import PlimsollError
from plimsoll.ports.load_generator import LoadStatus
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.steps.steps import LoadPoller, Polling, step
from plimsoll_airflow.internals.supervisor import count_runs
from plimsoll_airflow.runs import log_messages
from plimsoll_airflow.runs.ownership import CELL_DAG, LIVE_STATES
from plimsoll_airflow.wiring.core import LOOKS_AT_ONCE, toolkit

LOG_EVERY = timedelta(seconds=30)
"""A line in the task's log at least so often."""
SOON_S = 1.0
"""The pause before another look at what could not be observed, s."""

THREADS = ThreadPoolExecutor(max_workers=LOOKS_AT_ONCE, thread_name_prefix="plimsoll-load")
"""The threads in which the core blocks on hosts and the store; the triggerer's loop must not. They are not the loop's
own few threads: a host that does not answer holds one for half a minute, and the hosts of a whole zone would hold up
all other cells.
"""

_T = TypeVar("_T")


class LoadTrigger(BaseTrigger):
    """The watcher of one load. All its state is in the store and on the hosts, so any triggerer can continue it.

    `since`: when the load began, as ISO 8601.

    The watcher ends the task itself when the load is complete. That saves a worker, and avoids a race with the worker
    that started the load. A failure goes back to a worker, with its reason.
    """

    def __init__(self, attempt: str, run_id: str, step: str, since: str) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.attempt, self.run_id, self.step, self.since = attempt, run_id, step, since

    def serialize(self) -> tuple[str, dict[str, Any]]:
        names = ("attempt", "run_id", "step", "since")
        return f"{__name__}.{type(self).__qualname__}", {name: getattr(self, name) for name in names}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Yield one event at the end of the load. The reason of a failure is recorded first."""
        try:
            status = await self._end()
            await _in_thread(lambda: self._polling.require(self.work, status))
        except PlimsollError as error:
            yield TriggerEvent(str(error))  # type: ignore[no-untyped-call]
        else:
            self.log.info("the load is complete")
            yield TaskSuccessEvent()

    async def on_kill(self) -> None:
        """Stop the load if its run has ended, too, because nobody else would.

        In a living run `collect` stops the load, and a cleared `load` attaches to it, so a late kill must not harm it.
        """
        await _in_thread(self._stop_if_orphaned)

    @cached_property
    def work(self) -> AttemptContext:
        return AttemptContext(toolkit(), AttemptKey.parse(self.attempt))

    @cached_property
    def _polling(self) -> Polling:
        polling = step(self.step).polling
        if polling is None:
            raise PlimsollError(f"step {self.step!r} starts nothing that could be followed", where=self.attempt)
        return polling

    @cached_property
    def _poller(self) -> LoadPoller:
        return LoadPoller(self.work, self._polling, datetime.fromisoformat(self.since))

    async def _end(self) -> LoadStatus:
        phase, logged_at_s = "", 0.0
        while True:
            status, pause_s = await _in_thread(self._look)
            now_s = time.monotonic()
            if isinstance(status, str):
                self.log.warning(status)
            elif status.state != "running":
                return status
            elif status.phase != phase or now_s - logged_at_s >= LOG_EVERY.total_seconds():
                self.log.info(log_messages.loading(status, self.work.cell.load_ops_s))
                phase, logged_at_s = status.phase, now_s
            await asyncio.sleep(pause_s)

    def _look(self) -> tuple[LoadStatus | str, float]:
        """Return the load's status, or why it can't be read, and seconds until the next look. Has all that blocks."""
        status = self._poller.look()
        if isinstance(status, str):
            return status, SOON_S
        return status, self._polling.pause_s(self.work.part)

    def _stop_if_orphaned(self) -> None:
        if not count_runs(CELL_DAG, [self.run_id], LIVE_STATES):
            self._polling.stop(self.work)


async def _in_thread(work: Callable[[], _T]) -> _T:
    """Run the work in a thread that logs as this trigger.

    By asgiref: before 3.2.2 a triggerer ends if threads that its loop does not know ask Airflow for a connection.
    """
    return await sync_to_async(work, thread_sensitive=False, executor=THREADS)()
