"""Imports made once, in the processes that fork others: scheduler (tasks), DAG processor (parses), triggerer.

What such a process has imported before it forks, its children have for nothing. Great Expectations alone takes several
CPU seconds, which every `judge` would spend again.
"""

import importlib
import sys
from typing import Any, Literal

from airflow.listeners import hookimpl

LIBRARY_MODULES = (
    "airflow.dag_processing.bundles.local",
    "airflow.providers.standard.operators.empty",
    "airflow.sdk.bases.sensor",
    "airflow.sdk.bases.skipmixin",
    "airflow.sdk.execution_time.task_runner",
    "airflow.sdk.execution_time.timeout",
    "airflow.version",
    "jinja2.ext",
    "ruamel.yaml.mergevalue",
)
"""What Airflow and the libraries would import in each task."""

BINDING_MODULES = (
    "plimsoll_airflow.campaign_notices",
    "plimsoll_airflow.catalogue",
    "plimsoll_airflow.forms",
    "plimsoll_airflow.operators.campaign",
    "plimsoll_airflow.operators.load",
    "plimsoll_airflow.operators.reaper",
    "plimsoll_airflow.operators.schedules",
)
"""What DAG files, tasks and triggers import."""

TASK_MODULES = ("plimsoll.services.judging", "plimsoll.services.publishing")
"""What only some tasks import, and only late."""

AWS_SERVICES: tuple[Literal["s3", "ec2"], ...] = ("s3", "ec2")
"""What such tasks ask of AWS; all else only `plan` and the start of hosts do."""


@hookimpl
def on_starting(component: Any) -> None:
    """Airflow calls this in each of its long-lived processes before any is forked from it, and in each task."""
    if type(component).__name__ != "Job":
        return
    warm_up()
    if "scheduler" in sys.argv:  # which part of Airflow it is, `component` does not know yet
        warm_up_for_tasks()


def warm_up() -> None:
    """Import what children import, and load the plugins of the task's side, which is cached and inherited too."""
    from plimsoll.bootstrap import build_toolkit
    from plimsoll.settings import Settings

    _import(LIBRARY_MODULES + BINDING_MODULES)
    importlib.import_module("airflow.sdk.listener").get_listener_manager()
    settings = Settings()
    # For its imports alone: connections that an adapter may hold are not to be shared across a fork.
    build_toolkit(settings)
    if settings.has_store_in_s3:
        warm_up_for_aws()


def warm_up_for_aws() -> None:
    """Import what a client of AWS takes: every task of a campaign there makes some, and each would take half a second.

    The clients made here are for that alone; nobody is asked anything.
    """
    from airflow.providers.amazon.aws.hooks.base_aws import AwsBaseHook  # noqa: F401
    from boto3.session import Session

    nobody = Session("nobody", "nothing", region_name="us-east-1")
    for service in AWS_SERVICES:
        nobody.client(service)


def warm_up_for_tasks() -> None:
    """Import what judging and publishing take."""
    from plimsoll.quality import engine

    _import(TASK_MODULES)
    engine.load()


def _import(modules: tuple[str, ...]) -> None:
    for module in modules:
        importlib.import_module(module)
