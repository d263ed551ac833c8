"""Imports made once, in the processes that fork others: scheduler (tasks), DAG processor (parses), triggerer."""

import importlib
from typing import Any

from airflow.listeners import hookimpl

MODULES = (
    # Airflow's own, which each task would import otherwise
    "airflow.dag_processing.bundles.local",
    "airflow.providers.standard.operators.empty",
    "airflow.sdk.execution_time.task_runner",
    "airflow.sdk.execution_time.timeout",
    "airflow.version",
    "jinja2.ext",
    # what the DAG files and the triggerer import
    "plimsoll_airflow.catalogue",
    "plimsoll_airflow.forms",
    "plimsoll_airflow.operators.campaign",
    "plimsoll_airflow.operators.load",
    "plimsoll_airflow.operators.reaper",
)


@hookimpl
def on_starting(component: Any) -> None:
    """Airflow calls this in each of its long-lived processes before any is forked from it, and in each task."""
    if type(component).__name__ == "Job":
        warm_up()


def warm_up() -> None:
    """Import what children import, and load the plugins of the task's side, which is cached and inherited too."""
    from plimsoll.bootstrap import build_toolkit
    from plimsoll.settings import Settings

    for module in MODULES:
        importlib.import_module(module)
    importlib.import_module("airflow.sdk.listener").get_listener_manager()
    # For its imports alone: connections that an adapter may hold are not to be shared across a fork.
    build_toolkit(Settings())
