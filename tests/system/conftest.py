"""Whole campaigns through a real Airflow."""

from pathlib import Path

import pytest
from tests.fakes.installation import Installation


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """Provide one for all tests of a module, as is the Airflow that works with it."""
    return Installation(tmp_path_factory.mktemp("plimsoll"))


@pytest.fixture(scope="session")
def checkout() -> Path:
    """Provide the folder that everything is in."""
    return Path(__file__).resolve().parents[2]
