"""A cluster's life on EC2's own API: launched, found, destroyed, whatever comes between."""

import base64
import json
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.cloud.cloud import REGION, Cloud
from tests.cloud.lifecycle import machine_of
from tests.fakes.clock import SteppingClock
from tests.integration.ec2.campaign import FakeHost
from tests.integration.ec2.watched_account import WatchedAccount

from plimsoll.adapters.providers.ec2 import Ec2Provider
from plimsoll.adapters.providers.ec2.errors import CloudError
from plimsoll.adapters.providers.ec2.host_keys import host_key
from plimsoll.adapters.providers.ssh import WrongHostKey
from plimsoll.adapters.stores.object_store import ObjectStore
from plimsoll.domain.cluster import ClusterRequest, HostInfo
from plimsoll.domain.errors import ProviderError, Unreachable
from plimsoll.services.hosts.launch_records import StoredLaunches
from plimsoll.services.hosts.outage import Outage


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


def test_installations_that_share_an_account_have_hosts_of_their_own(
    provider: Ec2Provider, ask: Callable[..., ClusterRequest], clock: SteppingClock, cloud: Cloud, tmp_path: Path
) -> None:
    records = StoredLaunches(ObjectStore(str(tmp_path / "others")), Outage(clock))
    others = replace(provider, store="s3://others/runs", launches=records)
    mine, theirs = provider.ensure(ask()), others.ensure(ask())
    assert {host.facts["zone"] for host in (*mine.hosts, *theirs.hosts)} == {"us-east-1a"}
    assert len({host.facts["instance_id"] for host in (*mine.hosts, *theirs.hosts)}) == 8
    others.destroy(theirs.id)
    assert provider.find(mine.id) == mine
    assert len(cloud.leftovers()["placement_groups"]) == 1


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


def test_an_answer_that_was_lost_leads_to_no_second_launch(
    provider: Ec2Provider, ask: Callable[..., ClusterRequest], account: WatchedAccount
) -> None:
    account.lost = ["RunInstances"]
    with pytest.raises(CloudError, match="can't be reached"):
        provider.ensure(ask())
    assert len(instances(account)) == 1
    provider.ensure(ask())
    assert len(instances(account)) == 4


@pytest.mark.parametrize("refused", [1, 2])
def test_a_full_zone_moves_all_roles_together(
    provider: Ec2Provider, ask: Callable[..., ClusterRequest], account: WatchedAccount, refused: Any, said: list[str]
) -> None:
    account.faults = {"RunInstances": ["InsufficientInstanceCapacity"]} if refused == 1 else {}
    if refused == 2:  # the nodes come up, the load host does not
        account.refuse_nth("RunInstances", 2, "InsufficientInstanceCapacity")
    cluster = provider.ensure(ask())
    assert {host.facts["zone"] for host in cluster.hosts} == {"us-east-1b"}
    assert len(instances(account)) == 4
    assert "no room in us-east-1a" in said[0]
    provider.destroy(cluster.id)
    assert provider.clusters() == []


def test_a_used_up_quota_is_waited_for(
    provider: Ec2Provider,
    ask: Callable[..., ClusterRequest],
    account: WatchedAccount,
    clock: SteppingClock,
    said: list[str],
) -> None:
    account.faults = {"RunInstances": ["VcpuLimitExceeded"] * 3}
    cluster = provider.ensure(ask())
    assert {host.facts["zone"] for host in cluster.hosts} == {"us-east-1a"}
    assert sum(clock.slept) > 30
    assert len(said) == 3
    assert "waiting" in said[0]


def test_patience_with_the_quota_ends(
    provider: Ec2Provider, ask: Callable[..., ClusterRequest], account: WatchedAccount
) -> None:
    account.faults = {"RunInstances": ["VcpuLimitExceeded"] * 50}
    with pytest.raises(ProviderError, match="no room within") as caught:
        provider.ensure(ask())
    assert "quota" in caught.value.mend
    assert instances(account) == []


def test_a_token_that_was_used_up_is_followed_by_the_next(
    provider: Ec2Provider, ask: Callable[..., ClusterRequest], account: WatchedAccount
) -> None:
    account.faults = {"RunInstances": ["IdempotentInstanceTerminated"]}
    assert len(provider.ensure(ask()).hosts) == 4


def test_a_missing_permission_is_named_at_once(
    provider: Ec2Provider, ask: Callable[..., ClusterRequest], account: WatchedAccount, clock: SteppingClock
) -> None:
    account.faults = {"RunInstances": ["UnauthorizedOperation"]}
    with pytest.raises(ProviderError, match="allow the action ec2:RunInstances"):
        provider.ensure(ask())
    assert clock.slept == []


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


def test_half_a_cluster_is_made_whole_with_fresh_hosts(
    provider: Ec2Provider, ask: Callable[..., ClusterRequest], account: WatchedAccount
) -> None:
    cluster = provider.ensure(ask())
    account.client("ec2", REGION).terminate_instances(InstanceIds=[cluster.nodes[1].facts["instance_id"]])
    again = provider.ensure(ask())
    assert len(again.hosts) == 4
    assert len(instances(account)) == 4
    assert provider.find(cluster.id) == again


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


def test_the_key_that_hosts_must_show_is_one_that_openssh_reads(
    identity: Any, ask: Callable[..., ClusterRequest], tmp_path: Path
) -> None:
    made = host_key(identity, ask().id)
    file = tmp_path / "ssh_host_ed25519_key"
    file.write_text(made.private)
    file.chmod(0o600)
    read = subprocess.run(["ssh-keygen", "-y", "-f", str(file)], capture_output=True, text=True, check=True, timeout=30)
    assert read.stdout.split()[:2] == made.public.split()


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


def disks(cloud: Cloud, hosts: Sequence[HostInfo]) -> list[list[str]]:
    """Return the own disks that each host shows."""
    return [list(machine_of(cloud.lifecycle.lives[host.identity]).disks) for host in hosts]


def test_hosts_of_older_types_have_their_disks_because_their_launch_maps_them(
    provider: Ec2Provider, ask: Callable[..., ClusterRequest], cloud: Cloud
) -> None:
    cluster = provider.ensure(ask(instance_types={"node": "r3.2xlarge", "load": "c3.2xlarge"}))
    assert disks(cloud, cluster.hosts) == [["xvdb"]] * 3 + [["xvdb", "xvdc"]]


def test_hosts_of_newer_types_have_theirs_without_that(
    provider: Ec2Provider, ask: Callable[..., ClusterRequest], cloud: Cloud
) -> None:
    assert disks(cloud, provider.ensure(ask()).hosts) == [["nvme1n1"]] * 3 + [[]]
