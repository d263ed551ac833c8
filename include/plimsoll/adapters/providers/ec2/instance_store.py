"""The disks that instance types have of their own, and how hosts get them. Pure."""

from dataclasses import dataclass
from string import ascii_lowercase
from typing import Any

from plimsoll.adapters.providers.ec2.cloud import Answer


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


def instance_store(described: Answer) -> InstanceStore:
    """Return the disks of an instance type, from its description by DescribeInstanceTypes."""
    info = described.get("InstanceStorageInfo") or {}
    disks = [(int(disk["Count"]), int(disk.get("SizeInGB", 0))) for disk in info.get("Disks", ())]
    count, gigabytes = sum(number for number, _ in disks), sum(number * size for number, size in disks)
    return InstanceStore(count, gigabytes, is_mapped=info.get("NvmeSupport") == "unsupported")
