"""EC2 is eventually consistent: what a launch has returned counts before describe calls show it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.cloud.cloud import REGION, Cloud, running_cloud
from tests.cloud.faults import LoseAnswer, NoCapacity
from tests.cloud.lag import Lag
from tests.cloud.lifecycle import Delays
from tests.integration.ec2.campaign import KEY
from tests.integration.ec2.watched_account import WatchedAccount
from tests.support.cloud.clock import CloudClock

from plimsoll.adapters.providers.ec2 import Ec2Provider
from plimsoll.adapters.providers.ec2.errors import CloudError
from plimsoll.adapters.providers.ec2.tags import ATTEMPT, CAMPAIGN, CELL, EXPIRES, LOAD_HOSTS, NODES, OWNER, ROLE, STORE
from plimsoll.domain.hosts.cluster import Cluster, ClusterId, ClusterRequest, Launch, PartlySeen
from plimsoll.domain.text.errors import ProviderError, StoreError
from plimsoll.ports.provider import Places
from plimsoll.services.hosts.paid_hosts import StoredLaunches, read_launches

LAG_S = 20.0
UNREAD = "not every campaign could be read"
FIRST, SECOND = "us-east-1a", "us-east-1b"
NODE = "r5d.2xlarge"
Ask = Callable[..., ClusterRequest]


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    """A cloud whose answers are 20 s behind, which shows 3 instances a page and takes 12 min to shut one down."""
    delays = Delays(pending=5, status=0, shutting_down=720)
    with running_cloud("instant", delays=delays, lag=Lag.of(LAG_S, page=3), manual=True) as cloud:
        yield cloud


@pytest.fixture
def clock(cloud: Cloud) -> CloudClock:
    return CloudClock(cloud)


def zones(cluster: Cluster) -> set[str]:
    return {host.facts["zone"] for host in cluster.hosts}


def living(cloud: Cloud) -> Sequence[str]:
    """Return instances that cost money."""
    return [one.instance_id for one in cloud.census.entries.values() if one.shut_down is None]


def test_no_room_for_the_nodes_leaves_no_load_host_behind(provider: Ec2Provider, ask: Ask, cloud: Cloud) -> None:
    cloud.fault(NoCapacity(zone=FIRST, instance_type=NODE))
    cluster = provider.ensure(ask())
    assert zones(cluster) == {SECOND}
    assert sorted(living(cloud)) == sorted(host.facts["instance_id"] for host in cluster.hosts)
    provider.destroy(cluster.id)
    assert cloud.nothing_left(), cloud.leftovers()


@pytest.mark.parametrize("lag", [1.0, 4.0, 8.0, 40.0])
def test_a_cluster_is_never_of_two_zones(provider: Ec2Provider, ask: Ask, cloud: Cloud, lag: float) -> None:
    """A load host that was given up comes into sight while its successor is launched."""
    cloud.lag.launches = lag
    cloud.fault(NoCapacity(zone=FIRST, instance_type=NODE, times=1))
    cluster = provider.ensure(ask())
    assert len(zones(cluster)) == 1
    assert len(living(cloud)) == 4
    assert provider.find(cluster.id) == cluster


def test_a_role_that_is_refused_for_good_leaves_no_other_role_running(
    provider: Ec2Provider, account: WatchedAccount, ask: Ask, cloud: Cloud
) -> None:
    account.refuse_nth("RunInstances", 2, "UnauthorizedOperation")
    with pytest.raises(CloudError, match="allow the action ec2:RunInstances"):
        provider.ensure(ask(placement_group="none"))
    assert len(living(cloud)) == 1
    provider.destroy(KEY)
    assert living(cloud) == []
    assert cloud.nothing_left(), cloud.leftovers()


def test_a_placement_group_that_is_not_known_yet_is_waited_for(
    provider: Ec2Provider, account: WatchedAccount, ask: Ask
) -> None:
    assert len(provider.ensure(ask()).hosts) == 4
    assert account.called("RunInstances") > 2


def test_a_process_that_dies_over_its_launch_leaves_hosts_that_are_looked_for(
    provider: Ec2Provider, account: WatchedAccount, ask: Ask, cloud: Cloud, clock: CloudClock
) -> None:
    """Its answer never came, so nobody knows the ids; nothing shows yet."""
    account.lost = ["RunInstances"]
    with pytest.raises(CloudError, match="can't be reached"):
        provider.ensure(ask(placement_group="none"))
    assert provider.clusters() == []
    provider.destroy(KEY)
    assert len(cloud.census.entries) == 1
    assert living(cloud) == []
    assert cloud.nothing_left(), cloud.leftovers()


def test_the_next_try_goes_on_with_a_launch_whose_answer_was_lost(
    provider: Ec2Provider, account: WatchedAccount, ask: Ask, cloud: Cloud
) -> None:
    account.lost = ["RunInstances"]
    with pytest.raises(CloudError):
        provider.ensure(ask())
    cluster = provider.ensure(ask())
    assert len(cloud.census.entries) == 4
    assert provider.find(cluster.id) == cluster


class OutOfReach:
    """Implements the Launches port over a store that can't be reached."""

    def of(self, key: ClusterId) -> Sequence[Launch]:
        raise StoreError("can't be used", where=str(key))

    def unsettled(self) -> Sequence[ClusterId]:
        raise StoreError("can't be used")

    def note(self, launch: Launch) -> None:
        raise StoreError("can't be used", where=str(launch.id))


class Nothing(OutOfReach):
    """Implements the Launches port over a store whose campaigns are gone."""

    def of(self, key: ClusterId) -> Sequence[Launch]:
        return ()

    def unsettled(self) -> Sequence[ClusterId]:
        return ()


class Unwritable(OutOfReach):
    """The same, for who writes alone; with `asks`, it takes a request but not its answer."""

    def __init__(self, *, asks: bool) -> None:
        self._asks = asks

    def of(self, key: ClusterId) -> Sequence[Launch]:
        return ()

    def note(self, launch: Launch) -> None:
        if launch.hosts is not None or not self._asks:
            super().note(launch)


@pytest.mark.parametrize("asks", [True, False])
def test_what_can_not_be_put_on_record_is_not_launched_or_ended_at_once(
    provider: Ec2Provider, ask: Ask, cloud: Cloud, asks: bool
) -> None:
    with pytest.raises(StoreError):
        replace(provider, launches=Unwritable(asks=asks)).ensure(ask())
    assert len(cloud.census.entries) == (1 if asks else 0)
    assert living(cloud) == []


def test_a_record_out_of_reach_keeps_no_host_alive(provider: Ec2Provider, ask: Ask, cloud: Cloud) -> None:
    key = provider.ensure(ask()).id
    replace(provider, launches=OutOfReach()).destroy(key)
    assert living(cloud) == []
    assert cloud.nothing_left(), cloud.leftovers()


def test_hosts_that_do_not_show_are_ended_without_their_record_too(
    provider: Ec2Provider, account: WatchedAccount, ask: Ask, cloud: Cloud
) -> None:
    account.refuse_nth("RunInstances", 2, "UnauthorizedOperation")
    with pytest.raises(CloudError):
        provider.ensure(ask(placement_group="none"))
    replace(provider, launches=OutOfReach()).destroy(KEY)
    assert len(cloud.census.entries) == 1
    assert living(cloud) == []


def test_found_again_before_all_of_it_shows(provider: Ec2Provider, ask: Ask, cloud: Cloud) -> None:
    """Describe calls need not agree with each other: what one has shown, the next may not."""
    cluster = provider.ensure(ask())
    cloud.lag.launches = cloud.lifecycle.clock.now() + 10  # nothing shows for a while
    assert provider.find(cluster.id) == cluster


def test_a_host_that_is_gone_is_not_waited_for(
    provider: Ec2Provider, ask: Ask, cloud: Cloud, clock: CloudClock
) -> None:
    cluster = provider.ensure(ask())
    cloud.kill(cluster.nodes[1].facts["instance_id"])
    cloud.skip(LAG_S)
    before = clock.now()
    assert provider.find(cluster.id) is None
    assert clock.now() - before < timedelta(seconds=1)


def test_half_a_cluster_is_made_whole_and_what_was_given_up_never_comes_back(
    provider: Ec2Provider, ask: Ask, cloud: Cloud
) -> None:
    cluster = provider.ensure(ask())
    cloud.kill(cluster.nodes[1].facts["instance_id"])
    cloud.skip(LAG_S)
    again = provider.ensure(ask())
    assert sorted(living(cloud)) == sorted(host.facts["instance_id"] for host in again.hosts)


def test_a_lost_answer_to_the_end_is_no_end(provider: Ec2Provider, ask: Ask, cloud: Cloud) -> None:
    key = provider.ensure(ask()).id
    cloud.fault(LoseAnswer(action="TerminateInstances", times=1))
    provider.destroy(key)
    assert cloud.nothing_left(), cloud.leftovers()


def test_patience_that_ends_leaves_nothing(provider: Ec2Provider, ask: Ask, cloud: Cloud) -> None:
    cloud.fault(NoCapacity(instance_type=NODE))
    with pytest.raises(ProviderError, match="no room within"):
        provider.ensure(ask(patience="1m"))
    assert living(cloud) == []
    provider.destroy(KEY)
    assert cloud.nothing_left(), cloud.leftovers()


def test_the_record_tells_when_hosts_were_paid_for(
    provider: Ec2Provider, records: StoredLaunches, ask: Ask, cloud: Cloud
) -> None:
    """As AWS bills: neither what is pending nor what is shutting down."""
    cloud.fault(NoCapacity(zone=FIRST, instance_type=NODE))
    cluster = provider.ensure(ask())
    cloud.kill(cluster.nodes[0].facts["instance_id"])
    cloud.skip(3600)
    provider.destroy(cluster.id)
    hosts = [host for launch in records.of(cluster.id) for host in launch.hosts or ()]
    assert len(hosts) == 5
    assert all(host.until for host in hosts)
    paid = sum((host.until - host.since).total_seconds() for host in hosts if host.since and host.until)
    # A host that died is paid for until it is found dead where AWS does not tell when.
    assert paid == pytest.approx(cloud.summary()["instance_seconds"] + 3600, rel=0.03)


def test_terminated_instances_that_still_show_are_no_cluster(
    provider: Ec2Provider, account: WatchedAccount, ask: Ask, cloud: Cloud
) -> None:
    key = provider.ensure(ask()).id
    before = account.called("DescribeInstances")
    provider.destroy(key)
    # Two pages each of 33 looks in 12 minutes: what shuts down is looked at once between two pauses.
    assert account.called("DescribeInstances") - before < 80
    assert cloud.lifecycle.lives, "they show for an hour"
    assert provider.clusters() == []
    assert provider.find(key) is None


def test_a_reservation_that_is_split_over_pages_is_read_whole(
    provider: Ec2Provider, account: WatchedAccount, ask: Ask, cloud: Cloud
) -> None:
    cloud.lag.page = 2
    cluster = provider.ensure(ask())
    pages = list(account.client("ec2", REGION).get_paginator("describe_instances").paginate())
    assert [sum(len(each["Instances"]) for each in page["Reservations"]) for page in pages] == [2, 2]
    assert provider.find(cluster.id) == cluster


def test_a_store_out_of_reach_hides_no_cluster(
    provider: Ec2Provider, ask: Ask, cloud: Cloud, options: dict[str, object]
) -> None:
    """Definitions at hand say in which region it is."""
    key = provider.ensure(ask()).id
    blind = replace(provider, places=Places((options,), UNREAD), launches=OutOfReach())
    with pytest.raises(PartlySeen, match=UNREAD) as caught:
        blind.clusters()
    assert [len(cluster.hosts) for cluster in caught.value.clusters] == [4]
    blind.destroy(key)
    assert living(cloud) == []


def test_a_host_whose_launch_the_store_did_not_take_is_on_record_once_it_does(
    provider: Ec2Provider, records: StoredLaunches, ask: Ask, cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, written = records._store.write, list[str]()

    def refusing(key: str, content: bytes) -> None:
        written.append(key)
        if len(written) > 1:
            raise StoreError("the session has expired")
        write(key, content)

    with monkeypatch.context() as patched:
        patched.setattr(records._store, "write", refusing)
        with pytest.raises(StoreError):
            provider.ensure(ask())
    records.write_kept()
    [host] = [host for launch in read_launches(records._store, KEY) for host in launch.hosts or ()]
    assert host.since is not None
    assert host.until is not None
    assert (host.until - host.since).total_seconds() >= cloud.summary()["instance_seconds"] > 0


def test_what_was_verified_gone_is_not_waited_for_again(
    provider: Ec2Provider, ask: Ask, cloud: Cloud, clock: CloudClock, account: WatchedAccount
) -> None:
    account.refuse_nth("RunInstances", 1, "UnauthorizedOperation")
    with pytest.raises(CloudError):
        provider.ensure(ask())
    provider.destroy(KEY)
    began = clock.now()
    provider.destroy(KEY)
    assert clock.now() - began < timedelta(minutes=1)


def test_a_group_whose_creation_was_refused_is_not_waited_for(
    provider: Ec2Provider, ask: Ask, cloud: Cloud, clock: CloudClock, account: WatchedAccount
) -> None:
    account.refuse_nth("CreatePlacementGroup", 1, "UnauthorizedOperation")
    with pytest.raises(CloudError):
        provider.ensure(ask())
    began = clock.now()
    provider.destroy(KEY)
    assert clock.now() - began < timedelta(minutes=1)


def test_clusters_of_any_campaign_are_looked_for_in_the_regions_of_the_settings(
    provider: Ec2Provider, ask: Ask, cloud: Cloud
) -> None:
    key = provider.ensure(ask()).id
    cloud.skip(LAG_S)
    forgetful = replace(provider, places=Places(everywhere=True), launches=Nothing(), further_regions=(REGION,))
    assert [cluster.id for cluster in forgetful.clusters()] == [key]
    assert replace(forgetful, places=Places()).clusters() == []
    forgetful.destroy(key)
    assert living(cloud) == []


def test_hosts_whose_tags_were_removed_are_listed_and_ended_while_the_record_names_them(
    provider: Ec2Provider,
    records: StoredLaunches,
    account: WatchedAccount,
    ask: Ask,
    cloud: Cloud,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cluster = provider.ensure(ask())
    monkeypatch.setattr(records, "unsettled", lambda: (cluster.id,))
    ids = [host.facts["instance_id"] for host in cluster.hosts]
    cloud.skip(3600)
    cut = [{"Key": "plimsoll:store"}]
    account.client("ec2", REGION).delete_tags(Resources=ids, Tags=cut)
    [found] = provider.clusters()
    assert {host.facts["instance_id"] for host in found.hosts} == set(ids)
    assert sum("without its tags" in name for name in found.resources) == len(ids)
    provider.destroy(cluster.id)
    assert living(cloud) == []


@pytest.mark.parametrize(
    "removed", [{STORE}, {STORE, CAMPAIGN, CELL, ATTEMPT, ROLE, OWNER, EXPIRES, NODES, LOAD_HOSTS}]
)
def test_a_cell_goes_on_with_hosts_whose_tags_were_removed_and_they_end_with_it(
    provider: Ec2Provider, records: StoredLaunches, account: WatchedAccount, ask: Ask, cloud: Cloud, removed: Any
) -> None:
    cluster = provider.ensure(ask())
    cloud.skip(3600)
    ids = [host.facts["instance_id"] for host in cluster.hosts]
    account.client("ec2", REGION).delete_tags(Resources=ids, Tags=[{"Key": key} for key in sorted(removed)])
    assert provider.find(cluster.id) == cluster
    assert provider.ensure(ask()) == cluster
    provider.destroy(cluster.id)
    assert living(cloud) == []
    assert all(host.until for launch in records.of(cluster.id) for host in launch.hosts or ())


def test_without_store_and_definitions_the_settings_say_in_which_regions_to_look(
    provider: Ec2Provider, ask: Ask, cloud: Cloud
) -> None:
    key = provider.ensure(ask()).id
    cloud.skip(LAG_S)
    blind = replace(provider, places=Places((), UNREAD), launches=OutOfReach())
    blind.destroy(key)
    assert len(living(cloud)) == 4, "nobody knows where to look"
    replace(blind, further_regions=("eu-west-1", REGION)).destroy(key)
    assert living(cloud) == []
