"""RunInstances as AWS answers it: what it refuses, and what it does only once."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from moto.ec2.models.instance_types import INSTANCE_TYPE_OFFERINGS, INSTANCE_TYPES
from moto.ec2.models.instances import Reservation
from moto.ec2.responses import EC2Response
from tests.cloud.answers import Refused
from tests.cloud.faults import NoAddresses, NoCapacity, VcpuLimit
from tests.cloud.lifecycle import Lifecycle, vcpus
from tests.cloud.placement_groups import PlacementGroups

_MOST_USER_DATA = 16384
# A repeated request may differ in these and still be the same.
_NOT_COMPARED = {"Action", "Version", "ClientToken", "DryRun"}


@dataclass
class Launches:
    """Everything launched with a token, by region and token."""

    lifecycle: Lifecycle
    groups: PlacementGroups
    tokens: dict[tuple[str, str], tuple[Mapping[str, Any], Reservation]] = field(default_factory=dict)

    def run(self, call: EC2Response, original: Any) -> Any:
        """Refuse, repeat or do it. `original` is moto's own method."""
        request = Request(call)
        before = None if request.dry else self._before(request)
        if before is not None:
            return type(self)._answer(before)
        check(request, self.groups)
        if not request.dry:
            self._refuse_by_fault(request)
        if request.mapped:  # moto knows disks of EBS alone
            call.params["BlockDeviceMappings"] = request.ebs
        answer = original(call)
        self._born(request, answer.result)
        return answer

    @staticmethod
    def _answer(reservation: Reservation) -> Any:
        from moto.core.responses import ActionResult

        return ActionResult(reservation)

    def _before(self, request: "Request") -> Reservation | None:
        """Return what the token has launched, if it was used."""
        known = self.tokens.get((request.region, request.token))
        if not request.token or known is None:
            return None
        parameters, reservation = known
        if parameters != request.compared:
            raise Refused("IdempotentParameterMismatch", _MISMATCH)
        if all(instance.state in ("shutting-down", "terminated") for instance in reservation.instances):
            message = "The specified idempotent request was made for instances that have been terminated."
            raise Refused("IdempotentInstanceTerminated", message)
        return reservation

    def _refuse_by_fault(self, request: "Request") -> None:
        faults, census = self.lifecycle.faults, self.lifecycle.census
        for limit in faults.of(VcpuLimit):
            if census.vcpus() + request.count * vcpus(request.type) > limit.vcpus:
                raise Refused("VcpuLimitExceeded", _VCPU.format(limit=limit.vcpus))
        for full in faults.of(NoAddresses):
            if full.subnet == request.subnet_id:
                raise Refused("InsufficientFreeAddressesInSubnet", _ADDRESSES.format(subnet=full.subnet))
        if faults.at(NoCapacity, request.zone, request.type):
            raise Refused("InsufficientInstanceCapacity", _CAPACITY.format(type=request.type, zone=request.zone))

    def _born(self, request: "Request", reservation: Reservation) -> None:
        for instance in reservation.instances:
            instance.placement.group_name = request.group
            instance.placement.tenancy = request.tenancy
            for nic in instance.nics.values():
                nic.add_tags(request.nic_tags)
            self.lifecycle.born(instance, request.mapped)
        if request.token:
            self.tokens[request.region, request.token] = (request.compared, reservation)


class Request:
    """The parameters that matter here."""

    def __init__(self, call: EC2Response) -> None:
        get = call._get_param
        self.backend, self.region = call.ec2_backend, call.region
        self.dry = bool(get("DryRun", False))
        self.token = get("ClientToken", "")
        self.compared = {name: value for name, value in call.querystring.items() if name not in _NOT_COMPARED}
        self.image, self.type = get("ImageId"), get("InstanceType", "m1.small")
        self.count = int(get("MinCount", 1))
        nic: dict[str, Any] = next(iter(get("NetworkInterfaces", [])), {})
        self.subnet_id = get("SubnetId") or nic.get("SubnetId")
        self.groups = get("SecurityGroupIds", []) or nic.get("Groups", [])
        self.user_data = get("UserData") or ""
        self.group = get("Placement.GroupName") or ""
        self.tenancy = get("Placement.Tenancy") or "default"
        self.subnet: Any = self.backend.get_subnet(self.subnet_id) if self.subnet_id else None
        self.zone = (
            self.subnet.availability_zone if self.subnet else get("Placement.AvailabilityZone") or f"{self.region}a"
        )
        mappings: list[dict[str, Any]] = get("BlockDeviceMappings", [])
        self.ebs = [one for one in mappings if "VirtualName" not in one]
        self.mapped = [str(one["DeviceName"]) for one in mappings if "VirtualName" in one]
        self.nic_tags = call._parse_tag_specification().get("network-interface", {})


def check(request: Request, groups: PlacementGroups) -> None:
    """Check everything that AWS checks before it launches, a dry run included."""
    _check_image(request)
    _check_type(request)
    if len(base64.b64decode(request.user_data)) > _MOST_USER_DATA:
        raise Refused("InvalidParameterValue", f"User data is limited to {_MOST_USER_DATA} bytes")
    if request.group and groups.get(request.region, request.group) is None:
        raise Refused("InvalidPlacementGroup.Unknown", f"The Placement Group '{request.group}' is unknown.")
    if request.subnet is not None:
        _check_groups(request)
        if request.subnet.available_ip_address_count < request.count:
            raise Refused("InsufficientFreeAddressesInSubnet", _ADDRESSES.format(subnet=request.subnet_id))


def _check_image(request: Request) -> None:
    if not any(image.id == request.image for image in request.backend.amis.values()):
        raise Refused("InvalidAMIID.NotFound", f"The image id '[{request.image}]' does not exist")


def _check_type(request: Request) -> None:
    if request.type not in INSTANCE_TYPES:
        raise Refused("InvalidParameterValue", f"Invalid value '{request.type}' for InstanceType.")
    offered = INSTANCE_TYPE_OFFERINGS["availability-zone"].get(request.region, [])
    zones = sorted(one["Location"] for one in offered if one["InstanceType"] == request.type)
    if request.zone not in zones:
        raise Refused("Unsupported", _UNSUPPORTED.format(type=request.type, zone=request.zone, zones=", ".join(zones)))


def _check_groups(request: Request) -> None:
    for group_id in request.groups:
        group = request.backend.get_security_group_from_id(group_id)
        if group is None:
            raise Refused("InvalidGroup.NotFound", f"The security group '{group_id}' does not exist")
        if group.vpc_id != request.subnet.vpc_id:
            message = f"Security group {group_id} and subnet {request.subnet_id} belong to different networks."
            raise Refused("InvalidParameter", message)


_MISMATCH = "Arguments on this idempotent request are inconsistent with arguments used in previous request(s)."
_VCPU = (
    "You have requested more vCPU capacity than your current vCPU limit of {limit} allows for the instance bucket that "
    "the specified instance type belongs to. Please visit http://aws.amazon.com/contact-us/ec2-request to request an "
    "adjustment to this limit."
)
_CAPACITY = (
    "We currently do not have sufficient {type} capacity in the Availability Zone you requested ({zone}). Our system "
    "will be working on provisioning additional capacity."
)
_ADDRESSES = "There are not enough free addresses in subnet '{subnet}' to satisfy the requested number of instances."
_UNSUPPORTED = (
    "Your requested instance type ({type}) is not supported in your requested Availability Zone ({zone}). Please retry "
    "your request by not specifying an Availability Zone or choosing {zones}."
)
