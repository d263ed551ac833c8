"""What Airflow's listeners do at the start of its processes and at the end of runs.

Child processes inherit the imports that their parent made before the fork: of scheduler (tasks), DAG processor
(parses), triggerer, a Celery worker. The eight processes of a cell would spend 7 CPU seconds on those of Plimsoll, and
`judge` another 2 on Great Expectations: twice as much as all of Airflow.

The end of a cell's run leaves the slot for its cluster to others, and its campaign goes on without one.

Runs that a person marks as failed, in Airflow's pages, by its API or by Plimsoll's, stay failed after teardown. Airflow
skips the tasks that have not begun, lets the teardown run, and would then take a run whose last task is skipped as
successful.
"""

import importlib
from typing import Any

from airflow.listeners import hookimpl

from plimsoll_airflow.internals import supervisor
from plimsoll_airflow.internals.inventory import fail_what_was_skipped, give_back
from plimsoll_airflow.runs.ownership import CELL_DAG, LIVE_STATES, CellRunId

BINDING_MODULES = ("plimsoll_airflow.dags.campaigns", "plimsoll_airflow.dags.common")
"""The modules that DAG files import, which import those of all tasks."""
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


@hookimpl
def on_dag_run_success(dag_run: Any) -> None:
    """Give back the slot of a run that has succeeded. Airflow calls this."""
    conf = dag_run.conf or {}
    # A run that was marked as failed keeps its slot until its teardown has run, because its cluster lives until then
    if dag_run.dag_id == CELL_DAG and dag_run.state not in LIVE_STATES and {"campaign_id", "cell_id"} <= conf.keys():
        give_back(dag_run, CellRunId(conf["campaign_id"], conf["cell_id"]))


@hookimpl
def on_dag_run_failed(dag_run: Any) -> None:
    """Give back the slot of a failed run, and let one that was set to failed end as failed.

    Airflow calls this where a run has failed, and where it was marked as failed and continues for its teardown.
    """
    on_dag_run_success(dag_run)
    if dag_run.state in LIVE_STATES and _is_ours(dag_run.dag_id):
        fail_what_was_skipped(dag_run)


def _is_ours(dag_id: str) -> bool:
    # Late, for every process loads plugins.
    from plimsoll.bootstrap import definition_folder
    from plimsoll.prefix import dag_id_of
    from plimsoll.settings import Settings

    return dag_id == CELL_DAG or dag_id in map(dag_id_of, definition_folder(Settings()).names())
