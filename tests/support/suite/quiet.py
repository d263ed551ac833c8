"""One lock for tests that measure: while such a test runs, the suite's other processes begin no test.

A test with the mark `quiet` holds the lock alone, all others share it. Who wants it alone is not overtaken.
"""

import fcntl
import shutil
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

_FOLDER = "plimsoll_quiet"


class Quiet:
    """A plugin of pytest and of pytest-xdist: its controller makes the lock, its workers hold it."""

    def __init__(self) -> None:
        self._made: Path | None = None

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
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Hold the lock for a test with its fixtures; the time spent waiting is not the test's."""
        folder = getattr(item.config, "workerinput", {}).get(_FOLDER)
        if folder is None:  # one process runs all tests
            return (yield)
        with held(Path(folder), alone=item.get_closest_marker("quiet") is not None):
            return (yield)


@contextmanager
def held(folder: Path, *, alone: bool) -> Iterator[None]:
    """The lock in that folder, alone or shared. Whoever waits for it alone keeps the gate: nobody new comes in."""
    how = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
    with (folder / "gate").open("a") as gate, (folder / "lock").open("a") as lock:
        fcntl.flock(gate, how)
        fcntl.flock(lock, how)
        fcntl.flock(gate, fcntl.LOCK_UN)
        try:
            yield
        finally:
            # Said in words: a process that the test forked may hold the open file, too.
            fcntl.flock(lock, fcntl.LOCK_UN)
