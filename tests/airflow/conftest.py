"""An Airflow of the tests' own: a home that is removed at the end, a SQLite database, the project's DAGs and plugins.

Airflow reads its configuration when it is imported: the environment is set before any test module is.
"""

import os
import shutil
import tempfile
import warnings
from pathlib import Path

import pytest
from tests.fakes.installation import Installation

CHECKOUT = Path(__file__).resolve().parents[2]
_HOME = Path(tempfile.mkdtemp(prefix="plimsoll-airflow-"))

os.environ.update(
    {
        "AIRFLOW_HOME": str(_HOME),
        "AIRFLOW__API_AUTH__JWT_SECRET": "tests " * 20,
        "AIRFLOW__CORE__DAGS_FOLDER": str(CHECKOUT / "dags"),
        "AIRFLOW__CORE__PLUGINS_FOLDER": str(CHECKOUT / "plugins"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__UNIT_TEST_MODE": "False",
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{_HOME}/airflow.db",
        "AIRFLOW__LOGGING__BASE_LOG_FOLDER": str(_HOME / "logs"),
        # No scheduler runs that would make it.
        "AIRFLOW_VAR_PLIMSOLL_INSTALLATION": "here",
    }
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Airflow reads `.airflowignore` with a class that its own dependency has deprecated."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.filterwarnings("ignore:GitWildMatchPattern:DeprecationWarning"))


def pytest_unconfigure() -> None:
    """Leave nothing behind."""
    shutil.rmtree(_HOME, ignore_errors=True)


@pytest.fixture
def installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installation:
    """Empty: no definitions, no campaigns, no clusters."""
    made = Installation(tmp_path)
    for name, value in made.environment.items():
        monkeypatch.setenv(name, value)
    return made


@pytest.fixture(scope="session")
def database() -> None:
    """The database as `make_database` makes it."""
    make_database()


def make_database() -> None:
    """Airflow's tables, and the pool that campaigns run in."""
    from airflow.models.pool import Pool
    from airflow.utils.db import initdb

    with warnings.catch_warnings():
        # Airflow lets providers that are installed make their tables; FAB's settings of Alembic are of an older form.
        warnings.filterwarnings("ignore", "No path_separator found", DeprecationWarning)
        initdb()
    Pool.create_or_update_pool("clusters", slots=8, description="", include_deferred=True)
