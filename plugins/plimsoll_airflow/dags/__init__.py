"""Plimsoll's DAGs. `from plimsoll_airflow.dags import make_dags; make_dags()` in a DAG file makes all of them.

The folder of Plimsoll's own DAG files makes the same ones, in a file for each kind, so that the error of one marks no
other DAG as stale. Modules are imported where they are needed, for others ask only where the files are.
"""

from pathlib import Path

DAG_FILES = (Path(__file__).resolve().parents[1] / "dag_files").resolve()
"""The folder of Plimsoll's own DAG files, which a wheel contains too."""


def make_dags() -> None:
    """Make the DAGs of all sound definitions, `cell`, `reaper` and, where asked for, `schedules` and `retention`.

    Airflow takes them over as it parses the file that calls this. A task's process gets the DAG of its task alone.
    """
    from airflow.sdk import get_parsing_context

    from plimsoll_airflow.dags.campaigns import make_campaigns
    from plimsoll_airflow.dags.common import make_cell, make_reaper, make_retention, make_schedules
    from plimsoll_airflow.runs.ownership import CELL_DAG, REAPER_DAG, RETENTION_DAG, SCHEDULES_DAG

    common = {
        CELL_DAG: make_cell,
        REAPER_DAG: make_reaper,
        SCHEDULES_DAG: make_schedules,
        RETENTION_DAG: make_retention,
    }
    wanted = get_parsing_context().dag_id
    for dag_id, make in common.items():
        if wanted in (None, dag_id):
            make()
    if wanted not in common:
        make_campaigns()
