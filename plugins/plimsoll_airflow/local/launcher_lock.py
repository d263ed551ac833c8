"""One launcher at a time for each home: `up`, `down` and `demo` exclude each other."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from plimsoll_airflow.local.errors import StackBusy
from plimsoll_airflow.local.home import Home

CLEANING_UP = "the end of what a killed launcher has left"
"""The purpose for which a guard holds the lock. It is over soon, and worth waiting for."""
_BRIEFLY_S = 0.5
"""The time in which a holder of the lock has noted its name, s."""
_CLEANED_UP_S = 180.0


@contextmanager
def launcher_lock(home: Home, doing: str) -> Iterator[None]:
    """Hold the home's lock inside the block. The kernel releases it when this process dies for any reason.

    Raises StackBusy, with the other launcher, when the lock is held. A guard that is cleaning up is waited for.
    """
    owner, lock = home.run / "launcher", FileLock(home.run / "launcher.lock")
    try:
        _take(lock, owner)
    except Timeout:
        name = _noted(owner) or "another launcher"
        raise StackBusy(
            f"{name} is using this Airflow", where=str(home.path), mend="wait until it ends, or press Ctrl-C there"
        ) from None
    try:
        owner.write_text(f"`{doing}`, process {os.getpid()}")
        yield
    finally:
        lock.release()


def _take(lock: FileLock, owner: Path) -> None:
    try:
        lock.acquire(timeout=_BRIEFLY_S)
    except Timeout:
        if CLEANING_UP not in _noted(owner):
            raise
        lock.acquire(timeout=_CLEANED_UP_S)


def _noted(owner: Path) -> str:
    return owner.read_text() if owner.exists() else ""
