"""One home for all tests of the stack: its metadata database is set up once. Each test file leaves it stopped."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Holds the home `airflow`, an empty `plugins`, and whatever the stack makes."""
    folder = tmp_path_factory.mktemp("stack")
    (folder / "plugins").mkdir()
    return folder
