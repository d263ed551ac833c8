"""End the processes that a run of tests leaves behind. A run that is killed, or interrupted twice, can't do it itself.

pytest-xdist gives its workers 10 s to undo what their fixtures did, then it kills them. So each process that runs tests
has a watch: a process outside the run that waits for its end, and then for the end of all processes that it has
started. The watch recognises these by their environment, which has the run's mark or a path in the run's temporary
folder.
"""

import os
import subprocess
import sys
import time
import uuid
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psutil

CHECKOUT = Path(__file__).resolve().parents[3]
MARK = "PLIMSOLL_TEST_RUN"
"""The variable with the marks of a run, and of the runs of which it is itself a test, separated by spaces."""
LEFTOVERS = "plimsoll-leftovers"
"""The name of the plugin in pytest."""
UNDOING_S = 30.0
"""The time after a run's end, s, in which others may end its processes, such as the guard of Airflow's launcher."""
_LOOK_S = 0.2


class Leftovers:
    """A plugin of pytest, for each process that runs tests."""

    def __init__(self) -> None:
        self._watch: subprocess.Popen[bytes] | None = None

    def pytest_configure(self) -> None:
        """Mark all processes that are started from here on, and start the watch."""
        outside = {name: value for name, value in os.environ.items() if name != MARK}
        mark = uuid.uuid4().hex
        os.environ[MARK] = f"{os.environ.get(MARK, '')} {mark}".strip()
        # The kernel closes the pipe when this process ends, however it ends.
        self._watch = subprocess.Popen(
            [sys.executable, "-m", __name__, mark, str(UNDOING_S)],
            cwd=CHECKOUT,
            env=outside,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )

    def watch(self, folder: Path) -> None:
        """Treat processes whose environment has that folder, or a path in it, as processes of the run too."""
        if self._watch is not None and self._watch.stdin is not None:
            self._watch.stdin.write(f"{folder}\n".encode())
            self._watch.stdin.flush()

    def pytest_unconfigure(self) -> None:
        """Tell the watch that the run ends in order. It still looks for processes that are left."""
        if self._watch is not None and self._watch.stdin is not None:
            self._watch.stdin.close()
            self._watch.returncode = 0


def main() -> None:
    """Wait for the end of the run, then for the end of its processes. Kill those that stay, and print which."""
    _, mark, undoing_s = sys.argv
    folders = [line.rstrip("\n") for line in sys.stdin]
    deadline = time.monotonic() + float(undoing_s)
    while left := started(mark, folders):
        if time.monotonic() > deadline:
            _kill(left)
        time.sleep(_LOOK_S)


def started(mark: str, folders: Sequence[str]) -> "list[psutil.Process]":
    """The living processes that a run with that mark or these folders has started."""
    import psutil  # only after the run, so as not to take processor time from it

    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            environment = process.environ()
            is_marked = mark in environment.get(MARK, "").split()
            names_folder = any(f"{folder}/" in f"{value}/" for folder in folders for value in environment.values())
            if (is_marked or names_folder) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def _kill(left: "Sequence[psutil.Process]") -> None:
    import psutil

    for process in left:
        with suppress(psutil.Error):
            print(f"killed, for tests had left it: {process.pid} {' '.join(process.cmdline())}", file=sys.stderr)
            process.kill()


if __name__ == "__main__":
    main()
