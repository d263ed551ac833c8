"""Find and end a cluster's processes, by their marks."""

import time
from collections.abc import Callable, Iterator

import psutil

from plimsoll.adapters.local.marks import Mark, mark_of

_TIMEOUT_S = 10.0
_POLL_S = 0.05


def marked_processes() -> Iterator[tuple[psutil.Process, Mark]]:
    """Every process that carries a mark and can be looked into: the user's own, all of them for root."""
    for process in psutil.process_iter():
        try:
            mark = mark_of(process.environ())
            if mark is not None and process.status() != psutil.STATUS_ZOMBIE:
                yield process, mark
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue


def kill_all(belongs: Callable[[Mark], bool]) -> list[psutil.Process]:
    """SIGKILL every process whose mark belongs, those too that it forked meanwhile; returns those that resisted.

    No process is asked first: what a cluster of a finished attempt still has to say is worth nothing.
    """
    deadline = time.monotonic() + _TIMEOUT_S
    while found := [process for process, mark in marked_processes() if belongs(mark)]:
        if time.monotonic() > deadline:
            return found
        for process in found:
            _kill(process)
        psutil.wait_procs(found, timeout=_POLL_S)
    return []


def _kill(process: psutil.Process) -> None:
    try:
        process.kill()
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return
