"""Hosts whose tags somebody has removed: the record has their ids, by which they are found, described and ended."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.fakes.clock import SteppingClock
from tests.unit.adapters.ec2.fake_cloud import FakeCloud, Records

from plimsoll.adapters.providers.ec2 import Ec2Provider
from plimsoll.adapters.providers.ec2.launch_plan import LaunchPlan
from plimsoll.adapters.providers.ec2.launched import LAG, Launched
from plimsoll.adapters.providers.ec2.launching import Launcher
from plimsoll.adapters.providers.ec2.network import Subnet
from plimsoll.domain.hosts.cluster import ClusterId


@pytest.fixture
def old(launcher: Launcher, subnet: Subnet, east: FakeCloud, clock: SteppingClock) -> FakeCloud:
    """Provide a place in which a cluster has run for an hour, so that no answer lags."""
    launcher.launch(subnet)
    clock.sleep(3600)
    return east


@pytest.mark.parametrize("untagged", [(), ("i-us0",), ("i-us1", "i-us2")])
def test_a_cluster_is_found_as_it_was(
    provider: Ec2Provider, old: FakeCloud, key: ClusterId, clock: SteppingClock, untagged: Any
) -> None:
    before, began = provider.find(key), clock.now()
    old.remove_tags(*untagged)
    assert provider.find(key) == before
    assert before is not None
    assert len(before.hosts) == 4
    assert clock.now() == began


def test_a_cluster_with_a_host_that_has_ended_is_not_whole(
    provider: Ec2Provider, old: FakeCloud, key: ClusterId, clock: SteppingClock
) -> None:
    old.remove_tags()
    old.made[0].update(State={"Name": "terminated"}, StateReason={"Message": "Server.Spot"})
    began = clock.now()
    assert provider.find(key) is None
    assert clock.now() == began
    assert provider.why_gone(key) == "i-us0 is terminated: Server.Spot"


def test_half_a_cluster_is_not_whole(
    provider: Ec2Provider, launcher: Launcher, subnet: Subnet, east: FakeCloud, key: ClusterId, clock: SteppingClock
) -> None:
    """Its launch was broken off before the load hosts were asked for."""
    launcher._launch_role("node", subnet)
    clock.sleep(3600)
    east.remove_tags()
    assert provider.find(key) is None


def test_the_end_and_the_cost_are_those_of_the_record(
    provider: Ec2Provider, old: FakeCloud, key: ClusterId, records: Records, clock: SteppingClock
) -> None:
    old.remove_tags()
    provider.destroy(key)
    assert old.living() == []
    hosts = records.hosts().values()
    assert sorted(host.usd_per_hour or 0 for host in hosts) == [0, 0.576, 0.576, 0.576]
    assert {host.until - host.since for host in hosts} == {timedelta(hours=1)}


def test_kept_hosts_serve_the_next_cell_too(
    wanted: LaunchPlan, subnet: Subnet, east: FakeCloud, records: Any, clock: SteppingClock
) -> None:
    kept = replace(wanted, id=ClusterId.kept("campaign", "", 1), was_whole=True)

    def launched() -> Launcher:
        return Launcher(east, clock, kept, Launched.read(records, kept.id, east.place, clock))  # type: ignore[arg-type]

    launched().launch(subnet)
    clock.sleep(2 * LAG.total_seconds())
    east.remove_tags()
    assert launched().serves_in() == {subnet.id}
    assert len(launched().launch(subnet)) == 4
    assert (len(east.made), east.terminated) == (4, [])
