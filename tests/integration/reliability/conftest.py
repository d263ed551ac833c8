"""Whole cells on the test cloud without Airflow, struck at chosen moments: clouds in docs/reference/reliability.md."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cloud.cloud import Cloud, running_cloud
from tests.cloud.lag import Lag
from tests.cloud.lifecycle import Delays
from tests.integration.reliability.simulated import simulated_place
from tests.integration.reliability.struck import Place

from plimsoll.adapters.stores.object_store import ObjectStore


@pytest.fixture
def behind() -> tuple[Delays, Lag]:
    """Provide the delays of a cloud that shows at once what was done."""
    return Delays(), Lag()


@pytest.fixture
def cloud(behind: tuple[Delays, Lag]) -> Iterator[Cloud]:
    """Provide one with simulated hosts, whose time is moved by whoever waits."""
    delays, lag = behind
    with running_cloud("instant", delays=delays, lag=lag, manual=True) as cloud:
        yield cloud


@pytest.fixture
def duration(cloud: Cloud) -> str:
    """Provide that of the cell's load. Where EC2's answers lag it is looked at every ten seconds, not every second."""
    return "400s" if cloud.lag.terminations else "20s"


@pytest.fixture
def place(cloud: Cloud, duration: str, tmp_path: Path) -> Place:
    """Provide three nodes and the load's host, all of them folders.

    So is the store: requests to S3 would take a third of the test's time, and nothing strikes them.
    """
    return simulated_place(cloud, duration, tmp_path, ObjectStore(str(tmp_path / "store")))


@pytest.fixture
def place_with_bucket(cloud: Cloud, duration: str, tmp_path: Path) -> Place:
    """Provide the same with its store in the cloud's bucket."""
    return simulated_place(cloud, duration, tmp_path, None)
