"""Whole cells on the test cloud without Airflow, struck at chosen moments: what docs/reliability.md says of clouds."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cloud.cloud import Cloud, running_cloud
from tests.cloud.lag import Lag
from tests.cloud.lifecycle import Delays
from tests.fakes.instant import Faults
from tests.integration.reliability.fickle_hosts import reached
from tests.integration.reliability.struck import Moments, Place, StruckDatabase, StruckLoadGenerator, place_on
from tests.support.cloud.account import Account
from tests.support.cloud.clock import CloudClock
from tests.support.ssh.command import keygen


@pytest.fixture
def behind() -> tuple[Delays, Lag]:
    """A cloud that shows at once what was done."""
    return Delays(), Lag()


@pytest.fixture
def cloud(behind: tuple[Delays, Lag]) -> Iterator[Cloud]:
    """Hosts simulated, its time moved by whoever waits."""
    delays, lag = behind
    with running_cloud("instant", delays=delays, lag=lag, manual=True) as cloud:
        yield cloud


@pytest.fixture
def place(cloud: Cloud, tmp_path: Path) -> Place:
    """Three nodes and the load's host, all of them folders."""
    moments, faults = Moments(), Faults(tmp_path / "faults")
    # A look is some seconds after the one before: a load goes on until a death shows.
    load = StruckLoadGenerator(faults, moments, looks=1 + round(cloud.lag.terminations))
    database = StruckDatabase(faults, moments)
    account = Account(cloud.endpoint, keygen(tmp_path / "id"))
    connect = reached(tmp_path / "hosts", cloud, moments.silent)
    return place_on(cloud, account, CloudClock(cloud), connect, database=database, load=load)
