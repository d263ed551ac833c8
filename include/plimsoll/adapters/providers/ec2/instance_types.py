"""Instance types: the disks of their own and how hosts get them, the machine image, and the vCPU quotas of on-demand
instances, which Service Quotas names by family.

The names say which families each counts: EC2 User Guide, "On-Demand Instance quotas".
"""

import re
from dataclasses import dataclass
from string import ascii_lowercase
from typing import Any

from plimsoll.adapters.providers.ec2.cloud import Answer, Cloud
from plimsoll.adapters.providers.ec2.errors import explained
from plimsoll.adapters.providers.ec2.options import Ec2Options
from plimsoll.domain.errors import ProviderError


@dataclass(frozen=True)
class InstanceStore:
    """The number of a type's own disks, and their size together in GB; 0 where AWS does not tell it.

    `is_mapped`: a host has only those that its launch maps to a device.
    """

    count: int = 0
    gigabytes: int = 0
    is_mapped: bool = False

    @property
    def letters(self) -> str:
        """Return the last letters of the mapped devices' names, after that of the system disk."""
        return ascii_lowercase[1 : 1 + self.count] if self.is_mapped else ""

    @property
    def mappings(self) -> list[dict[str, Any]]:
        """Return entries of BlockDeviceMappings.

        EC2 gives a host its NVMe disks in any case. Older types have others, which it gives only if they are named.
        """
        return [
            {"DeviceName": f"/dev/sd{letter}", "VirtualName": f"ephemeral{number}"}
            for number, letter in enumerate(self.letters)
        ]


@dataclass(frozen=True)
class Quota:
    """One quota; `code` is its code in Service Quotas."""

    code: str
    name: str


@dataclass(frozen=True)
class Image:
    """An AMI. `architecture` is AWS's name (x86_64, arm64); empty where AWS gives none."""

    id: str
    name: str
    architecture: str
    root_device: str


def instance_store(described: Answer) -> InstanceStore:
    """Return the disks of an instance type, from its description by DescribeInstanceTypes."""
    info = described.get("InstanceStorageInfo") or {}
    disks = [(int(disk["Count"]), int(disk.get("SizeInGB", 0))) for disk in info.get("Disks", ())]
    count, gigabytes = sum(number for number, _ in disks), sum(number * size for number, size in disks)
    return InstanceStore(count, gigabytes, is_mapped=info.get("NvmeSupport") == "unsupported")


_STANDARD = Quota("L-1216C47A", "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances")
_G = Quota("L-DB2E81BA", "Running On-Demand G and VT instances")
# By the letters that a type's name begins with. Longer names than one letter are families of their own: inf1 is no i1.
_QUOTAS = {
    **dict.fromkeys(("a", "c", "d", "h", "i", "im", "is", "m", "r", "t", "z"), _STANDARD),
    "dl": Quota("L-6E869C2A", "Running On-Demand DL instances"),
    "f": Quota("L-74FC7D96", "Running On-Demand F instances"),
    "g": _G,
    "gr": _G,
    "hpc": Quota("L-F7808C92", "Running On-Demand HPC instances"),
    "inf": Quota("L-1945791B", "Running On-Demand Inf instances"),
    "p": Quota("L-417A185B", "Running On-Demand P instances"),
    "trn": Quota("L-2C3B7624", "Running On-Demand Trn instances"),
    "u": Quota("L-43DA4232", "Running On-Demand High Memory instances"),
    "vt": _G,
    "x": Quota("L-7295265B", "Running On-Demand X instances"),
}
_FAMILY = re.compile(r"[a-z]+")


def quota_of(instance_type: str) -> Quota | None:
    """Return the quota that limits instances of that type; None for an unknown family."""
    found = _FAMILY.match(instance_type)
    return _QUOTAS.get(found[0]) if found else None


def find_image(cloud: Cloud, options: Ec2Options, known: str = "") -> Image:
    """Return the AMI that the options name, or that the SSM parameter contains.

    `known`: the AMI of the cluster's other hosts, which counts although the parameter may name a newer one. Raises
    ProviderError when there is none.
    """
    image_id = known or (options.image if options.image.startswith("ami-") else _from_parameter(cloud, options.image))
    images = cloud.call("describe_images", ImageIds=[image_id])["Images"]
    if not images:
        mend = "name an image of the region in provider.options.image: images differ by region"
        raise ProviderError(f"there is no image {image_id}", where=cloud.where, mend=mend)
    return _usable(images[0], cloud.where)


def _usable(found: Answer, where: str) -> Image:
    """Raise ProviderError for an image that can't be used with the hosts' own encrypted disk."""
    state, root = found.get("State", "available"), found.get("RootDeviceName", "")
    if state != "available":
        mend = "name another image in provider.options.image, or wait until this one is available"
        raise ProviderError(f"the image {found['ImageId']} is {state}", where=where, mend=mend)
    if not root:
        mend = "name an image in provider.options.image that is backed by EBS"
        raise ProviderError(f"the image {found['ImageId']} has no root device", where=where, mend=mend)
    return Image(found["ImageId"], found.get("Name", ""), found.get("Architecture", ""), root)


def _from_parameter(cloud: Cloud, name: str) -> str:
    with explained("ssm", f"{cloud.where}, parameter {name}"):
        value: str = cloud.client("ssm").get_parameter(Name=name)["Parameter"]["Value"]
        return value
