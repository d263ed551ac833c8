"""Airflow's long-lived processes, and what their tasks import. Read in Airflow 3.3.2."""

import importlib
import sys
from typing import Any

TASK_MODULES = ("airflow.sdk.execution_time.supervisor", "airflow.sdk.execution_time.task_runner")
"""What a task's supervisor and its process import, named to be imported before the fork: nothing public tells."""


def is_job(component: Any) -> bool:
    """Whether what a listener was told of is a long-lived process, which forks others; a task is none.

    Uses the name of the class `airflow.jobs.job.Job`: listeners are given the object, and tasks need not import that.
    """
    return type(component).__name__ == "Job"


def is_scheduler(component: Any) -> bool:
    """Whether what a listener was told of is the scheduler.

    Uses the subcommand of `airflow`, for the object does not know yet which of the long-lived processes it is.
    """
    return is_job(component) and "scheduler" in sys.argv


def load_listeners() -> None:
    """Load the listeners of plugins for tasks, which keeps them.

    Uses `airflow.sdk.listener.get_listener_manager`, which each task would call: plugins are public, but when a process
    loads them is not.
    """
    importlib.import_module("airflow.sdk.listener").get_listener_manager()
