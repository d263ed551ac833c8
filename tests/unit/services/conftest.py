"""Services on instant fakes."""

from pathlib import Path

import pytest
from tests.fakes.installation import Installation


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    """Empty: no definitions, no campaigns, no clusters."""
    return Installation(tmp_path)
