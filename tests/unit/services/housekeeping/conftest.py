"""A store with one campaign, run and published on instant fakes, and a copy of it for each test."""

import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.fakes.clock import SteppingClock
from tests.fakes.installation import Installation, instant_definition
from tests.support.campaigns.undrawn import undrawn

from plimsoll.domain.campaign.grid import cell_ids
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.services.publish.publishing import publish_report
from plimsoll.services.steps.running import run_cells
from plimsoll.services.toolkit import Toolkit

LATER = timedelta(days=3)


class LaterClock(SteppingClock):
    """A clock that is some days ahead, so that what the tests store is old."""

    def now(self) -> datetime:
        return datetime.now(UTC) + LATER


@pytest.fixture(scope="package")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide the folder of an installation whose campaign `mine` has two cells and a report."""
    folder = tmp_path_factory.mktemp("published")
    installation = Installation(folder)
    definition = instant_definition(variants=1, loads=2)
    installation.open_campaign(definition, "mine")
    with undrawn():
        run_cells(installation.toolkit, "mine", cell_ids(resolve(definition)), "me", lambda _: None)
        publish_report(installation.toolkit, "mine")
    return folder


@pytest.fixture
def installation(published: Path, tmp_path: Path) -> Installation:
    shutil.copytree(published / "store", tmp_path / "store")
    return Installation(tmp_path)


@pytest.fixture
def tools(installation: Installation) -> Toolkit:
    """Provide the toolkit some days later."""
    return replace(installation.toolkit, clock=LaterClock())
