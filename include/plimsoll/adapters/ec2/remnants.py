"""Remove every resource with a cluster's tags, and no other resource."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from plimsoll.adapters.ec2 import tags
from plimsoll.adapters.ec2.cloud import LIVING, STATES, Answer, Cloud
from plimsoll.adapters.ec2.describing import is_whole
from plimsoll.adapters.ec2.ending import end
from plimsoll.adapters.ec2.errors import DENIED, CloudError
from plimsoll.adapters.ec2.launched import Launched, end_of
from plimsoll.adapters.ec2.pausing import patient_looks
from plimsoll.adapters.ec2.tagged import KINDS, Kind, listed
from plimsoll.adapters.ec2.tags import Filter
from plimsoll.domain.cluster import ClusterId
from plimsoll.domain.errors import ProviderError
from plimsoll.ports.clock import Clock
from plimsoll.ports.provider import TIME_TO_DESTROY

PATIENCE = TIME_TO_DESTROY - timedelta(minutes=10)
"""Half an hour: instances have been seen shutting down for a quarter. The rest is for the calls themselves."""
_UNKNOWN_GROUP = "InvalidPlacementGroup.Unknown"
# What AWS says of something that another thing still holds, and will let go of.
_HELD = frozenset({"VolumeInUse", "DependencyViolation", "InvalidPlacementGroup.InUse", "InvalidParameterValue"})
# What AWS says when it may answer better later; no answer has no code.
_LATER = frozenset({"RequestLimitExceeded", "Throttling", "InternalError", "Unavailable", "ServiceUnavailable", ""})


@dataclass(frozen=True)
class _Left:
    """Something that still exists, or can't be checked. `refused`: a refusal by AWS that waiting will not change.

    `deleted` is the id of a resource whose deletion AWS has accepted.
    """

    what: str
    refused: CloudError | None = None
    deleted: str = ""


def remove(cloud: Cloud, clock: Clock, store: str, launched: Launched, cluster_id: ClusterId) -> None:
    """Terminate the cluster's instances and delete all else. Raises ProviderError if something remains.

    Repeats until nothing is left: disks, addresses and groups can be deleted only after their instances have ended.
    Resources that EC2 may not list yet are looked for until it would list them, and launched instances are terminated
    by id. A final refusal for one resource does not protect the others, and is reported at the end.
    """
    removal = _Removal(cloud, clock, tags.of_cluster(store, cluster_id), launched)
    deadline = clock.now() + PATIENCE
    for pause in patient_looks():
        left = removal.once()
        if any(one.deleted for one in left):  # it is looked for at once; what must end first is waited for
            left = removal.once()
        if not left:
            return
        if all(one.refused for one in left) or clock.now() > deadline:
            raise _not_gone(left, f"{cluster_id} in {cloud.where}")
        clock.sleep(pause)


@dataclass(frozen=True)
class Shown:
    """Listed instances that were told to end, with their earlier states.

    `whole_since`: the launch of the last instance, if they are a whole cluster; none was launched after it.
    """

    accepted: Mapping[str, str] = field(default_factory=dict)
    whole_since: datetime | None = None


def terminate_shown(cloud: Cloud, filters: Sequence[Filter]) -> Shown:
    """Terminate the listed instances. The later removal of the rest reports what failed."""
    with suppress(CloudError):
        shown = cloud.instances(filters)
        latest = max((one["LaunchTime"] for one in shown), default=None)
        return Shown(end(cloud, [one["InstanceId"] for one in shown]).accepted, latest if is_whole(shown) else None)
    return Shown()


class _Removal:
    """The repeated removal of what one cluster still has."""

    def __init__(self, cloud: Cloud, clock: Clock, filters: Sequence[Filter], launched: Launched) -> None:
        self._cloud, self._clock, self._filters, self._launched = cloud, clock, filters, launched
        self._told: set[str] = set()
        self._deleted: set[str] = set()

    def once(self) -> list[_Left]:
        """One round. Returns what existed, or may exist without being listed; empty once nothing is left."""
        instances = self._instances()
        refused = next((one.refused for one in instances if one.refused), None)
        if instances and refused is None:
            return instances
        rest = [left for kind in KINDS for left in _remove_kind(self._cloud, kind, self._filters)]
        self._deleted |= {one.deleted for one in rest}
        rest += self._groups_not_shown([one.what for one in rest])
        # Where instances stay for good, what they hold stays too.
        return [*instances, *(_Left(one.what, one.refused or refused) for one in rest)]

    def _instances(self) -> list[_Left]:
        try:
            seen = {one["InstanceId"]: one for one in self._cloud.instances(self._filters, STATES)}
        except CloudError as error:
            # What was launched is ended by its id, whether it may be looked for or not.
            return [_left("instances", error), *self._told_to_end(self._launched.living(), self._launched.may_lag)]
        self._note_ends(seen)
        living = [instance for instance, one in seen.items() if one["State"]["Name"] in LIVING]
        hidden = [instance for instance in self._launched.living() if instance not in seen]
        left = [*self._told_to_end(living), *self._told_to_end(hidden, self._launched.may_lag)]
        going = [one for one in seen.values() if one["State"]["Name"] == "shutting-down"]
        return [*left, *(_still(one) for one in going), *self._not_shown(set(seen))]

    def _told_to_end(self, ids: Sequence[str], may_lag: Callable[[str], bool] = lambda _: False) -> list[_Left]:
        """Terminate the instances. They are checked again in the next round."""
        try:
            ended = end(self._cloud, ids, may_lag)
        except CloudError as error:
            refused = None if error.code in _LATER else error
            return [_Left(f"instance {instance} lives", refused) for instance in ids]
        self._told |= set(ended.accepted)
        self._launched.ended(ended.accepted)
        gone = [instance for instance in ended.unknown if not self._launched.may_lag(instance)]
        self._launched.ended(dict.fromkeys(gone, "terminated"))
        unknown = [_Left(f"instance {one} is not known to EC2 yet") for one in ended.unknown if one not in gone]
        return [*(_Left(f"instance {instance} was told to end") for instance in ended.accepted), *unknown]

    def _note_ends(self, seen: Mapping[str, Answer]) -> None:
        """Record the ends of instances that ended by themselves."""
        gone = {instance: one for instance, one in seen.items() if one["State"]["Name"] not in LIVING}
        times = {instance: at for instance, one in gone.items() if (at := end_of(one))}
        self._launched.ended(dict.fromkeys(gone, "terminated"), times)

    def _not_shown(self, seen: Collection[str]) -> list[_Left]:
        """Instances that were told to end and were never listed, and launches without a known answer."""
        hidden = [one for one in sorted(self._told) if one not in seen and self._launched.may_lag(one)]
        left = [_Left(f"instance {one} was told to end, and is not shown yet") for one in hidden]
        until = self._launched.unknown_until()
        if until is not None:
            left.append(_Left(f"a launch whose answer was lost may show until {until:%H:%M:%S} UTC"))
        return left

    def _groups_not_shown(self, listed: Collection[str]) -> list[_Left]:
        """Requested placement groups that are not listed. They are deleted by name."""
        left = []
        for name, lags_until in self._launched.groups().items():
            if name in self._deleted or any(name in what for what in listed):
                continue
            try:
                self._cloud.call("delete_placement_group", GroupName=name)
            except CloudError as error:
                # Where the policy asks for tags, what is not there has none.
                if error.code != _UNKNOWN_GROUP and error.code not in DENIED:
                    left.append(_left(f"placement group {name}", error))
                elif self._clock.now() < lags_until:
                    left.append(_Left(f"placement group {name} is not known to EC2 yet"))
            else:
                self._deleted.add(name)
        return left


def _still(instance: Answer) -> _Left:
    return _Left(f"instance {instance['InstanceId']} is {instance['State']['Name']}")


def _remove_kind(cloud: Cloud, kind: Kind, filters: Sequence[Filter]) -> Iterator[_Left]:
    try:
        found = listed(cloud, kind, filters)
    except CloudError as error:
        yield _left(f"{kind.name}s", error)
        return
    for one in found:
        try:
            _unless_gone(cloud, kind.deleted_by, **{kind.id: one[kind.id]})
        except CloudError as error:
            yield _left(kind.named(one), error)
        else:
            yield _Left(kind.named(one), deleted=one[kind.id])


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
