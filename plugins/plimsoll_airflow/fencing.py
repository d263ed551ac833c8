"""Processes that end with the one that supervises them, however that comes: `kill -9` leaves nobody to tell them.

Airflow starts another try of a task when it has not heard of its supervisor for a while. A process that has lost its
supervisor must not work on beside that try.
"""

import ctypes
import signal
import sys

_PR_SET_PDEATHSIG = 1


def end_with_parent() -> None:
    """Have the kernel kill this process when its parent ends. Only Linux can; elsewhere this does nothing."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def end_with_supervisor() -> None:
    """The same for a task's process. One that `airflow dags test` runs is supervised by nobody."""
    from airflow.sdk.execution_time import task_runner
    from airflow.sdk.execution_time.comms import CommsDecoder

    if isinstance(getattr(task_runner, "SUPERVISOR_COMMS", None), CommsDecoder):
        end_with_parent()
