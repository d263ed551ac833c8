"""Subnets and security groups that the options name, as AWS describes them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Any

from plimsoll.adapters.providers.ec2.cloud import Answer, Cloud
from plimsoll.adapters.providers.ec2.options import Ec2Options
from plimsoll.domain.text.errors import ProviderError

_ANYWHERE = {"0.0.0.0/0", "::/0"}


@dataclass(frozen=True)
class Subnet:
    id: str
    zone: str
    vpc: str
    free_addresses: int
    cidr: str = ""


def subnets(cloud: Cloud, options: Ec2Options) -> list[Subnet]:
    """Return the subnets in order of preference. Raises ProviderError when one is missing, or VPCs differ."""
    if options.subnets:
        described = _described(cloud, SubnetIds=list(options.subnets))
        ordered = sorted(described, key=lambda subnet: options.subnets.index(subnet.id))
    else:
        ordered = _of_zones(cloud, options.zones)
    if len({subnet.vpc for subnet in ordered}) != 1:
        mend = "name subnets of one VPC in provider.options.subnets"
        raise ProviderError("the subnets are of several VPCs", where=cloud.where, mend=mend)
    return ordered


def security_group(cloud: Cloud, options: Ec2Options, vpc: str) -> Answer:
    """Return the group as AWS describes it. Raises ProviderError when the VPC has no group with that id or name."""
    kind = "group-id" if options.security_group.startswith("sg-") else "group-name"
    filters = [{"Name": kind, "Values": [options.security_group]}, {"Name": "vpc-id", "Values": [vpc]}]
    groups: Sequence[Answer] = cloud.call("describe_security_groups", Filters=filters)["SecurityGroups"]
    if not groups:
        raise ProviderError(
            f"{vpc} has no security group {options.security_group!r}",
            where=cloud.where,
            mend="name one in provider.options.security_group; docs/guides/aws.md says how to make it",
        )
    return groups[0]


def wrong_rules(group: Answer, ssh_port: int) -> Iterator[str]:
    """Yield faults in its ingress: it must allow SSH from the controller, and all traffic inside the group. Pure."""
    rules, own = group["IpPermissions"], group["GroupId"]
    for rule in rules:
        for source in _others(rule, own):
            if source in _ANYWHERE:
                yield f"lets everyone in: {_ports(rule)} from {source}"
            elif not _is_ssh(rule, ssh_port):
                yield f"lets others in by more than SSH on port {ssh_port}: {_ports(rule)} from {source}"
    if not any(_is_inside(rule, own) for rule in rules):
        yield "does not let its own members reach each other"
    if not any(_is_ssh(rule, ssh_port) and _others(rule, own) for rule in rules):
        yield f"lets nobody in by SSH on port {ssh_port}"


def wrong_egress(group: Answer, subnets: Sequence[Subnet]) -> Iterator[str]:
    """Yield faults in the group's egress: it must allow all traffic to the group's own hosts. Pure.

    Other egress rules are the account's own choice. AWS allows all egress by default.
    """
    rules, own = group.get("IpPermissionsEgress", ()), group["GroupId"]
    if any(_is_inside(rule, own) for rule in rules):
        return
    open_rules = [rule for rule in rules if rule["IpProtocol"] == "-1"]
    allowed = [IPv4Network(entry["CidrIp"]) for rule in open_rules for entry in rule.get("IpRanges", ())]
    hidden = [subnet for subnet in subnets if not any(IPv4Network(subnet.cidr).subnet_of(net) for net in allowed)]
    if hidden:
        where = ", ".join(f"{subnet.id} ({subnet.cidr})" for subnet in hidden)
        yield f"does not let its members out to each other: no egress rule for all traffic to itself or to {where}"


def _described(cloud: Cloud, **chosen: Any) -> list[Subnet]:
    found = cloud.call("describe_subnets", **chosen)["Subnets"]
    # One for IPv6 alone has none
    if without := [subnet["SubnetId"] for subnet in found if "CidrBlock" not in subnet]:
        what = f"no IPv4 addresses in {', '.join(without)}, and hosts are reached by these"
        raise ProviderError(what, where=cloud.where, mend="name subnets with some in provider.options.subnets")
    keys = ("SubnetId", "AvailabilityZone", "VpcId", "AvailableIpAddressCount", "CidrBlock")
    return [Subnet(*(subnet[key] for key in keys)) for subnet in found]


def _of_zones(cloud: Cloud, zones: Sequence[str]) -> list[Subnet]:
    filters = [{"Name": "default-for-az", "Values": ["true"]}, {"Name": "availability-zone", "Values": list(zones)}]
    by_zone = {subnet.zone: subnet for subnet in _described(cloud, Filters=filters)}
    lost = [zone for zone in zones if zone not in by_zone]
    if lost:
        mend = "name zones of the region that have one, or name subnets instead: provider.options.subnets"
        raise ProviderError(f"there is no default subnet in {', '.join(lost)}", where=cloud.where, mend=mend)
    return [by_zone[zone] for zone in zones]


def _others(rule: Answer, group_id: str) -> list[str]:
    """List the sources that the rule allows, other than the group's own members."""
    return [
        *(source["CidrIp"] for source in rule.get("IpRanges", ())),
        *(source["CidrIpv6"] for source in rule.get("Ipv6Ranges", ())),
        *(source["PrefixListId"] for source in rule.get("PrefixListIds", ())),
        *(pair["GroupId"] for pair in rule.get("UserIdGroupPairs", ()) if pair["GroupId"] != group_id),
    ]


def _is_ssh(rule: Answer, port: int) -> bool:
    return (rule["IpProtocol"], rule.get("FromPort"), rule.get("ToPort")) == ("tcp", port, port)


def _ports(rule: Answer) -> str:
    if rule["IpProtocol"] == "-1":
        return "all traffic"
    return f"{rule['IpProtocol']} {rule.get('FromPort')}-{rule.get('ToPort')}"


def _is_inside(rule: Answer, group_id: str) -> bool:
    return rule["IpProtocol"] == "-1" and any(pair["GroupId"] == group_id for pair in rule.get("UserIdGroupPairs", ()))
