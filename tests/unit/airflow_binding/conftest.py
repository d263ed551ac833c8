"""An installation in a folder of the test's own, which this process' environment points at."""

from pathlib import Path

import pytest
from tests.fakes.installation import Installation


@pytest.fixture
def installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installation:
    """Provide one without definitions, campaigns and clusters."""
    made = Installation(tmp_path)
    for name, value in made.environment.items():
        monkeypatch.setenv(name, value)
    return made
