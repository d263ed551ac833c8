"""Runs that somebody marks as failed, in Airflow's pages, by its API or by ours: they fail, whatever teardown does.

Airflow skips what had not begun, lets the teardown run, and then takes a run whose last task is skipped as won.
"""

from typing import Any

from airflow.listeners import hookimpl

from plimsoll_airflow.internals import fail_what_was_skipped
from plimsoll_airflow.ownership import CELL_DAG, LIVE_STATES


@hookimpl
def on_dag_run_failed(dag_run: Any) -> None:
    """Airflow calls this where a run has failed, and where it was marked so and goes on for its teardown alone."""
    if dag_run.state in LIVE_STATES and _is_ours(dag_run.dag_id):
        fail_what_was_skipped(dag_run)


def _is_ours(dag_id: str) -> bool:
    # Late, for every process loads plugins.
    from plimsoll.bootstrap import definition_folder
    from plimsoll.domain.definition import dag_id_of
    from plimsoll.settings import Settings

    return dag_id == CELL_DAG or dag_id in map(dag_id_of, definition_folder(Settings()).names())
