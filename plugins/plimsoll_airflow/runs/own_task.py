"""The run of the present task, whether it is still meant to run, for tasks that start other runs, and its end together
with its supervisor, even when that is killed by `kill -9` and can't tell it.

Airflow starts another try of a task when its supervisor has been silent for a while. A process without its supervisor
must not continue beside that try.
"""

import ctypes
import signal
import sys

from airflow.sdk import Context, TaskInstanceState
from airflow.sdk.types import RuntimeTaskInstanceProtocol

from plimsoll_airflow.internals.moved import AirflowSkipException
from plimsoll_airflow.runs.installation import own_installation
from plimsoll_airflow.runs.ownership import CampaignRunOwner

_PR_SET_PDEATHSIG = 1


def run_of(context: Context) -> CampaignRunOwner:
    return CampaignRunOwner(context["ti"].dag_id, context["ti"].run_id, own_installation())


def require_running(ti: RuntimeTaskInstanceProtocol) -> None:
    """Raise AirflowSkipException where somebody ended or cleared the task. Its process is told at its next heartbeat.

    The state of the task's run does not tell: a run that is ended continues for its teardown.
    """
    states = ti.get_task_states(ti.dag_id, map_index=ti.map_index, task_ids=[ti.task_id], run_ids=[ti.run_id])
    if TaskInstanceState.RUNNING not in states.get(ti.run_id, {}).values():
        raise AirflowSkipException("this task was ended by hand or cleared, and so it starts no other run")


def end_with_parent() -> None:
    """Make the kernel kill this process when its parent ends. Works only on Linux; elsewhere it does nothing."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
