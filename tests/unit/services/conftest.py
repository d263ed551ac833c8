"""Services on instant fakes."""

from pathlib import Path

import pytest
from tests.fakes.installation import Installation


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    """Provide one without definitions, campaigns and clusters."""
    return Installation(tmp_path)


@pytest.fixture(autouse=True)
def _undrawn(undrawn_reports: None) -> None:
    """Draw no charts."""
