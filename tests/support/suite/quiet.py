"""A lock for tests that need the processors for themselves. While such a test runs, no other process begins a test.

Such tests check the load generator's own timing. They have the mark `quiet` and hold the lock exclusively; all other
tests share it. A process that waits for the exclusive lock is not overtaken, and keeps it from one quiet test to the
next.
"""

import fcntl
import shutil
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

_FOLDER = "plimsoll_quiet"


class Quiet:
    """A plugin of pytest and of pytest-xdist. The controller makes the lock, and the workers hold it."""

    def __init__(self) -> None:
        self._made: Path | None = None
        self._lock: Lock | None = None

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker the path of the lock."""
        if self._made is None:
            self._made = Path(tempfile.mkdtemp(prefix="plimsoll-quiet-"))
        node.workerinput[_FOLDER] = str(self._made)

    def pytest_unconfigure(self) -> None:
        """Remove the lock."""
        if self._made is not None:
            shutil.rmtree(self._made, ignore_errors=True)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> Generator[None, object, object]:
        """Hold the lock for a test and its fixtures. Waiting for the lock does not count as the test's time."""
        folder = getattr(item.config, "workerinput", {}).get(_FOLDER)
        if folder is None:  # a single process runs all tests
            return (yield)
        if self._lock is None:
            self._lock = Lock(Path(folder))
        self._lock.take(alone=is_quiet(item))
        try:
            return (yield)
        finally:
            if not (is_quiet(item) and nextitem is not None and is_quiet(nextitem)):
                self._lock.release()


class Lock:
    """A lock that one process holds exclusively, or several share. While one waits to be alone, no other gets it."""

    def __init__(self, folder: Path) -> None:
        self._gate, self._lock = (folder / "gate").open("a"), (folder / "lock").open("a")
        self._is_alone = False

    def take(self, *, alone: bool) -> None:
        """Wait for the lock. This process may already hold it exclusively."""
        if self._is_alone:
            return
        how = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
        fcntl.flock(self._gate, how)
        fcntl.flock(self._lock, how)
        fcntl.flock(self._gate, fcntl.LOCK_UN)
        self._is_alone = alone

    def release(self) -> None:
        """Release the lock explicitly. Closing the file would not do, because a forked process may have it open too."""
        fcntl.flock(self._lock, fcntl.LOCK_UN)
        self._is_alone = False


def is_quiet(item: pytest.Item) -> bool:
    """Whether the test needs the processors for itself."""
    return item.get_closest_marker("quiet") is not None
