"""Hosts that cost 1 USD an hour each."""

from dataclasses import replace

import pytest
from tests.fakes.clock import SteppingClock
from tests.fakes.installation import Installation
from tests.fakes.paid import PaidProvider, Prices

from plimsoll.services.toolkit import Toolkit


@pytest.fixture
def tools(installation: Installation, clock: SteppingClock) -> Toolkit:
    toolkit = installation.toolkit
    provider = PaidProvider(toolkit.providers["instant"], clock)
    return replace(toolkit, clock=clock, providers={"instant": provider}, tariffs={"instant": Prices()})
