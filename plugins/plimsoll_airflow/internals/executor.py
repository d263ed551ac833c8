"""An executor for a machine that is measured while it works: quick when tasks run, nearly idle otherwise.

Airflow's scheduler sleeps a fixed time between its loops: a short sleep costs a tenth of a core all day, a long one
delays every step. With this executor it waits for a notification from the database that work has arrived (`wakeup`).

Read in Airflow 3.3.2.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import select
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Self, cast

import psycopg2
from airflow.configuration import conf
from airflow.executors.local_executor import LocalExecutor
from airflow.utils.state import TaskInstanceState
from sqlalchemy import NullPool, create_engine
from sqlalchemy.exc import DBAPIError

from plimsoll_airflow.internals.processes import TASK_RUNTIME
from plimsoll_airflow.internals.wakeup import CHANNEL
from plimsoll_airflow.local.packet_queue import PacketQueue
from plimsoll_airflow.parent_death import end_with_parent

if TYPE_CHECKING:
    from airflow.models.taskinstance import TaskInstance

IDLE_WAIT_S = 3.0
"""How long the scheduler may sleep when nothing happens; it bounds how late a schedule or a timeout is seen."""

FOLLOW_UP_S = 1.0
"""How long at most after it has sent tasks. A loop looks at 20 runs and no more, so more may be due in others."""

FULL_WAIT_S = 0.25
"""How long at most while tasks run in all slots. A slot is free when a process has ended, of which nothing notifies."""

RELISTEN_S = 1.0


class PromptLocalExecutor(LocalExecutor):
    """Runs tasks in forked workers. `heartbeat` returns when there is something to do, or after a while.

    Uses `LocalExecutor`, which is not public to extend, with `_process_workloads`, `_read_results`, its queues and the
    start of its workers: an executor of our own would repeat how it forks them and ends them.
    """

    def start(self) -> None:
        """Fork the workers after importing everything that tasks need, so that they inherit it; then listen."""
        for name in TASK_RUNTIME:
            importlib.import_module(name)
        # Nobody gives work to the workers of a killed scheduler, and nobody would ever end them.
        os.register_at_fork(after_in_child=partial(_end_with, os.getpid()))
        self._unfinished: Counter[Any] = Counter()
        self._start_workers()
        self._listen()

    def _start_workers(self) -> None:
        """As `LocalExecutor.start`, with queues that outlive the death of any worker."""
        self.activity_queue = cast(Any, PacketQueue())
        self.result_queue = cast(Any, PacketQueue())
        self._unread_messages = cast(Any, _Uncounted())
        self.workers = {}
        if self.is_mp_using_fork:
            self._spawn_workers_with_gc_freeze(self.parallelism)  # type: ignore[no-untyped-call]

    def heartbeat(self) -> None:
        """Start queued tasks and report ended ones. Wait for more, unless the scheduler must go on at once.

        A loop of the scheduler examines every task of every run, for 5 to 10 ms a run. So neither the start of tasks
        nor the end of their processes is a reason for another one, unless all slots were taken: what tasks come to is
        in the database before.
        """
        sent = len(self.queued_tasks)
        was_full = sent + len(self.running) >= self.parallelism
        super().heartbeat()
        if sent < self._most_at_once and not self._must_go_on(was_full=was_full):
            self._await_wakeup(FULL_WAIT_S if was_full else FOLLOW_UP_S if sent else IDLE_WAIT_S)
            # A deferred task's first process may have ended meanwhile. It counts once its second one has been sent.
            self._read_results()

    @cached_property
    def _most_at_once(self) -> int:
        """How many tasks a loop asks the database for at most; after so many there may be more."""
        return conf.getint("scheduler", "max_tis_per_query") or self.parallelism

    def _must_go_on(self, *, was_full: bool) -> bool:
        """Whether the scheduler must act upon a process' end: it was no success, or it was for a slot that all lacked.

        The database tells of neither.
        """
        ended = [state for state, _ in self.event_buffer.values()]
        return any(was_full or state != TaskInstanceState.SUCCESS for state in ended)

    def revoke_task(self, *, ti: TaskInstance) -> None:
        """Forget a task that did not begin in time, since its worker was killed. The scheduler queues it again.

        `LocalExecutor` has no such method: there the task waits for ever.
        """
        self.running.discard(ti.key)
        self.queued_tasks.pop(ti.key, None)
        self._unfinished.pop(ti.key, None)

    def _process_workloads(self, workload_list: Sequence[Any]) -> None:
        self._unfinished.update(workload.key for workload in workload_list)
        super()._process_workloads(workload_list)  # type: ignore[no-untyped-call]

    def _read_results(self) -> None:
        """Report the ends of tasks, except of a task that a newer process runs under the same key.

        A deferred task continues under its old key, and its first process may end after that. The scheduler would take
        this for the death of the second process, and start a third one beside it (apache/airflow#72716).
        """
        while not self.result_queue.empty():
            key, state, _ = self.result_queue.get()
            self._unfinished[key] -= 1
            if self._unfinished[key] <= 0:
                del self._unfinished[key]
                self.change_state(key, state)

    def _listen(self) -> None:
        """Open a connection that receives notifications, after the fork, so that no worker shares it."""
        engine = create_engine(conf.get_mandatory_value("database", "sql_alchemy_conn"), poolclass=NullPool)
        pooled = engine.raw_connection()
        self._database = cast(Any, pooled.driver_connection)
        pooled.detach()
        self._database.autocommit = True
        with self._database.cursor() as cursor:
            cursor.execute(f"listen {CHANNEL}")

    def _await_wakeup(self, longest_s: float) -> None:
        """Wait for a notification. If the database has died, other users of it decide whether that matters."""
        try:
            if not self._database.notifies:
                select.select([self._database], [], [], longest_s)
                self._database.poll()
            self._database.notifies.clear()
        except psycopg2.Error:
            self._listen_again()

    def _listen_again(self) -> None:
        time.sleep(RELISTEN_S)
        with suppress(DBAPIError, psycopg2.Error):  # it is not back yet: tried again at the next wait
            self._listen()


class _Uncounted:
    """Stands for LocalExecutor's count of messages, whose lock a killed worker might keep. The queue itself tells."""

    value = 1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def _end_with(scheduler: int) -> None:
    """End a process that the scheduler has just forked with it; a task's process, which a worker forks, is no such."""
    if multiprocessing.parent_process() is not None:
        return
    end_with_parent()
    if os.getppid() != scheduler:  # killed before the kernel was told
        os._exit(1)
