"""What `plan` finds wrong with a definition for EC2, before anything costs money."""

import ipaddress
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.cloud.cloud import REGION, Cloud
from tests.integration.ec2.campaign import GROUP
from tests.integration.ec2.watched_account import WatchedAccount
from tests.support.campaigns.ec2_definition import ec2_definition

from plimsoll.adapters.providers.ec2 import Ec2Provider
from plimsoll.domain.campaign.resolve import hosts_spec, resolve
from plimsoll.domain.keys.process import NodeNeeds
from plimsoll.domain.text.errors import SecretError


@pytest.fixture
def check(provider: Ec2Provider, options: dict[str, Any], cloud: Cloud) -> Callable[..., Any]:
    def problems(max_parallel: int = 8, **changes: Any) -> list[str]:
        definition = ec2_definition(cloud.landscape, **{"subnets": None, **options, **changes})
        return [
            str(each)
            for each in provider.check(replace(hosts_spec(resolve(definition), NodeNeeds()), max_parallel=max_parallel))
        ]

    return problems


def test_a_sound_definition_has_no_problem_and_nothing_is_launched(
    check: Callable[..., Any], account: WatchedAccount
) -> None:
    assert check() == []
    dry = [operation for _, operation in account.calls if operation in ("RunInstances", "CreatePlacementGroup")]
    assert dry == ["CreatePlacementGroup", "RunInstances", "RunInstances"]
    ec2 = account.client("ec2", REGION)
    assert ec2.describe_instances()["Reservations"] == []
    assert ec2.describe_placement_groups()["PlacementGroups"] == []


@pytest.mark.parametrize(
    ("changes", "where", "expected"),
    [
        ({"zones": ["us-east-1z"]}, "zones", "no default subnet in us-east-1z"),
        ({"zones": None, "subnets": ["subnet-0123456789"]}, "subnets", "InvalidSubnetID.NotFound"),
        ({"security_group": "nobodys"}, "security_group", "has no security group 'nobodys'"),
        ({"image": "ami-00000000000000000"}, "image", "ami-00000000000000000"),
        ({"image": "/aws/service/nothing"}, "image", "ParameterNotFound"),
        ({"instance_types": {"node": "m99.huge", "load": "c5.2xlarge"}}, "instance_types.node", "m99.huge"),
        ({"instance_types": {"node": "m6g.large", "load": "c5.2xlarge"}}, "image", "m6g.large runs arm64"),
        (
            {"instance_types": {"node": "m6g.large", "load": "m6g.large"}},
            "instance_types",
            "m6g.large runs arm64, and the software that Plimsoll brings is for x86_64",
        ),
        (
            {"instance_types": {"node": "r5d.2xlarge", "load": "t3.medium"}},
            "placement_group",
            "t3.medium can't stand in",
        ),
        ({"tenancy": "shared"}, "tenancy", "write one of: default, dedicated"),
        ({"patience": "3h"}, "patience", "a cell may wait 3h for room and 2 × 10m for its hosts to start"),
    ],
)
def test_what_aws_does_not_have_is_named_by_its_option(
    check: Callable[..., Any], changes: dict[str, Any], where: str, expected: str
) -> None:
    problems = check(**changes)
    assert any(problem.startswith(f"provider.options.{where}: ") and expected in problem for problem in problems), (
        problems
    )


def test_an_image_for_other_processors_is_refused_beside_types_that_it_fits(
    check: Callable[..., Any], account: WatchedAccount
) -> None:
    arm = {
        "ImageId": "ami-1",
        "Name": "arm",
        "Architecture": "arm64",
        "State": "available",
        "RootDeviceName": "/dev/sda1",
    }
    account.answers["DescribeImages"] = {"Images": [arm]}
    problems = check(instance_types={"node": "m6g.large", "load": "m6g.large"})
    told = "provider.options.image: ami-1 is for arm64, and the software that Plimsoll brings is for x86_64"
    assert any(problem.startswith(told) for problem in problems), problems


def test_a_type_that_stands_in_no_cluster_may_stand_alone(check: Callable[..., Any]) -> None:
    assert check(instance_types={"node": "r5d.2xlarge", "load": "t3.medium"}, placement_group="none") == []


def test_all_problems_are_found_at_once(check: Callable[..., Any]) -> None:
    problems = check(image="/aws/service/nothing", security_group="nobodys")
    assert len(problems) == 2


def test_a_group_that_lets_everyone_in_is_refused(check: Callable[..., Any], account: WatchedAccount) -> None:
    ec2 = account.client("ec2", REGION)
    group = ec2.describe_security_groups(Filters=[{"Name": "group-name", "Values": [GROUP]}])["SecurityGroups"][0][
        "GroupId"
    ]
    ec2.authorize_security_group_ingress(
        GroupId=group, IpProtocol="tcp", FromPort=9042, ToPort=9042, CidrIp="0.0.0.0/0"
    )
    (problem,) = check()
    assert "lets everyone in: tcp 9042-9042" in problem


def test_a_subnet_without_addresses_is_refused(check: Callable[..., Any], account: WatchedAccount) -> None:
    ec2 = account.client("ec2", REGION)
    vpc = ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    small = ec2.create_subnet(VpcId=vpc, CidrBlock="10.9.0.0/28", AvailabilityZone="us-east-1a")["Subnet"]["SubnetId"]
    problems = check(zones=None, subnets=[small])
    assert any("free addresses; 8 cells at once: 32" in problem for problem in problems)
    assert not any("8 cells" in problem for problem in check(max_parallel=1, zones=None, subnets=[small]))


@pytest.mark.parametrize(
    ("operation", "where"),
    [
        ("DescribeAvailabilityZones", "region"),
        ("DescribeSubnets", "zones"),
        ("DescribeImages", "image"),
        ("DescribeSecurityGroups", "security_group"),
        ("DescribeInstanceTypes", "instance_types.node"),
        ("DescribeInstanceTypeOfferings", "instance_types"),
        ("RunInstances", "instance_types.node"),
        ("CreatePlacementGroup", "placement_group"),
    ],
)
def test_a_missing_permission_names_the_action_to_allow(
    check: Callable[..., Any], account: WatchedAccount, operation: str, where: str
) -> None:
    account.faults = {operation: ["UnauthorizedOperation"]}
    (problem,) = [problem for problem in check() if f"ec2:{operation}" in problem]
    assert problem.startswith(f"provider.options.{where}: ")


def test_hosts_that_could_not_be_found_again_are_not_launched(
    check: Callable[..., Any], account: WatchedAccount
) -> None:
    kinds = ("Instances", "Volumes", "NetworkInterfaces", "PlacementGroups")
    account.faults = {f"Describe{kind}": ["UnauthorizedOperation"] for kind in kinds}
    for kind, problem in zip(kinds, check(), strict=True):
        assert problem.startswith("provider.options.connection: ")
        assert f"allow the action ec2:Describe{kind}" in problem


@pytest.mark.parametrize(
    ("code", "mend"),
    [("AuthFailure", "check the connection's credentials"), ("ExpiredToken", "renew the connection's temporary")],
)
def test_credentials_that_do_not_count_are_the_only_problem(
    check: Callable[..., Any], account: WatchedAccount, code: str, mend: str
) -> None:
    account.faults = {"DescribeAvailabilityZones": [code]}
    (problem,) = check(image="/aws/service/nothing")
    assert problem.startswith("provider.options.connection: ")
    assert mend in problem


def test_a_region_that_is_not_there_is_the_only_problem_and_a_like_one_is_named(
    check: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(name: Any, *_: Any) -> None:
        raise OSError(-2, "Name or service not known")

    monkeypatch.setattr("socket.getaddrinfo", unknown)
    monkeypatch.setattr("plimsoll.adapters.providers.ec2.cloud.get_environ_proxies", lambda _: {})
    (problem,) = check(region="us-eats-1", image="/aws/service/nothing")
    assert problem.startswith("provider.options.region: ")
    assert "such as us-east-1" in problem


def test_a_type_that_a_zone_does_not_offer_is_named_with_the_zone(
    check: Callable[..., Any], account: WatchedAccount, cloud: Cloud
) -> None:
    ec2 = account.client("ec2", REGION)
    network = ec2.describe_vpcs(VpcIds=[cloud.landscape.vpc])["Vpcs"][0]["CidrBlock"]
    last = str(list(ipaddress.ip_network(network).subnets(prefixlen_diff=2))[3])
    there = ec2.create_subnet(VpcId=cloud.landscape.vpc, CidrBlock=last, AvailabilityZone="us-east-1e")
    problems = check(zones=None, subnets=[there["Subnet"]["SubnetId"]])
    assert any("us-east-1e does not offer r5d.2xlarge" in problem for problem in problems), problems


@pytest.mark.parametrize(
    ("quota", "expected"),
    [
        (16.0, "a cell takes 32 vCPUs, the quota `Running On-Demand Standard"),
        (100.0, "lower max_parallel to 3 at most"),
        (256.0, ""),
    ],
)
def test_the_quota_of_vcpus_is_compared_where_it_can_be_asked(
    check: Callable[..., Any], account: WatchedAccount, quota: float, expected: str
) -> None:
    account.answers |= {"GetServiceQuota": {"Quota": {"Value": quota}}}
    problems = check()
    assert (expected in problems[0]) if expected else problems == []


@pytest.mark.parametrize("type_", ["inf1.xlarge", "trn1.2xlarge"])
def test_each_family_counts_against_its_own_quota(
    check: Callable[..., Any], account: WatchedAccount, type_: str
) -> None:
    """Their names begin like those of Standard ones."""
    account.answers |= {"GetServiceQuota": {"Quota": {"Value": 10_000.0}}}
    asked = []
    account.calls.clear()
    real = account.client

    def client(service: Any, region: Any) -> Any:
        made = real(service, region)
        made.meta.events.register(
            "before-parameter-build.service-quotas.GetServiceQuota",
            lambda params, **_: asked.append(params["QuotaCode"]),
        )
        return made

    account.client = client  # type: ignore[method-assign]
    check(instance_types={"node": type_, "load": "c5.2xlarge"}, placement_group="none")
    assert len(set(asked)) == 2
    assert "L-1216C47A" in asked


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, ""),
        ({"RootDeviceName": None}, "has no root device"),
        ({"State": "pending"}, "is pending"),
    ],
)
def test_an_image_of_which_aws_does_not_say_all_is_no_crash(
    check: Callable[..., Any], account: WatchedAccount, cloud: Cloud, changes: Any, said: str
) -> None:
    image = {"ImageId": cloud.landscape.image, "RootDeviceName": "/dev/xvda", "State": "available", **changes}
    account.answers["DescribeImages"] = {"Images": [{name: value for name, value in image.items() if value}]}
    problems = check()
    assert all(said in problem for problem in problems) if said else problems == []
    assert bool(problems) == bool(said)


def test_hosts_that_may_not_reach_each_other_are_refused(
    check: Callable[..., Any], account: WatchedAccount, cloud: Cloud
) -> None:
    """A group is made with a rule that lets everything out; it may have been taken away."""
    ec2, group = account.client("ec2", REGION), cloud.landscape.security_group
    everything = {"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}
    ec2.revoke_security_group_egress(GroupId=group, IpPermissions=[everything])
    (problem,) = check()
    assert "does not let its members out to each other" in problem
    ec2.authorize_security_group_egress(
        GroupId=group, IpPermissions=[{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}]
    )
    assert check() == []


def test_a_connection_without_a_key_is_named(
    check: Callable[..., Any], account: WatchedAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(connection_id: Any) -> None:
        raise SecretError("there is no such connection", where=f"connection {connection_id!r}", mend="add it")

    monkeypatch.setattr(account, "ssh_identity", missing)
    (problem,) = check()
    assert problem.startswith("provider.options.ssh_connection: ")
    assert "plimsoll_ssh" in problem


def test_no_account_at_all_is_no_problem_of_the_definition(
    check: Callable[..., Any], account: WatchedAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(connection_id: Any) -> None:
        raise SecretError("there is no such connection", where=connection_id)

    monkeypatch.setattr(account, "aws", missing)
    with pytest.raises(SecretError):
        check()
