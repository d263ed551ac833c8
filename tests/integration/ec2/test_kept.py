"""Hosts that are kept on EC2's own API: asked for again they live on, and everything that ends hosts ends them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from tests.cloud.cloud import REGION, Cloud
from tests.fakes.clock import BEGAN, SteppingClock
from tests.fakes.hosts import FolderHost
from tests.integration.ec2.watched_account import WatchedAccount

from plimsoll.adapters.providers.ec2 import Ec2Provider
from plimsoll.adapters.providers.ec2.errors import CloudError
from plimsoll.adapters.providers.ec2.user_data import PROLONG
from plimsoll.adapters.stores.object_store import ObjectStore
from plimsoll.domain.hosts.cluster import ClusterId, ClusterRequest, HostInfo
from plimsoll.domain.text.errors import HostError, ProviderError
from plimsoll.ports.host import CommandResult
from plimsoll.services.hosts.paid_hosts import StoredLaunches
from plimsoll.services.retries import Outage

Ask = Callable[..., ClusterRequest]
ALLOWANCE = timedelta(hours=1)
"""What the definition's patience and margin add to a cell's own time."""


class Kept(FolderHost):
    """A folder that notes what it was told to run, and refuses it where the test says so."""

    ran: list[Sequence[str]]
    refuses: bool

    def run(self, argv: Sequence[str], *, timeout: timedelta, check: bool = True, stdin: str = "") -> CommandResult:
        if self.refuses:
            raise HostError("`sudo` ended with exit code 1", where=self.info.name)
        self.ran.append(tuple(argv))
        return CommandResult(0, "", "")

    def clear(self, folder: PurePosixPath, cluster: str, keep: frozenset[str]) -> Sequence[str]:
        left = super().clear(folder, cluster, keep)
        return [*left, "process 7 (java) runs"] if self.refuses else left


@pytest.fixture
def hosts() -> dict[str, Any]:
    return {}


@pytest.fixture
def connect(tmp_path: Path, hosts: dict[str, Any]) -> Any:
    """Provide a folder for each instance, prepared; `hosts` has them by instance."""

    def made(_: ClusterId, info: HostInfo, __: object) -> Kept:
        host = Kept(tmp_path / "hosts" / info.facts["instance_id"], info)
        before = hosts.get(info.facts["instance_id"])
        host.ran, host.refuses = (before.ran, before.refuses) if before else ([], False)
        host.write(PurePosixPath("prepared"), "ok\n")
        hosts[info.facts["instance_id"]] = host
        return host

    return made


@pytest.fixture
def kept(ask: Ask) -> Callable[..., ClusterRequest]:
    """Provide the campaign's hosts, asked for by an attempt that begins so many hours after the first."""

    def request(hours: float = 0, owner: str = "first") -> ClusterRequest:
        plain = ask("hosts")
        later = plain.expires_at + timedelta(hours=hours)
        return plain.model_copy(update={"owner": owner, "expires_at": later})

    return request


def tags(account: WatchedAccount) -> list[Mapping[str, str]]:
    found = account.client("ec2", REGION).describe_instances()["Reservations"]
    return [{tag["Key"]: tag["Value"] for tag in one["Tags"]} for each in found for one in each["Instances"]]


def ids(cluster: Any) -> set[str]:
    return {info.facts["instance_id"] for info in cluster.hosts}


def test_asked_for_again_they_are_the_same_and_live_on_for_the_last_who_asked(
    provider: Ec2Provider, kept: Ask, account: WatchedAccount, hosts: dict[str, Any]
) -> None:
    first = provider.ensure(kept())
    second = provider.ensure(kept(2, "second"))
    assert ids(first) == ids(second)
    assert account.called("RunInstances") == 2  # one a role
    assert second.expires_at - first.expires_at == timedelta(hours=2)
    assert {one["plimsoll:expires"] for one in tags(account)} == {second.expires_at.isoformat()}
    assert {one["plimsoll:owner"] for one in tags(account)} == {"second"}
    assert provider.find(second.id) == second
    ends = BEGAN + timedelta(hours=5) + ALLOWANCE
    for host in hosts.values():
        assert host.ran[-1] == ("sudo", "-n", PROLONG, f"{ends:%Y-%m-%d %H:%M:%S} UTC")


def test_each_who_asks_sets_their_end_anew_so_that_those_of_a_long_cell_end_with_a_short_one(
    provider: Ec2Provider, kept: Ask, account: WatchedAccount, hosts: dict[str, Any]
) -> None:
    long = provider.ensure(kept(24))
    short = provider.ensure(kept(1))
    assert long.expires_at - short.expires_at == timedelta(hours=23)
    assert {one["plimsoll:expires"] for one in tags(account)} == {short.expires_at.isoformat()}
    assert {one.expires_at for one in provider.clusters()} == {short.expires_at}
    ends = BEGAN + timedelta(hours=4) + ALLOWANCE
    for host in hosts.values():
        assert host.ran[-1] == ("sudo", "-n", PROLONG, f"{ends:%Y-%m-%d %H:%M:%S} UTC")


def test_no_time_is_added_past_the_ceiling(
    provider: Ec2Provider, kept: Ask, ask: Ask, account: WatchedAccount, hosts: dict[str, Any]
) -> None:
    ends = BEGAN + timedelta(hours=2)
    cluster = provider.ensure(kept().model_copy(update={"ends_at": ends}))
    own = provider.ensure(ask().model_copy(update={"ends_at": ends}))
    assert (cluster.expires_at, own.expires_at) == (ends, ends)
    assert {one["plimsoll:expires"] for one in tags(account)} == {ends.isoformat()}
    for host in hosts.values():
        assert {argv[-1] for argv in host.ran} <= {f"{ends:%Y-%m-%d %H:%M:%S} UTC"}


@pytest.mark.parametrize("operation", ["RunInstances", "CreateTags"])
def test_killed_while_it_asks_it_goes_on_with_the_same_hosts(
    provider: Ec2Provider, kept: Ask, account: WatchedAccount, cloud: Cloud, operation: str
) -> None:
    account.lost = [operation]
    with pytest.raises(CloudError):
        provider.ensure(kept())
    cluster = provider.ensure(kept(1, "second"))
    assert len(cloud.census.entries) == 4
    assert {one["plimsoll:expires"] for one in tags(account)} == {cluster.expires_at.isoformat()}


def test_tags_that_could_not_be_changed_are_changed_by_the_next_who_asks(
    provider: Ec2Provider, kept: Ask, account: WatchedAccount
) -> None:
    provider.ensure(kept())
    account.faults["CreateTags"] = ["UnauthorizedOperation"]
    with pytest.raises(CloudError, match="allow the action ec2:CreateTags"):
        provider.ensure(kept(2))
    cluster = provider.ensure(kept(2))
    assert {one["plimsoll:expires"] for one in tags(account)} == {cluster.expires_at.isoformat()}


def test_hosts_whose_end_can_not_be_moved_are_an_error_before_anything_runs_on_them(
    provider: Ec2Provider, kept: Ask, hosts: dict[str, Any], account: WatchedAccount
) -> None:
    provider.ensure(kept())
    before = tags(account)
    next(iter(hosts.values())).refuses = True
    with pytest.raises(ProviderError, match="`sudo` ended with exit code 1"):
        provider.ensure(kept(2))
    assert tags(account) == before


def test_environments_have_folders_of_their_own_and_go_one_by_one(provider: Ec2Provider, kept: Ask) -> None:
    cluster = provider.ensure(kept())
    old, new = (provider.host(cluster, cluster.load_host, name) for name in ("v1-001k-r1-1", "v2-001k-r1-1"))
    for host in (old, new):
        host.write(PurePosixPath("load.log"), "lines")
    provider.clear(cluster, keep=frozenset({"v2-001k-r1-1"}))
    assert [host.read_tail(PurePosixPath("load.log"), max_bytes=9) for host in (old, new)] == ["", "lines"]
    assert provider.host(cluster, cluster.load_host).read_tail(PurePosixPath("prepared"), max_bytes=9) == "ok\n"


def test_what_is_left_on_a_host_is_named(provider: Ec2Provider, kept: Ask, hosts: dict[str, Any]) -> None:
    cluster = provider.ensure(kept())
    hosts[cluster.nodes[1].facts["instance_id"]].refuses = True
    with pytest.raises(ProviderError, match=r"not clear: node2: process 7 \(java\) runs"):
        provider.clear(cluster)


def test_they_are_listed_by_their_name_and_end_like_others(provider: Ec2Provider, kept: Ask, cloud: Cloud) -> None:
    cluster = provider.ensure(kept())
    assert [str(one.id) for one in provider.clusters()] == ["azul/hosts/1"]
    provider.destroy(cluster.id)
    provider.destroy(cluster.id)
    assert cloud.nothing_left(), cloud.leftovers()


def test_hosts_that_replace_others_have_their_image_although_the_parameter_names_a_newer_one(
    provider: Ec2Provider, kept: Ask, cloud: Cloud, account: WatchedAccount
) -> None:
    parameter = cloud.landscape.image_parameter
    before = provider.ensure(with_image(kept(), parameter))
    newer = {"Parameter": {"Name": parameter, "Value": "ami-0newer"}}
    account.answers["GetParameter"] = newer
    cloud.kill(before.load_host.facts["instance_id"])
    after = provider.ensure(with_image(kept(1), parameter))
    assert len(ids(after) - ids(before)) == 1
    assert {host.facts["image"] for host in after.hosts} == {cloud.landscape.image}


def with_image(request: ClusterRequest, image: str) -> ClusterRequest:
    return request.model_copy(update={"options": {**request.options, "image": image}, "was_whole": True})


LONG_AGO_S = 3700
"""EC2 shows hosts that have ended for less time."""


def test_a_load_host_that_ended_long_ago_is_replaced_and_so_is_the_one_in_its_place(
    provider: Ec2Provider, kept: Ask, cloud: Cloud, clock: SteppingClock
) -> None:
    before = provider.ensure(kept())
    for hours in (1, 2):
        cloud.kill(before.load_host.facts["instance_id"])
        cloud.skip(LONG_AGO_S)
        clock.sleep(LONG_AGO_S)
        after = provider.ensure(kept(hours))
        assert (after.nodes, len(ids(after) - ids(before))) == (before.nodes, 1)
        before = after
    assert len(cloud.census.entries) == 6


def test_hosts_of_a_deleted_campaign_are_followed_by_those_of_the_next_one_with_its_name(
    provider: Ec2Provider, kept: Ask, cloud: Cloud, clock: SteppingClock, tmp_path: Path
) -> None:
    before = provider.ensure(kept())
    provider.destroy(before.id)
    cloud.skip(LONG_AGO_S)
    clock.sleep(LONG_AGO_S)
    no_records = StoredLaunches(ObjectStore(str(tmp_path / "new")), Outage(clock))
    after = replace(provider, launches=no_records).ensure(kept(1))
    assert (after.id, len(after.hosts), ids(after) & ids(before)) == (before.id, 4, set())
    assert len(cloud.census.entries) == 8
