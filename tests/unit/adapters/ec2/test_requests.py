from dataclasses import replace
from typing import Any

import pytest
from moto.ec2.models.instance_types import INSTANCE_TYPES

from plimsoll.adapters.providers.ec2.instance_types import InstanceStore, instance_store
from plimsoll.adapters.providers.ec2.launch_plan import (
    LaunchPlan,
    client_token,
    create_placement_group,
    group_name,
    run_instances,
)
from plimsoll.adapters.providers.ec2.network import Subnet
from plimsoll.adapters.providers.ec2.tags import tags_of
from plimsoll.adapters.providers.ec2.user_data import LIMITS, kernel_parameters
from plimsoll.domain.hosts.cluster import ClusterId

MOST_OF_A_TAG = 256
"""Characters that AWS takes."""


def test_the_hosts_private_key_is_not_shown(wanted: LaunchPlan) -> None:
    assert "the private key" not in repr(
        replace(wanted, user_data={"node": "the private key", "load": "the private key"})
    )


def test_all_hosts_of_a_role_come_or_none(wanted: LaunchPlan, subnet: Subnet) -> None:
    nodes, load = (run_instances(wanted, role, subnet, 0) for role in ("node", "load"))
    assert (nodes["MinCount"], nodes["MaxCount"], nodes["InstanceType"]) == (3, 3, "r5d.2xlarge")
    assert (load["MinCount"], load["MaxCount"], load["InstanceType"]) == (1, 1, "c5.2xlarge")


def test_hosts_end_with_their_shutdown_hide_their_metadata_and_encrypt_their_disk(
    wanted: LaunchPlan, subnet: Subnet
) -> None:
    request = run_instances(wanted, "node", subnet, 0)
    assert request["InstanceInitiatedShutdownBehavior"] == "terminate"
    assert request["MetadataOptions"]["HttpTokens"] == "required"
    disk = request["BlockDeviceMappings"][0]
    assert disk["DeviceName"] == "/dev/xvda"
    assert (disk["Ebs"]["Encrypted"], disk["Ebs"]["DeleteOnTermination"], disk["Ebs"]["VolumeSize"]) == (True, True, 30)


def described(kind: str) -> Any:
    """What DescribeInstanceTypes says of a type."""
    return INSTANCE_TYPES[kind]


@pytest.mark.parametrize(
    ("kind", "disks"), [("r3.2xlarge", 1), ("c3.2xlarge", 2), ("i2.xlarge", 1), ("m3.xlarge", 2), ("d2.xlarge", 3)]
)
def test_disks_of_older_types_are_mapped_or_else_hosts_would_have_none(
    wanted: LaunchPlan, subnet: Subnet, kind: str, disks: int
) -> None:
    chosen = replace(wanted, disks={"node": instance_store(described(kind)), "load": InstanceStore()})
    root, *own = run_instances(chosen, "node", subnet, 0)["BlockDeviceMappings"]
    assert root["DeviceName"] == "/dev/xvda"
    names = [("/dev/sdb", "ephemeral0"), ("/dev/sdc", "ephemeral1"), ("/dev/sdd", "ephemeral2")]
    assert [(one["DeviceName"], one["VirtualName"]) for one in own] == names[:disks]
    assert len(run_instances(chosen, "load", subnet, 0)["BlockDeviceMappings"]) == 1


@pytest.mark.parametrize(
    ("kind", "disks"), [("r5d.2xlarge", 1), ("i3.4xlarge", 2), ("c5.2xlarge", 0), ("m5d.24xlarge", 4)]
)
def test_nvme_disks_are_there_without_a_mapping(kind: str, disks: int) -> None:
    assert (instance_store(described(kind)).count, instance_store(described(kind)).mappings) == (disks, [])


def test_the_size_of_all_disks_of_a_type_is_known() -> None:
    assert instance_store(described("i3.4xlarge")).gigabytes == 3800


@pytest.mark.parametrize("asked", [False, True])
def test_hosts_have_public_addresses_only_where_they_are_asked_for(
    wanted: LaunchPlan, subnet: Subnet, asked: bool
) -> None:
    chosen = replace(wanted, options=wanted.options.model_copy(update={"public_addresses": asked}))
    (interface,) = run_instances(chosen, "node", subnet, 0)["NetworkInterfaces"]
    assert interface["AssociatePublicIpAddress"] is asked
    assert (interface["SubnetId"], interface["Groups"]) == (subnet.id, [wanted.security_group])


@pytest.mark.parametrize("tenancy", ["default", "dedicated"])
def test_tenancy_is_as_chosen(wanted: LaunchPlan, subnet: Subnet, tenancy: str) -> None:
    chosen = replace(wanted, options=wanted.options.model_copy(update={"tenancy": tenancy}))
    assert run_instances(chosen, "node", subnet, 0)["Placement"]["Tenancy"] == tenancy


def test_hosts_are_on_demand(wanted: LaunchPlan, subnet: Subnet) -> None:
    assert "InstanceMarketOptions" not in run_instances(wanted, "node", subnet, 0)


def test_everything_that_a_launch_makes_carries_the_tags(wanted: LaunchPlan, subnet: Subnet) -> None:
    request = run_instances(wanted, "node", subnet, 0)
    marked = {spec["ResourceType"]: tags_of({"Tags": spec["Tags"]}) for spec in request["TagSpecifications"]}
    assert set(marked) == {"instance", "volume", "network-interface"}
    for found in marked.values():
        assert (found.cluster_id, found.role, found.owner, found.expires) == (
            wanted.id,
            "node",
            "airflow:run#0@here",
            wanted.expires,
        )
        assert (found.nodes, found.usd_per_hour) == (3, 0.576)


def test_the_tags_tell_all_that_the_host_was_tuned_to(wanted: LaunchPlan, subnet: Subnet) -> None:
    tags = run_instances(wanted, "node", subnet, 0)["TagSpecifications"][0]["Tags"]
    told = tags_of({"Tags": tags}).tuning
    for setting in ("readahead 4 KiB", "transparent huge pages madvise", "swap off", "nofile 1048576"):
        assert setting in told
    assert all(f"{name} {value}" in told for name, value in {**kernel_parameters(0), **LIMITS}.items())


def test_the_tags_tell_of_huge_pages_and_stay_short_enough(wanted: LaunchPlan, subnet: Subnet) -> None:
    options = wanted.options.model_copy(update={"huge_pages": 1 << 40})
    tags = run_instances(replace(wanted, options=options), "node", subnet, 0)["TagSpecifications"][0]["Tags"]
    assert "vm.nr_overcommit_hugepages 524288" in tags_of({"Tags": tags}).tuning
    assert len(tags_of({"Tags": tags}).tuning) <= MOST_OF_A_TAG


def test_all_load_hosts_come_with_one_launch_and_say_how_many_they_are(wanted: LaunchPlan, subnet: Subnet) -> None:
    request = run_instances(replace(wanted, load_hosts=3), "load", subnet, 0)
    assert (request["MinCount"], request["MaxCount"]) == (3, 3)
    assert tags_of({"Tags": request["TagSpecifications"][0]["Tags"]}).load_hosts == 3


def test_an_unknown_price_is_no_tag(wanted: LaunchPlan, subnet: Subnet) -> None:
    tags = run_instances(wanted, "load", subnet, 0)["TagSpecifications"][0]["Tags"]
    assert tags_of({"Tags": tags}).usd_per_hour is None


def test_the_same_request_twice_is_the_same(wanted: LaunchPlan, subnet: Subnet) -> None:
    assert run_instances(wanted, "node", subnet, 0) == run_instances(wanted, "node", subnet, 0)


def test_every_launch_has_a_token_of_its_own(wanted: LaunchPlan, key: ClusterId) -> None:
    of_another = replace(wanted, id=key.model_copy(update={"name": "g1-040k-r3/3"}))
    tokens = {
        client_token(wanted, "node", "us-east-1a", 0),
        client_token(wanted, "load", "us-east-1a", 0),
        client_token(wanted, "node", "us-east-1b", 0),
        client_token(wanted, "node", "us-east-1a", 1),
        client_token(replace(wanted, store="s3://yours"), "node", "us-east-1a", 0),
        client_token(of_another, "node", "us-east-1a", 0),
        client_token(wanted, "node", "us-east-1a", 0, ["i-1"]),
        client_token(wanted, "node", "us-east-1a", 0, ["i-1", "i-2"]),
    }
    assert len(tokens) == 8
    assert {len(token) for token in tokens} == {64}  # the most that AWS takes


def test_hosts_stand_in_a_placement_group_of_their_zone(wanted: LaunchPlan, subnet: Subnet) -> None:
    placement = run_instances(wanted, "node", subnet, 0)["Placement"]
    assert placement["GroupName"] == create_placement_group(wanted, subnet)["GroupName"]
    assert placement["AvailabilityZone"] == "us-east-1a"
    zone, other = "us-east-1a", "us-east-1b"
    assert group_name("s3://mine", wanted.id, zone) != group_name("s3://mine", wanted.id, other)
    assert group_name("s3://mine", wanted.id, zone) != group_name("s3://yours", wanted.id, zone)


def test_a_placement_group_is_a_choice(wanted: LaunchPlan, subnet: Subnet) -> None:
    alone = replace(wanted, options=wanted.options.model_copy(update={"placement_group": "none"}))
    assert "GroupName" not in run_instances(alone, "node", subnet, 0)["Placement"]
