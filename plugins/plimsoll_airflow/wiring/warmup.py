"""Imports in the processes that fork others: scheduler (tasks), DAG processor (parses), triggerer, a Celery worker.

Child processes inherit the imports that their parent made before the fork. The eight processes of a cell would spend 7
CPU seconds on those of Plimsoll, and `judge` another 2 on Great Expectations: twice as much as all of Airflow.
"""

import importlib
from typing import Any

from airflow.listeners import hookimpl

from plimsoll_airflow.internals import supervisor

BINDING_MODULES = ("plimsoll_airflow.dags.campaigns", "plimsoll_airflow.dags.common")
"""The modules that DAG files import, which import those of all tasks. By name, for this layer knows none of them."""

AWS_SERVICES = ("s3", "ec2", "ssm", "pricing")
"""The services of AWS that the tasks of a campaign there use."""


@hookimpl
def on_starting(component: Any) -> None:
    """Import ahead. Airflow calls this in each of its long-lived processes before they fork, and in each task."""
    if supervisor.is_job(component):
        warm_up()
    if supervisor.is_scheduler(component):
        warm_up_for_tasks()


def warm_up() -> None:
    """Import the modules that DAG files and tasks import, with the adapters that the settings name."""
    from plimsoll.bootstrap import build_toolkit
    from plimsoll.settings import Settings

    for module in (supervisor.SUPERVISOR, *BINDING_MODULES):
        importlib.import_module(module)
    settings = Settings()
    # For its imports alone: connections that an adapter may hold are not to be shared across a fork.
    toolkit = build_toolkit(settings)
    for adapters in (toolkit.providers, toolkit.tariffs):
        tuple(adapters.values())  # made when they are first asked for
    if settings.has_store_in_s3:
        # Every task of a campaign there makes some clients; nobody is asked anything here.
        importlib.import_module("plimsoll_airflow.internals.aws").warm_up(AWS_SERVICES)


def warm_up_for_tasks() -> None:
    """Import the modules for judging, and read definitions, which would otherwise take each task 0.04 CPU s.

    Definitions are read again only where their file has changed. Tasks of a cell read the copy that a campaign makes of
    its definition.
    """
    from plimsoll.bootstrap import sound_definitions
    from plimsoll.quality.engine import load
    from plimsoll.services.definitions.reference import dump_definition, parse_definition
    from plimsoll.settings import Settings

    importlib.import_module("plimsoll.services.judge.attempt_judging")
    load()
    for definition in sound_definitions(Settings()):
        parse_definition(dump_definition(definition), definition.name)
