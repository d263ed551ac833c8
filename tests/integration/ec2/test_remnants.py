"""What crashes leave behind is found by its tags and removed; what has none of them is never touched."""

from datetime import timedelta

import pytest
from tests.integration.ec2.conftest import BEGAN, REGION, STORE

from plimsoll.adapters.ec2 import remnants
from plimsoll.adapters.ec2.tags import as_list, cluster_tags
from plimsoll.domain.cell import AttemptKey
from plimsoll.domain.errors import ProviderError

KEY = AttemptKey(campaign_id="azul", cell_id="zgc-020k-r1", attempt=1)


def tagged(kind, store=STORE, key=KEY):
    return [{"ResourceType": kind, "Tags": as_list(cluster_tags(key, "cli-1", store, BEGAN))}]


@pytest.fixture
def ec2(account):
    return account.client("ec2", REGION)


def everything(ec2, store=STORE, name="left", key=KEY):
    """One of each kind, made as if a cluster had left it."""
    vpc = ec2.describe_vpcs()["Vpcs"][0]["VpcId"]
    subnet = ec2.describe_subnets()["Subnets"][0]["SubnetId"]
    image = ec2.describe_images(Owners=["amazon"])["Images"][0]["ImageId"]
    tags = tagged("instance", store, key)
    ec2.run_instances(ImageId=image, MinCount=1, MaxCount=1, SubnetId=subnet, TagSpecifications=tags)
    ec2.create_volume(AvailabilityZone="us-east-1a", Size=8, TagSpecifications=tagged("volume", store, key))
    ec2.create_network_interface(SubnetId=subnet, TagSpecifications=tagged("network-interface", store, key))
    ec2.create_key_pair(KeyName=name, TagSpecifications=tagged("key-pair", store, key))
    ec2.create_placement_group(
        GroupName=name, Strategy="cluster", TagSpecifications=tagged("placement-group", store, key)
    )
    ec2.create_security_group(
        GroupName=name, Description="left", VpcId=vpc, TagSpecifications=tagged("security-group", store, key)
    )


def census(ec2):
    """Ids of all that exists, of every kind."""
    living = [{"Name": "instance-state-name", "Values": ["pending", "running"]}]
    instances = ec2.describe_instances(Filters=living)["Reservations"]
    # Of interfaces only those that have tags: moto keeps an instance's own when that is terminated.
    interfaces = [one for one in ec2.describe_network_interfaces()["NetworkInterfaces"] if one["TagSet"]]
    return {
        "instances": sorted(one["InstanceId"] for each in instances for one in each["Instances"]),
        "volumes": sorted(one["VolumeId"] for one in ec2.describe_volumes()["Volumes"]),
        "interfaces": sorted(one["NetworkInterfaceId"] for one in interfaces),
        "keys": sorted(one["KeyName"] for one in ec2.describe_key_pairs()["KeyPairs"]),
        "placement": sorted(one["GroupName"] for one in ec2.describe_placement_groups()["PlacementGroups"]),
        "security": sorted(one["GroupId"] for one in ec2.describe_security_groups()["SecurityGroups"]),
    }


def test_every_kind_is_found_as_what_is_left_of_a_cluster_and_removed(provider, ec2):
    before = census(ec2)
    everything(ec2)
    assert all(len(now) > len(then) for now, then in zip(census(ec2).values(), before.values(), strict=True))
    (left,) = provider.clusters()
    assert (left.key, left.owner) == (KEY, "cli-1")
    provider.destroy(KEY)
    assert provider.clusters() == []
    assert census(ec2) == before


def test_a_single_volume_is_enough_to_be_found(provider, ec2):
    ec2.create_volume(AvailabilityZone="us-east-1a", Size=8, TagSpecifications=tagged("volume"))
    assert [cluster.key for cluster in provider.clusters()] == [KEY]


def test_what_others_have_is_neither_seen_nor_touched(provider, ec2, ask):
    mine = provider.ensure(ask())
    everything(ec2, store="s3://somebody-else/runs", name="theirs", key=mine.key)
    image = ec2.describe_images(Owners=["amazon"])["Images"][0]["ImageId"]
    ec2.run_instances(ImageId=image, MinCount=1, MaxCount=1)
    ec2.create_volume(AvailabilityZone="us-east-1a", Size=8)
    assert [cluster.key for cluster in provider.clusters()] == [mine.key]
    assert len(provider.clusters()[0].hosts) == 4

    provider.destroy(mine.key)
    left = census(ec2)
    assert (len(left["instances"]), len(left["keys"]), left["placement"]) == (2, 1, ["theirs"])


def test_a_campaign_that_the_store_has_lost_is_looked_for_everywhere(provider, ec2):
    lost = KEY.model_copy(update={"campaign_id": "lost"})
    ec2.create_volume(AvailabilityZone="us-east-1a", Size=8, TagSpecifications=tagged("volume", key=lost))
    provider.destroy(lost)
    assert provider.clusters() == []


def test_what_can_not_be_removed_is_named(provider, ask, account, monkeypatch):
    monkeypatch.setattr(remnants, "_PATIENCE", timedelta(seconds=20))
    key = provider.ensure(ask()).key
    account.faults = {"DeletePlacementGroup": ["InvalidPlacementGroup.InUse"] * 1000}
    with pytest.raises(ProviderError, match=r"placement group plimsoll-azul-g1-040k-r3-1-us-east-1a: .*InUse"):
        provider.destroy(key)


def test_a_refusal_to_destroy_names_the_action_to_allow(provider, ask, account):
    key = provider.ensure(ask()).key
    account.faults = {"TerminateInstances": ["UnauthorizedOperation"]}
    with pytest.raises(ProviderError, match="allow the action ec2:TerminateInstances"):
        provider.destroy(key)
