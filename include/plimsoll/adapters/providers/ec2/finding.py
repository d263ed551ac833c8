"""Find an attempt's hosts again, by tags and by the record of its launches where EC2 does not list all hosts, and
every other resource with a cluster's tags.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import filterfalse

from plimsoll.adapters.providers.ec2.cloud import NOT_GONE, STATES, Answer, Cloud, Filter, ids_of, is_living
from plimsoll.adapters.providers.ec2.errors import CloudError
from plimsoll.adapters.providers.ec2.launched import DOUBT, Launched
from plimsoll.adapters.providers.ec2.readiness import poll_pauses
from plimsoll.adapters.providers.ec2.tags import is_whole
from plimsoll.domain.text.errors import ProviderError, SecretError
from plimsoll.ports.controller import Clock

STANDING = ("pending", "running")
"""States of hosts that serve, or are about to."""


@dataclass(frozen=True)
class Kind:
    """A kind of resource, with the calls to list and delete it. `id` is the key of its id in answers and parameters."""

    name: str
    listed_by: str
    below: str
    id: str
    deleted_by: str

    def named(self, answer: Answer) -> str:
        """Return the name of one resource, for people."""
        return f"{self.name} {answer[self.id]}"


def standing(cloud: Cloud, clock: Clock, filters: Sequence[Filter], launched: Callable[[], Launched]) -> list[Answer]:
    """Return all hosts of a whole cluster; empty where it is not whole, or not in one zone.

    A recorded host that EC2 lists neither as living nor as gone is looked for as long as answers may lag behind its
    launch, and for a minute in any case, as is everything where the record can't be read. The record is read only where
    the tags alone do not decide.
    """
    doubted_until = clock.now() + DOUBT
    for pause in poll_pauses():
        seen = cloud.instances(filters, STATES)
        if is_whole(listed := _standing(seen)):
            return listed
        seen += _untagged(cloud, seen, launched())
        alive, known = _standing(seen), set(launched().living())
        # Hosts of an earlier launch may show beside the cluster's own, which the record names
        for hosts in (alive, [instance for instance in alive if instance["InstanceId"] in known]):
            if is_whole(hosts):
                return hosts
        gone = set(ids_of(filterfalse(is_living, seen)))
        hidden = known.difference(ids_of(seen))
        is_doubtful = clock.now() < doubted_until and bool(hidden or not launched().is_complete)
        if known & gone or not (is_doubtful or any(launched().may_lag(instance) for instance in hidden)):
            return []
        clock.sleep(pause)
    raise AssertionError("looks never end")


def shown(cloud: Cloud, filters: Sequence[Filter], launched: Launched) -> list[Answer]:
    """Return the cluster's instances that EC2 shows in any state: by their tags, and those on record by their ids."""
    listed = cloud.instances(filters, STATES)
    return [*listed, *_untagged(cloud, listed, launched)]


def _untagged(cloud: Cloud, listed: Sequence[Answer], launched: Launched) -> list[Answer]:
    """Return the recorded hosts that lack the tags by which the others are listed: somebody has removed them."""
    seen = set(ids_of(listed))
    return launched.with_tags(cloud.of_ids([instance for instance in launched.living() if instance not in seen]))


def _standing(instances: Sequence[Answer]) -> list[Answer]:
    return [instance for instance in instances if instance["State"]["Name"] in STANDING]


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


def name_of(resource: Answer) -> str:
    """Return the name of an instance, or of a resource of one of these kinds, for people: `volume vol-…`."""
    if "InstanceId" in resource:
        return f"instance {resource['InstanceId']}"
    return next(kind.named(resource) for kind in KINDS if kind.id in resource)


@dataclass(frozen=True)
class TaggedResources:
    """The resources with the tags, and the reasons why there may be others that could not be listed."""

    resources: tuple[Answer, ...]
    unseen: tuple[ProviderError | SecretError, ...]
    lists_instances: bool = False
    """Whether instances could be listed."""


def tagged(cloud: Cloud, filters: Sequence[Filter]) -> TaggedResources:
    """Return all with those tags: instances that have not ended, then each kind. One's error hides no other."""
    resources: list[Answer] = []
    unseen: list[ProviderError | SecretError] = []
    try:
        resources += cloud.instances(filters, NOT_GONE)
    except CloudError as error:
        unseen.append(error)
    except SecretError as error:  # no kind can be listed
        return TaggedResources((), (error,))
    lists_instances = not unseen
    for kind in KINDS:
        try:
            resources += listed(cloud, kind, filters)
        except CloudError as error:
            unseen.append(error)
    return TaggedResources(tuple(resources), tuple(unseen), lists_instances)


def listed(cloud: Cloud, kind: Kind, filters: Sequence[Filter]) -> list[Answer]:
    """Return the resources of that kind with those tags. Raises CloudError."""
    resources = cloud.pages(kind.listed_by, kind.below, Filters=list(filters))
    # Deleted groups and volumes may be listed for a while.
    return [resource for resource in resources if resource.get("State", "") not in ("deleting", "deleted")]
