"""One home for all tests of the stack, with a migrated database. Each test file leaves it stopped.

In `make test-all` the first start migrates it.
"""

from pathlib import Path

import pytest
from tests.support.airflow.migrated import lay_migrated_database
from tests.support.suite.requirements import IS_LONG

from plimsoll_airflow.local.home import Home


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide a folder for the home `airflow` and whatever the stack makes."""
    folder = tmp_path_factory.mktemp("stack")
    home = Home(folder / "airflow")
    home.create()
    if not IS_LONG:
        lay_migrated_database(home)
    return folder
