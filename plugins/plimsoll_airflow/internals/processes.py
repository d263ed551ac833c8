"""Airflow's long-lived processes, and what their tasks import. Read in Airflow 3.3.2."""

import sys
from typing import Any

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
