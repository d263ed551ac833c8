"""Services on instant fakes."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fakes.installation import Installation
from tests.support.campaigns.undrawn import undrawn


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    """Provide one without definitions, campaigns and clusters."""
    return Installation(tmp_path)


@pytest.fixture(scope="module", autouse=True)
def _undrawn() -> Iterator[None]:
    """Spare tests the drawing of charts, which tests/unit/report looks at."""
    with undrawn():
        yield
