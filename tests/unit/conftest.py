"""Fixtures for unit tests of more than one folder."""

import pytest
from tests.fakes.clock import SteppingClock


@pytest.fixture
def clock() -> SteppingClock:
    """Stands still until a test moves it."""
    return SteppingClock()
