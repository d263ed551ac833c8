"""Launching and ending instances through plain boto3, as AWS documents it."""

import base64
from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.cloud.cloud import Cloud
from tests.support.cloud.clients import described, launch, state


def code_of(raised: pytest.ExceptionInfo[ClientError]) -> str:
    return str(raised.value.response["Error"]["Code"])


def test_states_follow_each_other_with_time(ec2: Any, instant: Cloud) -> None:
    (instance,) = launch(ec2, instant)
    assert state(ec2, instance) == "pending"
    instant.skip(1)
    assert state(ec2, instance) == "running"
    ec2.terminate_instances(InstanceIds=[instance])
    assert state(ec2, instance) == "shutting-down"
    instant.skip(1)
    assert state(ec2, instance) == "terminated"
    assert described(ec2, instance)["StateReason"]["Code"] == "Client.UserInitiatedShutdown"
    instant.skip(4000)
    with pytest.raises(ClientError) as gone:
        described(ec2, instance)
    assert code_of(gone) == "InvalidInstanceID.NotFound"


def test_status_checks_pass_some_time_after_running(ec2: Any, instant: Cloud) -> None:
    (instance,) = launch(ec2, instant)
    assert ec2.describe_instance_status(InstanceIds=[instance])["InstanceStatuses"] == []
    instant.skip(0.5)
    (before,) = ec2.describe_instance_status(InstanceIds=[instance])["InstanceStatuses"]
    instant.skip(0.5)
    (after,) = ec2.describe_instance_status(InstanceIds=[instance])["InstanceStatuses"]
    assert (before["InstanceStatus"]["Status"], after["InstanceStatus"]["Status"]) == ("initializing", "ok")


def test_the_same_token_launches_once(ec2: Any, instant: Cloud) -> None:
    first = launch(ec2, instant, ClientToken="t1", MinCount=3, MaxCount=3)
    assert launch(ec2, instant, ClientToken="t1", MinCount=3, MaxCount=3) == first
    assert instant.summary()["launched"] == 3


def test_the_same_token_with_another_request_is_refused(ec2: Any, instant: Cloud) -> None:
    launch(ec2, instant, ClientToken="t1")
    with pytest.raises(ClientError) as raised:
        launch(ec2, instant, ClientToken="t1", InstanceType="c5.2xlarge")
    assert code_of(raised) == "IdempotentParameterMismatch"


def test_a_token_is_used_up_with_its_instances(ec2: Any, instant: Cloud) -> None:
    ids = launch(ec2, instant, ClientToken="t1")
    ec2.terminate_instances(InstanceIds=ids)
    with pytest.raises(ClientError) as raised:
        launch(ec2, instant, ClientToken="t1")
    assert code_of(raised) == "IdempotentInstanceTerminated"


def test_instances_are_found_by_token_and_tag(ec2: Any, instant: Cloud) -> None:
    marked = [
        {"ResourceType": kind, "Tags": [{"Key": "cell", "Value": "c1"}]} for kind in ("instance", "network-interface")
    ]
    ids = launch(ec2, instant, ClientToken="t1", TagSpecifications=marked)
    launch(ec2, instant)
    for name, value in (("client-token", "t1"), ("tag:cell", "c1")):
        found = ec2.describe_instances(Filters=[{"Name": name, "Values": [value]}])["Reservations"]
        assert [one["InstanceId"] for each in found for one in each["Instances"]] == ids
    nics = ec2.describe_network_interfaces(Filters=[{"Name": "tag:cell", "Values": ["c1"]}])["NetworkInterfaces"]
    assert len(nics) == 1


def test_a_terminated_instance_frees_what_it_held(ec2: Any, instant: Cloud) -> None:
    subnet = next(iter(instant.landscape.subnets.values()))

    def free() -> int:
        return int(ec2.describe_subnets(SubnetIds=[subnet])["Subnets"][0]["AvailableIpAddressCount"])

    before = free()
    (instance,) = launch(ec2, instant)
    address = described(ec2, instance)["PrivateIpAddress"]
    assert free() == before - 1
    ec2.terminate_instances(InstanceIds=[instance])
    instant.skip(1)
    assert free() == before
    assert instant.nothing_left()
    assert state(ec2, launch(ec2, instant, PrivateIpAddress=address)[0]) == "pending"


def test_an_address_can_be_chosen_once(ec2: Any, instant: Cloud) -> None:
    assert described(ec2, launch(ec2, instant, PrivateIpAddress="10.0.0.77")[0])["PrivateIpAddress"] == "10.0.0.77"
    for address, code in (("10.0.0.77", "InvalidIPAddress.InUse"), ("10.9.0.1", "InvalidParameterValue")):
        with pytest.raises(ClientError) as raised:
            launch(ec2, instant, PrivateIpAddress=address)
        assert code_of(raised) == code


@pytest.mark.parametrize("dry", [False, True])
@pytest.mark.parametrize(
    ("parameters", "code"),
    [
        ({"ImageId": "ami-00000000"}, "InvalidAMIID.NotFound"),
        ({"InstanceType": "r5d.huge"}, "InvalidParameterValue"),
        ({"SubnetId": "subnet-00000000"}, "InvalidSubnetID.NotFound"),
        ({"SecurityGroupIds": ["sg-00000000"]}, "InvalidGroup.NotFound"),
        ({"KeyName": "nobody"}, "InvalidKeyPair.NotFound"),
        ({"Placement": {"GroupName": "nowhere"}}, "InvalidPlacementGroup.Unknown"),
        ({"UserData": base64.b64encode(bytes(12300)).decode() * 1}, "InvalidParameterValue"),
    ],
)
def test_wrong_parameters_are_named(ec2: Any, instant: Cloud, parameters: dict[str, Any], code: str, dry: bool) -> None:
    with pytest.raises(ClientError) as raised:
        launch(ec2, instant, DryRun=dry, **parameters)
    assert code_of(raised) == code
    assert instant.summary()["launched"] == 0


def test_a_dry_run_that_would_succeed_says_so(ec2: Any, instant: Cloud) -> None:
    with pytest.raises(ClientError) as raised:
        launch(ec2, instant, DryRun=True)
    assert code_of(raised) == "DryRunOperation"


def test_a_placement_group_lives_until_its_instances_are_gone(ec2: Any, instant: Cloud) -> None:
    tags = [{"ResourceType": "placement-group", "Tags": [{"Key": "cell", "Value": "c1"}]}]
    ec2.create_placement_group(GroupName="g1", Strategy="cluster", TagSpecifications=tags)
    with pytest.raises(ClientError) as twice:
        ec2.create_placement_group(GroupName="g1", Strategy="cluster")
    (instance,) = launch(ec2, instant, Placement={"GroupName": "g1", "Tenancy": "dedicated"})
    with pytest.raises(ClientError) as used:
        ec2.delete_placement_group(GroupName="g1")
    assert (code_of(twice), code_of(used)) == ("InvalidPlacementGroup.Duplicate", "InvalidPlacementGroup.InUse")
    assert described(ec2, instance)["Placement"]["GroupName"] == "g1"
    assert described(ec2, instance)["Placement"]["Tenancy"] == "dedicated"
    (group,) = ec2.describe_placement_groups(Filters=[{"Name": "tag:cell", "Values": ["c1"]}])["PlacementGroups"]
    assert (group["GroupName"], group["Tags"]) == ("g1", [{"Key": "cell", "Value": "c1"}])
    assert instant.leftovers()["placement_groups"] == ["g1"]
    ec2.terminate_instances(InstanceIds=[instance])
    instant.skip(1)
    ec2.delete_placement_group(GroupName="g1")
    assert instant.nothing_left()


def test_a_security_group_in_use_stays(ec2: Any, instant: Cloud) -> None:
    group = ec2.create_security_group(GroupName="g", Description="d", VpcId=instant.landscape.vpc)["GroupId"]
    (instance,) = launch(ec2, instant, SecurityGroupIds=[group])
    with pytest.raises(ClientError) as raised:
        ec2.delete_security_group(GroupId=group)
    assert code_of(raised) == "DependencyViolation"
    ec2.terminate_instances(InstanceIds=[instance])
    instant.skip(1)
    ec2.delete_security_group(GroupId=group)
    assert instant.nothing_left()


def test_what_ever_lived_is_on_record(ec2: Any, instant: Cloud) -> None:
    ids = launch(ec2, instant, MinCount=3, MaxCount=3)
    instant.skip(1)
    instant.skip(100)
    ec2.terminate_instances(InstanceIds=ids)
    instant.skip(10)
    launch(ec2, instant)
    assert instant.summary() == {
        "launched": 4,
        "alive": 1,
        "vcpus": 8,
        "peak_instances": 3,
        "peak_vcpus": 24,
        "instance_seconds": 3 * 100.0,
    }
