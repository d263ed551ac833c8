"""An Airflow in this process: the environment of its home, and its database there."""

import warnings
from collections.abc import Mapping
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[3]


def environment_of(home: Path) -> Mapping[str, str]:
    """Return a SQLite database in that folder, and the project's DAGs.

    Airflow reads its configuration when it is imported: set this before.
    """
    return {
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__API_AUTH__JWT_SECRET": "tests " * 20,
        "AIRFLOW__CORE__DAGS_FOLDER": str(CHECKOUT / "dags"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        # Else a DAG that another test has just written stays as it was there.
        "AIRFLOW__CORE__MIN_SERIALIZED_DAG_UPDATE_INTERVAL": "0",
        "AIRFLOW__CORE__UNIT_TEST_MODE": "False",
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home}/airflow.db",
        "AIRFLOW__LOGGING__BASE_LOG_FOLDER": str(home / "logs"),
        # No scheduler runs that would make it.
        "AIRFLOW_VAR_PLIMSOLL_INSTALLATION": "here",
    }


def make_database() -> None:
    """Make Airflow's tables, and the pool that campaigns run in."""
    from airflow.models.pool import Pool
    from airflow.utils.db import initdb

    with warnings.catch_warnings():
        # Airflow lets providers that are installed make their tables; FAB's settings of Alembic are of an older form.
        warnings.filterwarnings("ignore", "No path_separator found", DeprecationWarning)
        initdb()
    Pool.create_or_update_pool("clusters", slots=8, description="", include_deferred=True)
