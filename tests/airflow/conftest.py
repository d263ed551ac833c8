"""An Airflow of the tests' own: a home that is removed at the end, a SQLite database, the project's DAGs.

Airflow reads its configuration when it is imported: the environment is set before any test module is.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fakes.installation import Installation
from tests.support.airflow.home import environment_of, make_database

_HOME = Path(tempfile.mkdtemp(prefix="plimsoll-airflow-"))
os.environ.update(environment_of(_HOME))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Ignore a warning: Airflow reads `.airflowignore` with a class that its own dependency has deprecated."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.filterwarnings("ignore:GitWildMatchPattern:DeprecationWarning"))


def pytest_unconfigure() -> None:
    """Leave nothing behind."""
    shutil.rmtree(_HOME, ignore_errors=True)


@pytest.fixture
def installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installation:
    """Provide one without definitions, campaigns and clusters."""
    made = Installation(tmp_path)
    for name, value in made.environment.items():
        monkeypatch.setenv(name, value)
    return made


@pytest.fixture(autouse=True)
def parses_all_dags() -> Iterator[None]:
    """Have what follows a test parse all DAGs: before 3.3 Airflow leaves in the environment which one it ran.

    Afterwards, because fixtures of a session are made before those of its first test.
    """
    yield
    for what in ("DAG", "TASK"):
        os.environ.pop(f"_AIRFLOW_PARSING_CONTEXT_{what}_ID", None)


@pytest.fixture(scope="session")
def database() -> None:
    """Provide the database as `make_database` makes it."""
    make_database()
