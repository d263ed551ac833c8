"""End processes together with their supervisor, even when that is killed by `kill -9` and can't tell them.

Airflow starts another try of a task when its supervisor has been silent for a while. A process without its supervisor
must not continue beside that try.
"""

import ctypes
import signal
import sys

from plimsoll_airflow.internals.supervisor import has_supervisor

_PR_SET_PDEATHSIG = 1


def end_with_parent() -> None:
    """Make the kernel kill this process when its parent ends. Works only on Linux; elsewhere it does nothing."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def end_with_supervisor() -> None:
    """End a task's process with its supervisor. A process that `airflow dags test` runs has none."""
    if has_supervisor():
        end_with_parent()
