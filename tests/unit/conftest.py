"""Fixtures for unit tests of more than one folder."""

import pytest
from tests.fakes.clock import SteppingClock


@pytest.fixture
def clock() -> SteppingClock:
    """Provide a clock that stands still until a test moves it."""
    return SteppingClock()
