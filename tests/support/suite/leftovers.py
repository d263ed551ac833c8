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
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
from tests.support.suite.control_group import joined, leave_and_remove

CHECKOUT = Path(__file__).resolve().parents[3]
MARK = "PLIMSOLL_TEST_RUN"
"""The variable with the marks of a run, and of the runs of which it is itself a test, separated by spaces."""
UNDOING_S = 30.0
"""The time after a run's end, s, in which others may end its processes, such as the guard of Airflow's launcher."""
_LOOK_S = 0.2


@contextmanager
def watched(folder: Path) -> Iterator[None]:
    """Mark all processes that are started from here on, and have them ended if they outlive this process.

    Processes whose environment has the folder, or a path in it, are processes of the run, too.
    """
    outside = {name: value for name, value in os.environ.items() if name != MARK}
    mark = uuid.uuid4().hex
    os.environ[MARK] = f"{os.environ.get(MARK, '')} {mark}".strip()
    argv = [sys.executable, "-m", __name__, mark, str(folder), str(UNDOING_S), *map(str, joined())]
    # The kernel closes the pipe when this process ends, however it ends.
    watch = subprocess.Popen(
        argv, cwd=CHECKOUT, env=outside, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True
    )
    yield
    watch.stdin.close()
    watch.returncode = 0  # nobody waits for it


def main() -> None:
    """Wait for the end of the run, then for the end of its processes. Kill those that stay, and print which.

    The control group that they were in is removed last.
    """
    _, mark, folder, undoing_s, *groups = sys.argv
    sys.stdin.read()
    deadline = time.monotonic() + float(undoing_s)
    while left := started(mark, folder):
        if time.monotonic() > deadline:
            _kill(left)
        time.sleep(_LOOK_S)
    for group in groups:
        leave_and_remove(Path(group), float(undoing_s))


def started(mark: str, folder: str) -> list[psutil.Process]:
    """Return the living processes that a run with that mark or this folder has started."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            environment = process.environ()
            is_marked = mark in environment.get(MARK, "").split()
            names_folder = any(f"{folder}/" in f"{value}/" for value in environment.values())
            if (is_marked or names_folder) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def _kill(left: list[psutil.Process]) -> None:
    for process in left:
        with suppress(psutil.Error):
            print(f"killed, for tests had left it: {process.pid} {' '.join(process.cmdline())}", file=sys.stderr)
            process.kill()


if __name__ == "__main__":
    main()
