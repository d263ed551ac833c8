"""One lock for tests that want the processors: while such a test runs, the suite's other processes begin no test.

Such a test is of the load generator's own timing. It has the mark `quiet` and holds the lock alone; all others share
it. Who wants it alone is not overtaken, and keeps it from one quiet test to the next.
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
    """A plugin of pytest and of pytest-xdist: its controller makes the lock, its workers hold it."""

    def __init__(self) -> None:
        self._made: Path | None = None
        self._lock: Lock | None = None

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker where the lock is."""
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
        """Hold the lock for a test with its fixtures; the time spent waiting is not the test's."""
        folder = getattr(item.config, "workerinput", {}).get(_FOLDER)
        if folder is None:  # one process runs all tests
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
    """Held by one alone or by many. Whoever waits for it alone keeps the gate: nobody new comes in."""

    def __init__(self, folder: Path) -> None:
        self._gate, self._lock = (folder / "gate").open("a"), (folder / "lock").open("a")
        self._is_alone = False

    def take(self, *, alone: bool) -> None:
        """Wait for it; it may be held alone already."""
        if self._is_alone:
            return
        how = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
        fcntl.flock(self._gate, how)
        fcntl.flock(self._lock, how)
        fcntl.flock(self._gate, fcntl.LOCK_UN)
        self._is_alone = alone

    def release(self) -> None:
        """Said in words, not by closing: a process that a test forked may hold the open file, too."""
        fcntl.flock(self._lock, fcntl.LOCK_UN)
        self._is_alone = False


def is_quiet(item: pytest.Item) -> bool:
    """Whether it wants the processors to itself."""
    return item.get_closest_marker("quiet") is not None
