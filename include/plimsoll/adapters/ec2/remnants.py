"""Everything that can carry a cluster's tags: found by them, removed, and nothing else."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from plimsoll.adapters.ec2.cloud import NOT_GONE, Answer, Cloud
from plimsoll.adapters.ec2.describing import Resource
from plimsoll.adapters.ec2.errors import CloudError
from plimsoll.adapters.ec2.pausing import looks
from plimsoll.adapters.ec2.tags import Filter, of_key
from plimsoll.domain.cell import AttemptKey
from plimsoll.domain.errors import ProviderError, SecretError
from plimsoll.ports.clock import Clock

_PATIENCE = timedelta(minutes=10)
# What AWS says of something that another thing still holds, and will let go of.
_HELD = frozenset({"VolumeInUse", "DependencyViolation", "InvalidPlacementGroup.InUse", "InvalidParameterValue"})
# What AWS says when it may answer better later; no answer has no code.
_LATER = frozenset({"RequestLimitExceeded", "Throttling", "InternalError", "Unavailable", "ServiceUnavailable", ""})


@dataclass(frozen=True)
class Kind:
    """A kind of resource: how it is listed and deleted. `id` is the key of its id in answers and parameters."""

    name: str
    listed_by: str
    below: str
    id: str
    deleted_by: str

    def named(self, answer: Answer) -> str:
        """One of them, for people."""
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
    Kind("key pair", "describe_key_pairs", "KeyPairs", "KeyName", "delete_key_pair"),
    Kind("placement group", "describe_placement_groups", "PlacementGroups", "GroupName", "delete_placement_group"),
    Kind("security group", "describe_security_groups", "SecurityGroups", "GroupId", "delete_security_group"),
)


@dataclass(frozen=True)
class Seen:
    """What has the tags, and why more of it may be there than could be listed."""

    resources: tuple[Resource, ...]
    unseen: tuple[ProviderError | SecretError, ...]


def tagged(cloud: Cloud, filters: Sequence[Filter]) -> Seen:
    """Every resource with those tags: instances that are not gone yet, then the rest, kind by kind.

    A kind that can't be listed does not hide the others.
    """
    found: list[Resource] = []
    unseen: list[ProviderError | SecretError] = []
    try:
        found += [Resource(f"instance {one['InstanceId']}", one) for one in cloud.instances(filters, NOT_GONE)]
    except CloudError as error:
        unseen.append(error)
    except SecretError as error:  # no kind can be listed
        return Seen((), (error,))
    for kind in KINDS:
        try:
            found += [Resource(kind.named(one), one) for one in _listed(cloud, kind, filters)]
        except CloudError as error:
            unseen.append(error)
    return Seen(tuple(found), tuple(unseen))


@dataclass(frozen=True)
class _Left:
    """Something that is not gone, or can't be looked at. `refused`: AWS's refusal, where waiting will not mend it."""

    what: str
    refused: CloudError | None = None


def remove(cloud: Cloud, clock: Clock, store: str, key: AttemptKey) -> None:
    """Terminate the attempt's instances, delete all else, and look whether it is so; ProviderError if something stays.

    Goes round until nothing is left: disks, addresses and groups are free only after their instances are gone. What
    AWS refuses for good keeps nothing else alive, and is said at the end.
    """
    filters = of_key(store, key)
    deadline = clock.now() + _PATIENCE
    for pause in looks():
        # What was deleted is looked for at once; what must end first is waited for.
        left = _remove_once(cloud, filters) and _remove_once(cloud, filters)
        if not left:
            return
        if all(one.refused for one in left) or clock.now() > deadline:
            raise _not_gone(left, f"{key} in {cloud.where}")
        clock.sleep(pause)


def _remove_once(cloud: Cloud, filters: Sequence[Filter]) -> list[_Left]:
    """What there was; empty once nothing is left."""
    instances = _terminate(cloud, filters)
    refused = next((one.refused for one in instances if one.refused), None)
    if instances and refused is None:
        return instances
    rest = [left for kind in KINDS for left in _remove_kind(cloud, kind, filters)]
    # Where instances stay for good, what they hold stays too.
    return [*instances, *(_Left(one.what, one.refused or refused) for one in rest)]


def _terminate(cloud: Cloud, filters: Sequence[Filter]) -> list[_Left]:
    try:
        instances = cloud.instances(filters, NOT_GONE)
    except CloudError as error:
        return [_left("instances", error)]
    living = [one["InstanceId"] for one in instances if one["State"]["Name"] != "shutting-down"]
    refused: CloudError | None = None
    try:
        if living:
            _unless_gone(cloud, "terminate_instances", InstanceIds=living)
    except CloudError as error:
        refused = None if error.code in _LATER else error
    return [_Left(f"instance {one['InstanceId']} is {one['State']['Name']}", refused) for one in instances]


def _remove_kind(cloud: Cloud, kind: Kind, filters: Sequence[Filter]) -> Iterator[_Left]:
    try:
        found = _listed(cloud, kind, filters)
    except CloudError as error:
        yield _left(f"{kind.name}s", error)
        return
    for one in found:
        try:
            _unless_gone(cloud, kind.deleted_by, **{kind.id: one[kind.id]})
        except CloudError as error:
            yield _left(kind.named(one), error)
        else:
            yield _Left(kind.named(one))


def _listed(cloud: Cloud, kind: Kind, filters: Sequence[Filter]) -> list[Answer]:
    found = cloud.pages(kind.listed_by, kind.below, Filters=list(filters))
    # Deleted groups and volumes may be listed for a while.
    return [one for one in found if one.get("State", "") not in ("deleting", "deleted")]


def _left(what: str, error: CloudError) -> _Left:
    passing = error.code in _HELD | _LATER
    return _Left(f"{what}: {error.what}" if passing else what, None if passing else error)


def _not_gone(left: Sequence[_Left], where: str) -> ProviderError:
    refused = {one.refused.what: one.refused.mend for one in left if one.refused}
    said = (*(one.what for one in left), *refused)
    mend = "; ".join(dict.fromkeys(refused.values())) or "remove what is left in the AWS console"
    return ProviderError(f"the cluster is not gone: {'; '.join(said)}", where=where, mend=mend)


def _unless_gone(cloud: Cloud, operation: str, **parameters: object) -> None:
    try:
        cloud.call(operation, **parameters)
    except CloudError as error:
        if not error.code.endswith((".NotFound", ".Unknown")):
            raise
