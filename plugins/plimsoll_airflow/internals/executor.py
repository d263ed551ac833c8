"""An executor for a machine that is measured while it works: quick when tasks run, nearly idle otherwise.

Airflow's scheduler sleeps a fixed time between its loops: a short sleep costs a tenth of a core all day, a long one
delays every step. With this executor it waits for a notification from the database that work has arrived (`wakeup`).

Read in Airflow 3.3.2.
"""

import importlib
import os
import select
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any, cast

import psycopg2
from airflow.configuration import conf
from airflow.executors.local_executor import LocalExecutor
from sqlalchemy import NullPool, create_engine
from sqlalchemy.exc import DBAPIError

from plimsoll_airflow.internals.processes import TASK_RUNTIME
from plimsoll_airflow.internals.wakeup import CHANNEL
from plimsoll_airflow.parent_death import end_with_parent

IDLE_WAIT_S = 3.0
"""How long the scheduler may sleep when nothing happens; it bounds how late a schedule or a timeout is seen."""

RELISTEN_S = 1.0


class PromptLocalExecutor(LocalExecutor):
    """Runs tasks in forked workers. `heartbeat` returns when there is something to do, or after IDLE_WAIT_S.

    Uses `LocalExecutor`, which is not public to extend, with `_process_workloads`, `_read_results` and `result_queue`:
    an executor of our own would repeat how it forks its workers and ends them.
    """

    def start(self) -> None:
        """Fork the workers after importing everything that tasks need, so that they inherit it; then listen."""
        for name in TASK_RUNTIME:
            importlib.import_module(name)
        # Nobody gives work to the workers of a killed scheduler, and nobody would ever end them.
        os.register_at_fork(after_in_child=partial(_end_with, os.getpid()))
        self._unfinished: Counter[Any] = Counter()
        super().start()
        self._listen()

    def heartbeat(self) -> None:
        """Start queued tasks and report ended ones. When there are neither, wait."""
        has_sent = bool(self.queued_tasks)
        super().heartbeat()
        if not has_sent and not self.event_buffer:
            self._await_wakeup()

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

    def _await_wakeup(self) -> None:
        """Wait for a notification. If the database has died, other users of it decide whether that matters."""
        try:
            if not self._database.notifies:
                select.select([self._database], [], [], IDLE_WAIT_S)
                self._database.poll()
            self._database.notifies.clear()
        except psycopg2.Error:
            self._listen_again()

    def _listen_again(self) -> None:
        time.sleep(RELISTEN_S)
        with suppress(DBAPIError, psycopg2.Error):  # it is not back yet: tried again at the next wait
            self._listen()


def _end_with(scheduler: int) -> None:
    if os.getppid() == scheduler:
        end_with_parent()
