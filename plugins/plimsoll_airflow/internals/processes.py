"""Airflow's long-lived processes, and what they import. Read in Airflow 3.3.2.

Modules are named here so that they are imported before a process forks others. Which these are was found by measuring;
nothing public tells. A name that is gone in another version fails when it is imported.
"""

import importlib
import sys
from typing import Any

TASK_MODULES = (
    "airflow.dag_processing.bundles.local",
    "airflow.providers.standard.operators.empty",
    "airflow.sdk.bases.sensor",
    "airflow.sdk.bases.skipmixin",
    "airflow.sdk.definitions.variable",
    "airflow.sdk.execution_time.task_runner",
    "airflow.sdk.execution_time.timeout",
    "airflow.version",
)
"""What Airflow would import in each task."""

TASK_RUNTIME = (
    "airflow.sdk.execution_time.coordinator",
    "airflow.sdk.execution_time.supervisor",
    "airflow.sdk.execution_time.task_runner",
)
"""What the workers of an executor import to run tasks."""

SHARED_MODULES = (
    "airflow.__main__",
    "airflow.api_fastapi.execution_api.app",
    "airflow.api_fastapi.execution_api.routes",
    "airflow.cli.commands.daemon_utils",
    "airflow.executors.workloads",
    "airflow.jobs.triggerer_job_runner",
    "airflow.models.taskinstance",
    "airflow.sdk.execution_time.supervisor",
    "airflow.serialization.definitions.mappedoperator",
    "airflow.serialization.serialized_objects",
    "airflow.utils.db",
    "airflow.utils.serve_logs",
)
"""What at least two of Airflow's long-lived processes import."""


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


def map_tables() -> None:
    """Make SQLAlchemy's mappings of all of Airflow's tables, which each process would make again.

    Uses `airflow.models.import_all_models`, for mappings can't be made while a model is missing.
    """
    importlib.import_module("airflow.models").import_all_models()
    importlib.import_module("sqlalchemy.orm").configure_mappers()


def run_command_line() -> None:
    """Run the command of Airflow's that `sys.argv` holds, in this process.

    Uses `airflow.__main__.main`: the command `airflow` itself would be a new process, which imports everything again.
    """
    importlib.import_module("airflow.__main__").main()
