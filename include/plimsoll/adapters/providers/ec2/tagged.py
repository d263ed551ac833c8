"""Find every resource with a cluster's tags, of each kind that a cluster has."""

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.adapters.providers.ec2.cloud import NOT_GONE, Answer, Cloud
from plimsoll.adapters.providers.ec2.describing import Resource
from plimsoll.adapters.providers.ec2.errors import CloudError
from plimsoll.adapters.providers.ec2.tags import Filter
from plimsoll.domain.errors import ProviderError, SecretError


@dataclass(frozen=True)
class Kind:
    """A kind of resource, with the calls that list and delete it.

    `id` is the key of its id in answers and parameters.
    """

    name: str
    listed_by: str
    below: str
    id: str
    deleted_by: str

    def named(self, answer: Answer) -> str:
        """Return the name of one resource, for people."""
        return f"{self.name} {answer[self.id]}"


KINDS = (
    Kind("volume", "describe_volumes", "Volumes", "VolumeId", "delete_volume"),
    Kind(
        "interface",
        "describe_network_interfaces",
        "NetworkInterfaces",
        "NetworkInterfaceId",
        "delete_network_interface",
    ),
    Kind("placement group", "describe_placement_groups", "PlacementGroups", "GroupName", "delete_placement_group"),
)


@dataclass(frozen=True)
class TaggedResources:
    """The resources with the tags, and the reasons why there may be others that could not be listed."""

    resources: tuple[Resource, ...]
    unseen: tuple[ProviderError | SecretError, ...]
    lists_instances: bool = False
    """Whether instances could be listed."""


def tagged(cloud: Cloud, filters: Sequence[Filter]) -> TaggedResources:
    """Return every resource with those tags: instances that have not ended, then the rest, kind by kind.

    A kind that can't be listed does not hide the other kinds.
    """
    found: list[Resource] = []
    unseen: list[ProviderError | SecretError] = []
    lists_instances = True
    try:
        found += [Resource(f"instance {one['InstanceId']}", one) for one in cloud.instances(filters, NOT_GONE)]
    except CloudError as error:
        unseen.append(error)
        lists_instances = False
    except SecretError as error:  # no kind can be listed
        return TaggedResources((), (error,))
    for kind in KINDS:
        try:
            found += [Resource(kind.named(one), one) for one in listed(cloud, kind, filters)]
        except CloudError as error:
            unseen.append(error)
    return TaggedResources(tuple(found), tuple(unseen), lists_instances)


def listed(cloud: Cloud, kind: Kind, filters: Sequence[Filter]) -> list[Answer]:
    """Return the resources of that kind with those tags. Raises CloudError."""
    found = cloud.pages(kind.listed_by, kind.below, Filters=list(filters))
    # Deleted groups and volumes may be listed for a while.
    return [one for one in found if one.get("State", "") not in ("deleting", "deleted")]
