"""Remove every resource with a cluster's tags, and no other resource."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from plimsoll.adapters.providers.ec2 import tags
from plimsoll.adapters.providers.ec2.cloud import LIVING, STATES, Answer, Cloud, Filter, end
from plimsoll.adapters.providers.ec2.errors import DENIED, LATER, CloudError
from plimsoll.adapters.providers.ec2.finding import KINDS, Kind, listed
from plimsoll.adapters.providers.ec2.launched import Launched, end_of
from plimsoll.adapters.providers.ec2.readiness import patient_pauses
from plimsoll.adapters.providers.ec2.tags import is_whole
from plimsoll.domain.hosts.cluster import ClusterId
from plimsoll.domain.text.errors import ProviderError, SecretError
from plimsoll.ports.clock import Clock
from plimsoll.ports.log import Log
from plimsoll.ports.provider import TIME_TO_DESTROY

PATIENCE = TIME_TO_DESTROY - timedelta(minutes=10)
"""Half an hour: instances have been seen shutting down for a quarter. The rest is for the calls themselves."""
_UNKNOWN_GROUP = "InvalidPlacementGroup.Unknown"
# What AWS says of something that another thing still holds, and will let go of.
_HELD = frozenset({"VolumeInUse", "DependencyViolation", "InvalidPlacementGroup.InUse", "InvalidParameterValue"})


@dataclass(frozen=True)
class _Remnant:
    """Something that still exists, or can't be checked. `refused`: a refusal by AWS that waiting will not change.

    `deleted` is the id of a resource whose deletion AWS has accepted. `later`: a refusal that may pass.
    """

    what: str
    refused: CloudError | None = None
    deleted: str = ""
    later: CloudError | None = None


def remove(
    removals: Sequence["Removal"], clock: Clock, log: Log, patience: timedelta = PATIENCE
) -> list[ProviderError]:
    """Terminate the cluster's instances and delete all else, in all these places. Returns an error for what remains.

    Repeats until nothing is left: disks, addresses and groups can be deleted only after their instances have ended.
    Resources that EC2 may not list yet are looked for until it would list them, and launched instances are terminated
    by id. A final refusal for one resource, or of one place, does not protect the others, and is reported at the end. A
    refusal that may pass is told and waited for: AWS fails or throttles, or credentials have expired and are renewed.
    """
    deadline, told, errors, places = clock.now() + patience, set[str](), list[ProviderError](), list(removals)
    for pause in patient_pauses():
        is_over = clock.now() >= deadline
        for removal in tuple(places):
            try:
                left = removal.round()
            except SecretError as error:
                errors.append(ProviderError(error.what, where=error.where, mend=error.mend))
            else:
                if left and not (is_over or all(one.refused for one in left)):
                    _log_refusals(removal.name, left, told, log, deadline)
                    continue
                errors += [_not_gone(left, removal.name)] if left else []
            places.remove(removal)
        if not places:
            return errors
        clock.sleep(pause)
    raise AssertionError("looks never end")


def _log_refusals(name: str, left: Sequence[_Remnant], told: set[str], log: Log, deadline: datetime) -> None:
    """Say which refusals are waited for, each once."""
    for error in (one.later for one in left if one.later):
        if error.code not in told:
            told.add(error.code)
            log(f"{name}: {error.text()}\n  Destroying goes on until {deadline:%H:%M:%S} UTC at most")


@dataclass(frozen=True)
class ListedInstances:
    """The instances that EC2 lists. `accepted`: those of them that lived and were terminated, with their earlier
    states.

    `whole_since`: the launch of the last instance, if they are a whole cluster; none was launched after it.
    """

    instances: Sequence[Answer] = ()
    accepted: Mapping[str, str] = field(default_factory=dict)
    whole_since: datetime | None = None


def terminate_listed(cloud: Cloud, filters: Sequence[Filter]) -> ListedInstances:
    """Terminate the listed instances. The later removal of the rest reports what failed."""
    with suppress(CloudError, SecretError):
        shown = cloud.instances(filters, STATES)
        living = [one for one in shown if one["State"]["Name"] in LIVING]
        accepted = end(cloud, [one["InstanceId"] for one in living]).accepted
        # Lists lag: a host that was terminated before may still show as if it ran, and hide that others replaced it.
        is_current = len(accepted) == len(living) and all(state in LIVING for state in accepted.values())
        latest = max((one["LaunchTime"] for one in living), default=None)
        return ListedInstances(shown, accepted, latest if is_current and is_whole(living) else None)
    return ListedInstances()


class Removal:
    """The repeated removal of what one cluster still has in one place."""

    def __init__(self, cloud: Cloud, clock: Clock, store: str, launched: Launched, cluster_id: ClusterId) -> None:
        self._cloud, self._clock, self._launched = cloud, clock, launched
        self._filters = tags.of_cluster(store, cluster_id)
        self.name = f"{cluster_id} in {cloud.where}"
        self._told: set[str] = set()
        self._deleted: set[str] = set()

    def round(self) -> list[_Remnant]:
        """Try once to remove everything, and return what exists, or may exist without being listed; nothing once all is
        gone.

        Deleted resources are looked for at once. Resources that must end first are waited for.
        """
        left = self._once()
        if any(one.deleted for one in left):
            left = self._once()
        if not left:
            for name in self._launched.groups():  # whoever destroys the cluster again need not wait for them
                self._launched.without_group(name)
        return left

    def _once(self) -> list[_Remnant]:
        instances = self._instances()
        refused = next((instance.refused for instance in instances if instance.refused), None)
        if instances and refused is None:
            return instances
        rest = [left for kind in KINDS for left in _remove_kind(self._cloud, kind, self._filters)]
        self._deleted |= {one.deleted for one in rest}
        rest += self._groups_not_listed([one.what for one in rest])
        # Where instances stay for good, what they hold stays too.
        return [*instances, *(one if one.deleted else replace(one, refused=one.refused or refused) for one in rest)]

    def _instances(self) -> list[_Remnant]:
        try:
            seen = {one["InstanceId"]: one for one in self._cloud.instances(self._filters, STATES)}
            # Somebody may have removed their tags, by which alone the others are found.
            unseen = [one for one in {*self._launched.living(), *self._told} if one not in seen]
            seen |= {one["InstanceId"]: one for one in self._cloud.of_ids(unseen)}
        except CloudError as error:
            # What was launched is ended by its id, whether it may be looked for or not.
            return [_left("instances", error), *self._terminated(self._launched.living(), self._launched.may_lag)]
        self._launched.discovered(seen.values())
        self._note_ends(seen)
        living = [instance for instance, one in seen.items() if one["State"]["Name"] in LIVING]
        hidden = [instance for instance in self._launched.living() if instance not in seen]
        left = [*self._terminated(living), *self._terminated(hidden, self._launched.may_lag)]
        going = [one for one in seen.values() if one["State"]["Name"] == "shutting-down"]
        return [*left, *(_remaining(one) for one in going), *self._not_listed(set(seen))]

    def _terminated(self, ids: Sequence[str], may_lag: Callable[[str], bool] = lambda _: False) -> list[_Remnant]:
        """Terminate the instances. They are checked again in the next round."""
        ended = end(self._cloud, ids, may_lag)
        self._told |= set(ended.accepted)
        self._launched.ended(ended.accepted)
        gone = [instance for instance in ended.unknown if not self._launched.may_lag(instance)]
        self._launched.ended(dict.fromkeys(gone, "terminated"))
        return [
            *(_Remnant(f"instance {one} was terminated") for one in ended.accepted),
            *(_Remnant(f"instance {one} is not known to EC2 yet") for one in ended.unknown if one not in gone),
            *(_left(f"instance {one} lives", error, named=True) for one, error in ended.refused.items()),
        ]

    def _note_ends(self, seen: Mapping[str, Answer]) -> None:
        """Record the ends of instances that ended by themselves."""
        gone = {instance: one for instance, one in seen.items() if one["State"]["Name"] not in LIVING}
        times = {instance: at for instance, one in gone.items() if (at := end_of(one))}
        self._launched.ended(dict.fromkeys(gone, "terminated"), times)

    def _not_listed(self, seen: Collection[str]) -> list[_Remnant]:
        """Return instances that were terminated and were never listed, and launches without a known answer."""
        hidden = [one for one in sorted(self._told) if one not in seen and self._launched.may_lag(one)]
        left = [_Remnant(f"instance {one} was terminated, and is not listed yet") for one in hidden]
        until = self._launched.unknown_until()
        if until is not None:
            left.append(_Remnant(f"a launch whose answer was lost may show until {until:%H:%M:%S} UTC"))
        return left

    def _groups_not_listed(self, listed: Collection[str]) -> list[_Remnant]:
        """Return requested placement groups that are not listed. They are deleted by name."""
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
                    left.append(_Remnant(f"placement group {name} is not known to EC2 yet"))
            else:
                self._deleted.add(name)
        return left


def _remaining(instance: Answer) -> _Remnant:
    return _Remnant(f"instance {instance['InstanceId']} is {instance['State']['Name']}")


def _remove_kind(cloud: Cloud, kind: Kind, filters: Sequence[Filter]) -> Iterator[_Remnant]:
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
            yield _Remnant(kind.named(one), deleted=one[kind.id])


def _left(what: str, error: CloudError, *, named: bool = False) -> _Remnant:
    """Describe what is left because of that refusal. `named`: `what` is a whole sentence."""
    if error.code not in _HELD | LATER:
        return _Remnant(what, error)
    return _Remnant(what if named else f"{what}: {error.what}", later=error if error.code in LATER else None)


def _not_gone(left: Sequence[_Remnant], where: str) -> ProviderError:
    refused = {one.refused.what: one.refused.mend for one in left if one.refused}
    later = {one.later.what: one.later.mend for one in left if one.later}
    said = dict.fromkeys((*(one.what for one in left), *refused, *later))
    mend = "; ".join(dict.fromkeys((refused | later).values())) or "remove what is left in the AWS console"
    return ProviderError(f"the cluster is not gone: {'; '.join(said)}", where=where, mend=mend)


def _unless_gone(cloud: Cloud, operation: str, **parameters: object) -> None:
    try:
        cloud.call(operation, **parameters)
    except CloudError as error:
        if not error.code.endswith((".NotFound", ".Unknown")):
            raise
