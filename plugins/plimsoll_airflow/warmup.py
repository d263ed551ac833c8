"""Imports in the processes that fork others: scheduler (tasks), DAG processor (parses), triggerer.

Child processes inherit the imports that their parent made before the fork. Great Expectations alone takes several CPU
seconds, which every `judge` would spend again.
"""

import importlib
from typing import Any

from airflow.listeners import hookimpl

from plimsoll_airflow.internals import processes

LIBRARY_MODULES = ("jinja2.ext", "ruamel.yaml.mergevalue")
"""What libraries would import in each task. Airflow's own modules are in `internals.processes`."""

BINDING_MODULES = (
    "plimsoll_airflow.campaign_notices",
    "plimsoll_airflow.definitions",
    "plimsoll_airflow.doc_md",
    "plimsoll_airflow.forms",
    "plimsoll_airflow.operators.campaign",
    "plimsoll_airflow.operators.cell",
    "plimsoll_airflow.operators.next_round",
    "plimsoll_airflow.operators.reaper",
    "plimsoll_airflow.operators.schedules",
    "plimsoll_airflow.pacing",
)
"""What DAG files, tasks and triggers import."""

TASK_MODULES = (
    "altair",
    "multiprocessing.synchronize",
    "plimsoll.quality.attempt_suites",
    "plimsoll.quality.attempt_tables",
    "plimsoll.report.build",
    "plimsoll.services.judge.attempt_judging",
    "plimsoll.services.publish.publishing",
    "pyarrow.parquet",
    "scipy.stats",
)
"""What only some tasks import, and only late."""

AWS_SERVICES = ("s3", "ec2", "ssm", "pricing")
"""What the tasks of a campaign there ask of AWS."""


@hookimpl
def on_starting(component: Any) -> None:
    """Called by Airflow in each of its long-lived processes before they fork, and in each task."""
    if not processes.is_job(component):
        return
    warm_up()
    if processes.is_scheduler(component):
        warm_up_for_tasks()


def warm_up() -> None:
    """Import what child processes import, and load the plugins for tasks, which are cached and inherited too."""
    from plimsoll.bootstrap import build_toolkit
    from plimsoll.settings import Settings

    _import(processes.TASK_MODULES + LIBRARY_MODULES + BINDING_MODULES)
    processes.load_listeners()
    settings = Settings()
    # For its imports alone: connections that an adapter may hold are not to be shared across a fork.
    toolkit = build_toolkit(settings)
    for adapters in (toolkit.providers, toolkit.tariffs):
        tuple(adapters.values())  # made when they are first asked for
    if settings.has_store_in_s3:
        # Every task of a campaign there makes some clients; nobody is asked anything here.
        importlib.import_module("plimsoll_airflow.aws").warm_up(AWS_SERVICES)


def warm_up_for_tasks() -> None:
    """Import what judging and publishing need, and do once what each task would else do again.

    That is to prepare for checks, to compile the report's templates, and to read definitions, which are read anew only
    where their file has changed. Tasks of a cell read the copy that a campaign makes of its definition.
    """
    from plimsoll.bootstrap import sound_definitions
    from plimsoll.quality.engine import rehearse
    from plimsoll.report.page import compile_templates
    from plimsoll.services.definitions.text import dump_definition, parse_definition
    from plimsoll.settings import Settings

    _import(TASK_MODULES)
    rehearse()
    compile_templates()
    for definition in sound_definitions(Settings()):
        parse_definition(dump_definition(definition), definition.name, stored=True)


def _import(modules: tuple[str, ...]) -> None:
    for module in modules:
        importlib.import_module(module)
