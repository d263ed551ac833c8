"""A campaign on hosts that are kept, which nobody uses yet."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.fakes.clock import SteppingClock
from tests.fakes.installation import Installation
from tests.fakes.owners import FixedOwners
from tests.unit.services.kept_definition import kept

from plimsoll.services.toolkit import Toolkit


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    made = Installation(tmp_path)
    made.open_campaign(kept("campaign"))
    return made


@pytest.fixture
def tools(installation: Installation, clock: SteppingClock) -> Toolkit:
    return replace(installation.toolkit, clock=clock, owners=FixedOwners(alive={"me", "other"}))
