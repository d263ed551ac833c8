"""Everything that can carry a cluster's tags: found by them, removed, and nothing else."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from plimsoll.adapters.ec2.cloud import NOT_GONE, Answer, Cloud
from plimsoll.adapters.ec2.errors import CloudError
from plimsoll.adapters.ec2.pausing import looks
from plimsoll.adapters.ec2.tags import Filter, of_key
from plimsoll.domain.cell import AttemptKey
from plimsoll.domain.errors import ProviderError
from plimsoll.ports.clock import Clock

_PATIENCE = timedelta(minutes=10)
# What AWS says of something that another thing still holds, and will let go of.
_HELD = frozenset({"VolumeInUse", "DependencyViolation", "InvalidPlacementGroup.InUse", "InvalidParameterValue"})


@dataclass(frozen=True)
class Kind:
    """A kind of resource: how it is listed and deleted. `id` is the key of its id in answers and parameters."""

    name: str
    listed_by: str
    below: str
    id: str
    deleted_by: str


_NICS = "network_interface"
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


def tagged(cloud: Cloud, filters: Sequence[Filter]) -> Iterator[Answer]:
    """Every resource with those tags: instances that are not gone yet, then the rest."""
    yield from cloud.instances(filters, NOT_GONE)
    for kind in KINDS:
        yield from _listed(cloud, kind, filters)


def remove(cloud: Cloud, clock: Clock, store: str, key: AttemptKey) -> None:
    """Terminate the attempt's instances, delete all else, and look whether it is so; ProviderError if something stays.

    Goes round until nothing is left: disks, addresses and groups are free only after their instances are gone.
    """
    filters = of_key(store, key)
    deadline = clock.now() + _PATIENCE
    for pause in looks():
        # What was deleted is looked for at once; what must end first is waited for.
        left = _remove_once(cloud, filters) and _remove_once(cloud, filters)
        if not left:
            return
        if clock.now() > deadline:
            what = f"the cluster is not gone: {'; '.join(left)}"
            raise ProviderError(what, where=f"{key} in {cloud.where}", mend="remove what is left in the AWS console")
        clock.sleep(pause)


def _remove_once(cloud: Cloud, filters: Sequence[Filter]) -> list[str]:
    """What there was, each with its state; empty once nothing is left."""
    instances = cloud.instances(filters, NOT_GONE)
    living = [one["InstanceId"] for one in instances if one["State"]["Name"] != "shutting-down"]
    if living:
        _unless_gone(cloud, "terminate_instances", InstanceIds=living)
    if instances:
        return [f"instance {one['InstanceId']} is {one['State']['Name']}" for one in instances]
    return [f"{kind.name} {one[kind.id]}{_delete(cloud, kind, one)}" for kind, one in _rest(cloud, filters)]


def _rest(cloud: Cloud, filters: Sequence[Filter]) -> Iterator[tuple[Kind, Answer]]:
    for kind in KINDS:
        yield from ((kind, one) for one in _listed(cloud, kind, filters))


def _listed(cloud: Cloud, kind: Kind, filters: Sequence[Filter]) -> list[Answer]:
    found = cloud.pages(kind.listed_by, kind.below, Filters=list(filters))
    # Deleted groups and volumes may be listed for a while.
    return [one for one in found if one.get("State", "") not in ("deleting", "deleted")]


def _delete(cloud: Cloud, kind: Kind, resource: Answer) -> str:
    """Why it is still there, where AWS says so."""
    try:
        _unless_gone(cloud, kind.deleted_by, **{kind.id: resource[kind.id]})
    except CloudError as error:
        if error.code not in _HELD:
            raise
        return f": {error.what}"
    return ""


def _unless_gone(cloud: Cloud, operation: str, **parameters: object) -> None:
    try:
        cloud.call(operation, **parameters)
    except CloudError as error:
        if not error.code.endswith((".NotFound", ".Unknown")):
            raise
