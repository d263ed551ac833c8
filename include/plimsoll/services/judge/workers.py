"""Processes that judge: forked from one that has imported all they need, and ended with their parent."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import forkserver, get_context, parent_process
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from plimsoll.services.toolkit import Toolkit

    MakeToolkit = Callable[[], Toolkit]

_PRELOADED = ["plimsoll.preload"]
"""The modules that the server of processes imports before it forks any of them."""


def processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0))


def start_imports() -> None:
    """Start the server of processes, whose imports take two seconds, so that the caller can do other work meanwhile.

    It ends with this process; while it imports, it ends when its imports have ended.
    """
    get_context("forkserver").set_forkserver_preload(_PRELOADED)
    forkserver.ensure_running()


@contextmanager
def workers(make_toolkit: MakeToolkit, jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Provide a pool of processes that share imports made once, and inherit no lock or connection.

    `make_toolkit` is pickled for these processes. Work that has not begun at the end of the block is dropped.
    """
    start_imports()
    pool = ProcessPoolExecutor(jobs, get_context("forkserver"), initializer=_begin_worker, initargs=(make_toolkit,))
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def toolkit_of_this_worker() -> Toolkit:
    """Return the toolkit that `make_toolkit` made when this worker began."""
    return _of_this_worker[0]


_of_this_worker: list[Toolkit] = []


def _begin_worker(make_toolkit: MakeToolkit) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _of_this_worker.append(make_toolkit())


def _end_with_parent() -> None:
    """End this worker when its parent is killed, since a worker otherwise waits for work for ever."""
    if parent := parent_process():
        parent.join()
        os._exit(1)
