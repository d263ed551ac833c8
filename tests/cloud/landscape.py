"""What an account has before Plimsoll comes: a network with subnets in three zones, a group, an image, a bucket."""

import ipaddress
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.ec2.models import ec2_backends
from moto.ec2.models.amis import AMIS, Ami
from moto.s3.models import s3_backends
from moto.ssm.models import ssm_backends
from moto.utilities.utils import load_resource

IMAGE_PARAMETER = "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64"
BUCKET = "plimsoll-results"

_OTHER_IMAGES = 10


@dataclass(frozen=True)
class Landscape:
    """Ids. `subnets` by zone, in order of preference; `controller` is the range that may use SSH."""

    region: str
    vpc: str
    subnets: Mapping[str, str]
    security_group: str
    image: str
    image_parameter: str
    bucket: str
    controller: str

    def plain(self) -> dict[str, Any]:
        """Return the landscape for JSON."""
        return asdict(self)


def build(region: str, network: str, gateway: str) -> Landscape:
    """Make it in moto."""
    ec2 = ec2_backends[DEFAULT_ACCOUNT_ID][region]
    _forget_defaults(ec2)
    vpc = ec2.create_vpc(network, is_default=True)
    subnets = _subnets(ec2, vpc.id, region, network)
    controller = f"{gateway}/32"
    group = _group(ec2, vpc.id, controller)
    parameter = ssm_backends[DEFAULT_ACCOUNT_ID][region].get_parameter(IMAGE_PARAMETER)
    assert parameter is not None
    image = parameter.value
    _add_images(ec2, region, image)
    s3_backends[DEFAULT_ACCOUNT_ID]["aws"].create_bucket(BUCKET, region)
    return Landscape(region, vpc.id, subnets, group, image, IMAGE_PARAMETER, BUCKET, controller)


def _subnets(ec2: Any, vpc: str, region: str, network: str) -> dict[str, str]:
    """Make quarters of the network; the first holds the gateway, which AWS keeps too."""
    quarters = ipaddress.ip_network(network).subnets(prefixlen_diff=2)
    zones = [f"{region}{letter}" for letter in "abc"]
    made = {
        zone: ec2.create_subnet(vpc, str(part), availability_zone=zone)
        for zone, part in zip(zones, quarters, strict=False)
    }
    for subnet in made.values():
        subnet.default_for_az = True
    return {zone: subnet.id for zone, subnet in made.items()}


def _add_images(ec2: Any, region: str, image: str) -> None:
    """Add the image, and a few others: moto looks through all of them for each instance that it launches."""
    newest = load_resource(f"ec2/resources/latest_amis/{region}.json")
    for one in (*AMIS[:_OTHER_IMAGES], *(about for about in newest if about["ami_id"] == image)):
        ec2.amis[one["ami_id"]] = Ami(ec2, **{**one, "owner_alias": "amazon"})


def _forget_defaults(ec2: Any) -> None:
    """Replace moto's default network, which hosts can't use, by ours."""
    for zones in ec2.subnets.values():
        for subnet in zones.values():
            subnet.default_for_az = False
    for vpc in ec2.vpcs.values():
        vpc.is_default = False


def _group(ec2: Any, vpc: str, controller: str) -> str:
    group = ec2.create_security_group("plimsoll-hosts", "SSH from the controller, all inside", vpc_id=vpc)
    allow = ec2.authorize_security_group_ingress
    allow(group.id, "tcp", "22", "22", ip_ranges=[{"CidrIp": controller}])
    allow(group.id, "-1", None, None, ip_ranges=[], source_groups=[{"GroupId": group.id}])
    return str(group.id)
