"""The reaper finds clusters that nobody owns by what the list shows, ends them, and records what they cost."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.clock import SteppingClock
from tests.unit.adapters.provider_command.cloud_in_memory import CloudInMemory
from tests.unit.adapters.provider_command.conftest import OPTIONS, PATIENCE
from tests.unit.adapters.provider_command.test_launching import CELL, request

from plimsoll.adapters.providers.command import CommandProvider, CommandTariffs
from plimsoll.adapters.stores.object_store import ObjectStore
from plimsoll.domain.hosts.cluster import Cluster
from plimsoll.ports.provider import Places
from plimsoll.services.hosts.paid_hosts import account_of, recorded_usd
from plimsoll.services.hosts.reaping import has_living_owner, reap
from plimsoll.services.toolkit import Toolkit


class Here:
    """Implements ClusterPlaces with one cloud."""

    def of_campaign(self, provider: str, campaign_id: str) -> Places:
        return Places((OPTIONS,))

    def known(self, provider: str) -> Places:
        return Places((OPTIONS,))


@pytest.fixture
def toolkit(provider: CommandProvider, clock: SteppingClock, tmp_path: Path) -> Toolkit:
    nothing: Any = None
    return Toolkit(
        store=ObjectStore(str(tmp_path / "store")),
        clock=clock,
        providers={"command": provider},
        products={},
        load_generators={},
        sampler=nothing,
        tariffs={"command": CommandTariffs()},
        places=Here(),
    )


def test_a_cluster_is_kept_until_it_expires_and_its_cost_recorded(
    toolkit: Toolkit, provider: CommandProvider, cloud: CloudInMemory, clock: SteppingClock
) -> None:
    provider.ensure(request())

    def is_owned(cluster: Cluster) -> bool:
        return has_living_owner(toolkit, cluster)

    assert [cluster.id for cluster in reap(toolkit, is_owned).kept] == [CELL]
    clock.at += timedelta(hours=2, minutes=1) + PATIENCE
    reaped = reap(toolkit, is_owned)
    assert ([cluster.id for cluster in reaped.destroyed], reaped.troubles) == ([CELL], ())
    assert cloud.hosts == []
    usd = recorded_usd(toolkit.store, account_of(CELL))
    assert usd == pytest.approx(3 * 0.5 * 2.5, rel=0.02)
