"""A campaign of two cells that nobody has run, and time that passes only by waiting."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.fakes.clock import SteppingClock
from tests.fakes.installation import Installation, instant_definition
from tests.unit.services.cell.sized_campaign import Setting

from plimsoll.services.toolkit import Toolkit


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    made = Installation(tmp_path)
    made.open_campaign(instant_definition(variants=1, loads=2))
    return made


@pytest.fixture
def tools(installation: Installation, clock: SteppingClock) -> Toolkit:
    return replace(installation.toolkit, clock=clock)


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    return Setting(tmp_path, "1G")
