"""A cluster's life on EC2's own API: launched, found, destroyed, whatever comes between."""

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.cloud.cloud import REGION, Cloud
from tests.fakes.clock import SteppingClock
from tests.integration.ec2.campaign import FakeHost
from tests.integration.ec2.watched_account import WatchedAccount

from plimsoll.adapters.providers.ec2 import Ec2Provider
from plimsoll.adapters.providers.ec2.user_data import host_key
from plimsoll.adapters.providers.ssh import WrongHostKey
from plimsoll.domain.hosts.cluster import ClusterRequest
from plimsoll.domain.text.errors import ProviderError, Unreachable
from plimsoll.services.hosts.paid_hosts import StoredLaunches


def instances(account: WatchedAccount, *states: Any) -> Any:
    found = account.client("ec2", REGION).describe_instances(
        Filters=[{"Name": "instance-state-name", "Values": list(states or ("pending", "running"))}]
    )
    return [one for reservation in found["Reservations"] for one in reservation["Instances"]]


def test_a_cluster_comes_up_in_one_zone_with_the_types_that_were_asked_for(
    provider: Ec2Provider, ask: Callable[..., ClusterRequest], account: WatchedAccount, cloud: Cloud
) -> None:
    cluster = provider.ensure(ask())
    assert [host.name for host in cluster.hosts] == ["node1", "node2", "node3", "load"]
    assert {host.facts["zone"] for host in cluster.hosts} == {"us-east-1a"}
    assert [host.facts["instance_type"] for host in cluster.hosts] == ["r5d.2xlarge"] * 3 + ["c5.2xlarge"]
    assert "transparent huge pages madvise" in cluster.load_host.facts["tuning"]
    assert [host.usd_per_hour for host in cluster.hosts] == [0.576] * 3 + [0.34]
    (group,) = cloud.leftovers()["placement_groups"]
    assert group.endswith("-azul-g1-040k-r3-1-us-east-1a")
    assert len(instances(account)) == 4


def test_a_cluster_with_two_load_hosts_is_found_with_both_or_not_at_all(
    provider: Ec2Provider, ask: Callable[..., ClusterRequest], account: WatchedAccount, cloud: Cloud
) -> None:
    request = ask().model_copy(update={"load_hosts": 2})
    cluster = provider.ensure(request)
    assert [host.name for host in cluster.load_hosts] == ["load", "load2"]
    assert [host.usd_per_hour for host in cluster.load_hosts] == [0.34, 0.34]
    assert provider.find(cluster.id) == provider.ensure(request) == cluster
    account.client("ec2", REGION).terminate_instances(InstanceIds=[cluster.load_hosts[1].facts["instance_id"]])
    assert provider.find(cluster.id) is None
    provider.destroy(cluster.id)
    assert not any(cloud.leftovers().values())
    assert not instances(account)


@pytest.mark.parametrize("asked", [False, True])
def test_hosts_hide_their_metadata_encrypt_their_disks_and_are_private_unless_asked(
    provider: Ec2Provider, ask: Callable[..., ClusterRequest], account: WatchedAccount, cloud: Cloud, asked: Any
) -> None:
    ec2 = account.client("ec2", REGION)
    for subnet in cloud.landscape.subnets.values():  # as default subnets are
        ec2.modify_subnet_attribute(SubnetId=subnet, MapPublicIpOnLaunch={"Value": True})
    cluster = provider.ensure(ask(public_addresses=asked))
    running = instances(account)
    assert {one["MetadataOptions"]["HttpTokens"] for one in running} == {"required"}
    assert {bool(one.get("PublicIpAddress")) for one in running} == {asked}
    assert {host.address for host in cluster.hosts} == {one["PrivateIpAddress"] for one in running}
    assert {volume["Encrypted"] for volume in ec2.describe_volumes()["Volumes"]} == {True}


def test_a_cluster_is_found_by_everyone_until_it_is_destroyed(
    provider: Ec2Provider, ask: Callable[..., ClusterRequest], account: WatchedAccount, cloud: Cloud
) -> None:
    cluster = provider.ensure(ask())
    assert provider.find(cluster.id) == cluster
    (listed,) = provider.clusters()
    assert listed.model_copy(update={"resources": ()}) == cluster
    kinds = [resource.rpartition(" ")[0] for resource in listed.resources]
    assert [kinds.count(kind) for kind in ("instance", "volume", "interface", "placement group")] == [4, 4, 4, 1]
    provider.destroy(cluster.id)
    assert provider.find(cluster.id) is None
    assert provider.clusters() == []
    assert cloud.nothing_left(), cloud.leftovers()


def test_destroying_again_is_no_error(provider: Ec2Provider, ask: Callable[..., ClusterRequest]) -> None:
    key = provider.ensure(ask()).id
    provider.destroy(key)
    provider.destroy(key)


def test_asking_again_launches_nothing(
    provider: Ec2Provider, ask: Callable[..., ClusterRequest], account: WatchedAccount
) -> None:
    first = provider.ensure(ask())
    assert provider.ensure(ask()) == first
    assert account.called("RunInstances") == 2  # one a role


def test_attempts_do_not_share_hosts(
    provider: Ec2Provider, ask: Callable[..., ClusterRequest], account: WatchedAccount
) -> None:
    first, second = provider.ensure(ask(attempt=1)), provider.ensure(ask(attempt=2))
    assert len(instances(account)) == 8
    provider.destroy(first.id)
    assert [cluster.id for cluster in provider.clusters()] == [second.id]


def test_hosts_get_user_data_with_the_key_that_they_must_show(
    provider: Ec2Provider, ask: Callable[..., ClusterRequest], account: WatchedAccount, identity: Any
) -> None:
    cluster = provider.ensure(ask())
    attribute = account.client("ec2", REGION).describe_instance_attribute(
        InstanceId=cluster.load_host.facts["instance_id"], Attribute="userData"
    )
    document = json.loads(base64.b64decode(attribute["UserData"]["Value"]).partition(b"\n")[2])
    assert document["ssh_keys"]["ed25519_public"] == host_key(identity, cluster.id).public
    assert document["users"][0]["name"] == "plimsoll"


def test_hosts_are_reached_with_the_key_that_they_must_show(
    provider: Ec2Provider, ask: Callable[..., ClusterRequest], identity: Any
) -> None:
    targets = []

    def connect(key: Any, info: Any, target: Any) -> Any:
        targets.append(target)
        return FakeHost(info, ["ok"])

    provider = replace(provider, connect=connect)
    cluster = provider.ensure(ask())
    provider.host(cluster, cluster.load_host)
    assert {target.host_key for target in targets} == {host_key(identity, cluster.id).public}
    assert (targets[-1].address, targets[-1].user) == (cluster.load_host.address, "plimsoll")
    assert targets[-1].connection_id == "plimsoll_ssh"


def test_half_a_cluster_is_not_found_but_listed_and_destroyed(
    provider: Ec2Provider, ask: Callable[..., ClusterRequest], account: WatchedAccount
) -> None:
    cluster = provider.ensure(ask())
    ec2 = account.client("ec2", REGION)
    ec2.terminate_instances(InstanceIds=[cluster.nodes[1].facts["instance_id"]])
    assert provider.find(cluster.id) is None
    (half,) = provider.clusters()
    assert (half.id, len(half.hosts)) == (cluster.id, 3)
    provider.destroy(cluster.id)
    assert provider.clusters() == []


def test_hosts_are_waited_for_until_they_are_prepared(
    provider: Ec2Provider, ask: Callable[..., ClusterRequest], hosts: dict[str, Any], clock: SteppingClock
) -> None:
    hosts["node2"] = [Unreachable("not yet"), "", "ok"]
    provider.ensure(ask())
    assert len(clock.slept) == 2


def test_a_host_that_never_answers_is_named(
    provider: Ec2Provider, ask: Callable[..., ClusterRequest], hosts: dict[str, Any]
) -> None:
    hosts["load"] = [Unreachable("can't be reached: timed out")]
    with pytest.raises(ProviderError, match=r"not ready within 0:10:00: load \(i-.*timed out"):
        provider.ensure(ask())


def test_a_host_that_could_not_be_prepared_says_why(
    provider: Ec2Provider, ask: Callable[..., ClusterRequest], hosts: dict[str, Any]
) -> None:
    hosts["node3"] = ["can't make a file system on /dev/nvme1n1"]
    with pytest.raises(ProviderError, match="file system on /dev/nvme1n1"):
        provider.ensure(ask())


def test_a_host_with_another_key_is_refused(
    provider: Ec2Provider, ask: Callable[..., ClusterRequest], hosts: dict[str, Any], clock: SteppingClock
) -> None:
    hosts["node1"] = [WrongHostKey("its host key is not the expected one")]
    with pytest.raises(WrongHostKey):
        provider.ensure(ask())
    assert clock.slept == []


def test_throttling_is_absorbed(
    provider: Ec2Provider, ask: Callable[..., ClusterRequest], account: WatchedAccount
) -> None:
    """By boto3 itself: the answer comes from the server, as AWS's would."""
    with account.answering("RunInstances", "RequestLimitExceeded", 503, times=2):
        assert len(provider.ensure(ask()).hosts) == 4


def test_a_full_zone_is_asked_once_although_it_answers_as_a_server_that_failed(
    provider: Ec2Provider, ask: Callable[..., ClusterRequest], account: WatchedAccount
) -> None:
    with account.answering("RunInstances", "InsufficientInstanceCapacity", 500, times=1):
        cluster = provider.ensure(ask())
    assert {host.facts["zone"] for host in cluster.hosts} == {"us-east-1b"}


def test_hosts_are_on_record_in_the_account_that_their_connection_leads_to(
    provider: Ec2Provider, ask: Callable[..., ClusterRequest], records: StoredLaunches, account: WatchedAccount
) -> None:
    cluster = provider.ensure(ask())
    assert {launch.account for launch in records.of(cluster.id)} == {provider.account()} != {""}
    account.answers["GetCallerIdentity"] = {"Account": "222222222222"}
    assert provider.account() == "222222222222"


def test_hosts_whose_answer_was_lost_are_on_record_in_their_account_too(
    provider: Ec2Provider, ask: Callable[..., ClusterRequest], records: StoredLaunches, account: WatchedAccount
) -> None:
    account.lost = ["RunInstances"]
    with pytest.raises(ProviderError):
        provider.ensure(ask())
    provider.destroy(ask().id)
    assert {launch.account for launch in records.of(ask().id) if launch.hosts} == {provider.account()}
