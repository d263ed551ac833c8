from types import SimpleNamespace
from typing import Any

import pytest

from plimsoll.adapters.providers.ec2.network import Subnet, subnets, wrong_egress, wrong_rules
from plimsoll.domain.text.errors import ProviderError

INSIDE = {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": "sg-1"}]}
SSH = {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "IpRanges": [{"CidrIp": "10.0.0.0/24"}]}


def faults(*rules: Any, ssh_port: int = 22) -> list[Any]:
    return list(wrong_rules({"GroupId": "sg-1", "IpPermissions": rules}, ssh_port))


def test_ssh_from_the_controller_and_everything_inside_is_right() -> None:
    assert faults(INSIDE, SSH) == []


def test_the_controllers_own_group_may_come_in() -> None:
    assert faults(INSIDE, {**SSH, "IpRanges": [], "UserIdGroupPairs": [{"GroupId": "sg-controller"}]}) == []


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ((INSIDE, {**SSH, "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}), "lets everyone in: tcp 22-22 from 0.0.0.0/0"),
        ((INSIDE, SSH, {"IpProtocol": "-1", "Ipv6Ranges": [{"CidrIpv6": "::/0"}]}), "all traffic from ::/0"),
        ((SSH,), "does not let its own members reach each other"),
        ((INSIDE,), "lets nobody in by SSH"),
        ((INSIDE, {**SSH, "FromPort": 80, "ToPort": 443}), "lets nobody in by SSH"),
        (
            (INSIDE, SSH, {**SSH, "FromPort": 9042, "ToPort": 9042}),
            "more than SSH on port 22: tcp 9042-9042 from 10.0.",
        ),
        ((INSIDE, {**SSH, "ToPort": 65535}), "more than SSH on port 22: tcp 22-65535 from 10.0.0.0/24"),
        (
            (INSIDE, SSH, {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": "sg-2"}]}),
            "more than SSH on port 22: all traffic from sg-2",
        ),
        (
            (
                INSIDE,
                SSH,
                {"IpProtocol": "icmp", "FromPort": -1, "ToPort": -1, "PrefixListIds": [{"PrefixListId": "pl-1"}]},
            ),
            "more than SSH on port 22: icmp -1--1 from pl-1",
        ),
    ],
)
def test_what_is_wrong_is_said(rules: Any, said: str) -> None:
    assert said in "; ".join(faults(*rules))


def test_ssh_is_where_the_images_sshd_listens() -> None:
    there = {**SSH, "FromPort": 2222, "ToPort": 2222}
    assert faults(INSIDE, there, ssh_port=2222) == []
    assert "lets nobody in by SSH on port 2222" in faults(INSIDE, SSH, ssh_port=2222)


@pytest.mark.parametrize(
    ("rules", "is_wrong"),
    [
        ([], True),
        ([INSIDE], False),
        ([{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}], False),
        ([{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "10.0.0.0/16"}]}], False),
        ([{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "10.1.0.0/16"}]}], True),
        ([{"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}], True),
        ([{"IpProtocol": "-1", "Ipv6Ranges": [{"CidrIpv6": "::/0"}]}], True),
    ],
)
def test_hosts_must_be_let_out_to_each_other(rules: Any, is_wrong: bool) -> None:
    subnets = [Subnet("subnet-a", "us-east-1a", "vpc-1", 100, "10.0.4.0/24")]
    assert bool(list(wrong_egress({"GroupId": "sg-1", "IpPermissionsEgress": rules}, subnets))) == is_wrong


def test_a_subnet_of_ipv6_alone_is_refused_by_its_name(options: Any) -> None:
    answer = {"SubnetId": "subnet-a", "AvailabilityZone": "us-east-1a", "VpcId": "vpc-1", "AvailableIpAddressCount": 9}
    cloud: Any = SimpleNamespace(where="us-east-1", call=lambda *_, **__: {"Subnets": [answer]})
    with pytest.raises(ProviderError, match="no IPv4 addresses in subnet-a"):
        subnets(cloud, options)
