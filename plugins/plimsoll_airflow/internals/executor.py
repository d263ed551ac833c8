"""Airflow's LocalExecutor with repairs of what would lose or repeat a task. Read in Airflow 3.3.2.

`_process_workloads` and `_read_results` repair apache/airflow#72716, in which a resumed task counts as dead. The rest
repairs what a kill leaves: a killed worker may hold a lock for which all others wait, the task that it had taken waits
for ever (LocalExecutor has no `revoke_task`), and workers outlive a killed scheduler.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import select
import socket
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from airflow.executors.local_executor import LocalExecutor

from plimsoll_airflow.internals.supervisor import end_with_parent

if TYPE_CHECKING:
    from airflow.models.taskinstance import TaskInstance

_LONGEST_BYTES = 1 << 20
"""The size of a read: more than the kernel lets a packet be."""


class RepairedLocalExecutor(LocalExecutor):
    """An executor with forked workers, each of which can be killed without harm to the others.

    Uses `LocalExecutor`, which is not public to extend, with `_process_workloads`, `_read_results`, its queues and the
    start of its workers: an executor of our own would repeat how it forks them and ends them.
    """

    def start(self) -> None:
        """Fork the workers as `LocalExecutor.start` does, with queues that outlive the death of any worker."""
        # Nobody gives work to the workers of a killed scheduler, and nobody would ever end them.
        os.register_at_fork(after_in_child=partial(_end_with, os.getpid()))
        self._unfinished: Counter[Any] = Counter()
        self.activity_queue = cast(Any, PacketQueue())
        self.result_queue = cast(Any, PacketQueue())
        self._unread_messages = cast(Any, _Uncounted())
        self.workers = {}
        if self.is_mp_using_fork:
            self._spawn_workers_with_gc_freeze(self.parallelism)  # type: ignore[no-untyped-call]

    def revoke_task(self, *, ti: TaskInstance) -> None:
        """Forget a task that did not begin in time, since its worker was killed. The scheduler queues it again."""
        self.running.discard(ti.key)
        self.queued_tasks.pop(ti.key, None)
        self._unfinished.pop(ti.key, None)

    def _process_workloads(self, workload_list: Sequence[Any]) -> None:
        self._unfinished.update(workload.key for workload in workload_list)
        super()._process_workloads(workload_list)  # type: ignore[no-untyped-call]

    def _read_results(self) -> None:
        """Report the ends of tasks, except of a task that a newer process runs under the same key.

        A deferred task continues under its old key, and its first process may end after that. The scheduler would take
        this for the death of the second process, and start a third one beside it.
        """
        while not self.result_queue.empty():
            key, state, _ = self.result_queue.get()
            self._unfinished[key] -= 1
            if self._unfinished[key] <= 0:
                del self._unfinished[key]
                self.change_state(key, state)


class PacketQueue:
    """A queue like multiprocessing.SimpleQueue, made before its readers and writers are forked, but without a lock.

    A reader of SimpleQueue holds a lock while it waits for a message. If it is killed, the lock is never given back,
    and all other readers wait for ever. Here each message is one packet of a Unix socket (`SOCK_SEQPACKET`, unix(7)):
    the kernel writes it whole, and gives it to one reader.
    """

    def __init__(self) -> None:
        self._reader, self._writer = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

    def put(self, message: object) -> None:
        """Add a message. Waits while the kernel's buffer is full. Raises OSError for one that is larger than it."""
        self._writer.sendall(pickle.dumps(message))

    def get(self) -> Any:
        """Wait for a message, and take it. Raises EOFError when all writers have ended."""
        packet = self._reader.recv(_LONGEST_BYTES)
        if not packet:
            raise EOFError
        return pickle.loads(packet)  # noqa: S301 - only these processes hold an end of the socket

    def empty(self) -> bool:
        waiting = select.poll()
        waiting.register(self._reader, select.POLLIN)
        return not waiting.poll(0)

    def close(self) -> None:
        self._reader.close()
        self._writer.close()


class _Uncounted(nullcontext[None]):
    """A substitute for LocalExecutor's count of messages, whose lock a killed worker may keep. The queue knows."""

    # More than 0: then LocalExecutor asks the queue itself whether a message waits
    value = 1


def _end_with(scheduler: int) -> None:
    """End a process that the scheduler has just forked with it; a task's process, which a worker forks, is no such."""
    if multiprocessing.parent_process() is not None:
        return
    end_with_parent()
    if os.getppid() != scheduler:  # killed before the kernel was told
        os._exit(1)
