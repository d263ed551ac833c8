from datetime import UTC, datetime
from typing import Any

from plimsoll.adapters.providers.ec2.cloud import CloudRegion
from plimsoll.adapters.providers.ec2.tags import (
    LOAD_HOSTS,
    NODES,
    PRICE,
    ROLE,
    as_list,
    by_cluster,
    cluster_tags,
    described,
    is_whole,
)

PLACE = CloudRegion("aws_default", "us-east-1")
LAUNCHED = datetime(2026, 1, 31, 12, tzinfo=UTC)
EXPIRES = datetime(2026, 1, 31, 15, tzinfo=UTC)
NOW = datetime(2026, 1, 31, 13, tzinfo=UTC)


def instance(key: Any, role: Any, index: int = 0, **changes: Any) -> Any:
    tags = {**cluster_tags(key, "cli-1", "s3://b", EXPIRES), ROLE: role, NODES: "2", LOAD_HOSTS: "1", PRICE: "0.5"}
    return {
        "InstanceId": f"i-{role}-{9 - index}",
        "InstanceType": "r5d.2xlarge",
        "ImageId": "ami-1",
        "PrivateIpAddress": f"10.0.0.{index + 1}",
        "AmiLaunchIndex": index,
        "LaunchTime": LAUNCHED,
        "Placement": {"AvailabilityZone": "us-east-1a", "GroupName": "group", "Tenancy": "default"},
        "Tags": as_list(tags),
        **changes,
    }


def whole(key: Any) -> Any:
    return [instance(key, "load", 0), instance(key, "node", 1), instance(key, "node", 0)]


def test_nodes_are_named_in_the_order_of_their_launch(key: Any) -> None:
    cluster = described(key, whole(key), PLACE, NOW)
    assert [(host.name, host.address) for host in cluster.hosts] == [
        ("node1", "10.0.0.1"),
        ("node2", "10.0.0.2"),
        ("load", "10.0.0.1"),
    ]


def test_a_cluster_knows_what_its_tags_say(key: Any) -> None:
    cluster = described(key, whole(key), PLACE, NOW)
    assert (cluster.owner, cluster.created_at, cluster.expires_at) == ("cli-1", LAUNCHED, EXPIRES)
    host = cluster.load_host
    assert (host.since, host.usd_per_hour) == (LAUNCHED, 0.5)
    assert host.facts["instance_id"] == "i-load-9"
    assert host.facts["zone"] == "us-east-1a"
    assert host.facts["image"] == "ami-1"


def test_a_cluster_is_whole_with_all_its_nodes_and_its_load_host(key: Any) -> None:
    assert is_whole(whole(key))
    assert not is_whole([])
    for missing in range(3):
        assert not is_whole([one for number, one in enumerate(whole(key)) if number != missing])
    assert not is_whole([*whole(key), instance(key, "node", 2)])


def test_a_cluster_with_several_load_hosts_is_whole_with_all_of_them(key: Any) -> None:
    def host(role: Any, index: int) -> Any:
        one = instance(key, role, index)
        return {**one, "Tags": [*one["Tags"], *as_list({LOAD_HOSTS: "2"})]}

    every = [host("node", 0), host("node", 1), host("load", 0), host("load", 1)]
    assert is_whole(every)
    assert not is_whole(every[:-1])
    names = [one.name for one in described(key, every, PLACE, NOW).load_hosts]
    assert names == ["load", "load2"]


def test_what_is_left_of_a_cluster_is_a_cluster(key: Any) -> None:
    tags = as_list(cluster_tags(key, "cli-1", "s3://b", EXPIRES))
    cluster = described(key, [{"VolumeId": "vol-1", "Tags": tags}], PLACE, NOW)
    assert (cluster.owner, cluster.created_at, cluster.expires_at) == ("cli-1", NOW, EXPIRES)
    assert [host.address for host in cluster.hosts] == ["unknown"]


def test_resources_are_told_apart_by_attempt_and_those_of_others_left_out(key: Any) -> None:
    other = key.model_copy(update={"name": "g1-040k-r3/9"})
    interface = {"NetworkInterfaceId": "eni-1", "TagSet": as_list(cluster_tags(key, "cli-1", "s3://b", EXPIRES))}
    answers = [*whole(key), instance(other, "load"), interface, {"VolumeId": "vol-2", "Tags": []}]
    found = by_cluster(answers)
    assert {name: len(resources) for name, resources in found.items()} == {key: 4, other: 1}
