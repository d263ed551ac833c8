"""The process that supervises a task or a trigger, what it answers, and the end of a process together with its own;
Airflow's long-lived processes, and what their tasks import. Read in Airflow 3.3.2.
"""

import ctypes
import signal
import sys
from collections.abc import Sequence
from typing import Any


def has_supervisor() -> bool:
    """Tell whether a supervisor started this process. One that `airflow dags test` runs has none.

    Uses `task_runner.SUPERVISOR_COMMS`, the connection to it, which is another class there: nothing public tells.
    """
    from airflow.sdk.execution_time import task_runner
    from airflow.sdk.execution_time.comms import CommsDecoder

    return isinstance(getattr(task_runner, "SUPERVISOR_COMMS", None), CommsDecoder)


_PR_SET_PDEATHSIG = 1


def end_with_parent() -> None:
    """Make the kernel kill this process when its parent ends. Works only on Linux; elsewhere it does nothing.

    Airflow starts another try of a task when its supervisor has been silent for a while. A process must not continue
    beside that try without its supervisor, even when that is killed by `kill -9` and can't tell it.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def count_runs(dag_id: str, run_ids: Sequence[str], states: Sequence[str]) -> int:
    """Tell how many of the DAG's runs with these ids are in one of the states.

    Uses the class `RuntimeTaskInstance`, whose static methods are public only through a task's context (`ti`), and a
    trigger has no context. They work in triggers too.
    """
    from airflow.sdk.execution_time.task_runner import RuntimeTaskInstance

    return RuntimeTaskInstance.get_dr_count(dag_id, run_ids=list(run_ids), states=list(states))


def task_states(dag_id: str, run_id: str, task_id: str) -> dict[str, str | None]:
    """Return the states of the task's instances in the run, by names such as `run_cell_0`.

    Uses the class `RuntimeTaskInstance` for the same reason as `count_runs`.
    """
    from airflow.sdk.execution_time.task_runner import RuntimeTaskInstance

    by_run = RuntimeTaskInstance.get_task_states(dag_id, task_ids=[task_id], run_ids=[run_id])
    states: dict[str, str | None] = by_run.get(run_id, {})
    return states


SUPERVISOR = "airflow.sdk.execution_time.supervisor"
"""The module that a task's supervisor and its process import, for import before the fork: no public name has it."""


def is_job(component: Any) -> bool:
    """Tell whether the object that a listener got is a long-lived process, which forks others; a task is none.

    Uses the name of the class `airflow.jobs.job.Job`: listeners are given the object, and tasks need not import that.
    """
    return type(component).__name__ == "Job"


def is_scheduler(component: Any) -> bool:
    """Tell whether the object that a listener got is the scheduler.

    Uses the subcommand of `airflow`, for the object does not know yet which of the long-lived processes it is.
    """
    return is_job(component) and "scheduler" in sys.argv
