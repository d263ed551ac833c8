"""Remove every resource with a cluster's tags, and no other resource."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import filterfalse

from plimsoll.adapters.providers.ec2 import tags
from plimsoll.adapters.providers.ec2.cloud import LIVING, STATES, Answer, Cloud, Filter, end, ids_of, is_living
from plimsoll.adapters.providers.ec2.errors import DENIED, LATER, CloudError
from plimsoll.adapters.providers.ec2.finding import KINDS, Kind, listed
from plimsoll.adapters.providers.ec2.launched import Launched, ends_of
from plimsoll.adapters.providers.ec2.readiness import patient_pauses
from plimsoll.domain.hosts.cluster import ClusterId
from plimsoll.domain.text.errors import ProviderError, SecretError
from plimsoll.ports.controller import Clock, Log
from plimsoll.ports.provider import TIME_TO_DESTROY

PATIENCE = TIME_TO_DESTROY - timedelta(minutes=10)
"""Half an hour: instances have been seen shutting down for a quarter. The rest is for the calls themselves."""
_UNKNOWN_GROUP = "InvalidPlacementGroup.Unknown"
# What AWS says of something that another thing still holds, and will let go of.
# The last code is that of a network interface in use.
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
    deadline, logged, errors, unfinished = clock.now() + patience, set[str](), list[ProviderError](), list(removals)
    for pause in patient_pauses():
        # Asked before the round, so that each place gets one, whatever the patience
        is_over = clock.now() >= deadline
        for removal in tuple(unfinished):
            try:
                left = removal.round()
            except SecretError as error:
                errors.append(ProviderError(error.what, where=error.where, mend=error.mend))
            else:
                if left and not (is_over or all(remnant.refused for remnant in left)):
                    _log_refusals(removal.name, left, logged, log, deadline)
                    continue
                errors += [_not_gone(left, removal.name)] if left else []
            unfinished.remove(removal)
        if not unfinished:
            return errors
        clock.sleep(pause)
    raise AssertionError("looks never end")


def _log_refusals(name: str, left: Sequence[_Remnant], logged: set[str], log: Log, deadline: datetime) -> None:
    for error in (remnant.later for remnant in left):
        if error and error.code not in logged:
            logged.add(error.code)
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
        living = list(filter(is_living, shown))
        accepted = end(cloud, ids_of(living)).accepted
        # Lists lag: a host that was terminated before may still show as if it ran, and hide that others replaced it.
        is_current = len(accepted) == len(living) and all(state in LIVING for state in accepted.values())
        latest = max((instance["LaunchTime"] for instance in living), default=None)
        return ListedInstances(shown, accepted, latest if is_current and tags.is_whole(living) else None)
    return ListedInstances()


class Removal:
    """The repeated removal of what one cluster still has in one place."""

    def __init__(self, cloud: Cloud, clock: Clock, store: str, launched: Launched, cluster_id: ClusterId) -> None:
        self._cloud, self._clock, self._launched = cloud, clock, launched
        self._filters = tags.of_cluster(store, cluster_id)
        self.name = f"{cluster_id} in {cloud.where}"
        self._terminated: set[str] = set()
        self._deleted: set[str] = set()

    def round(self) -> list[_Remnant]:
        """Try once to remove everything. Returns what exists, or may exist unlisted; nothing once all is gone."""
        left = self._once()
        if any(remnant.deleted for remnant in left):
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
        self._deleted |= {remnant.deleted for remnant in rest}
        rest += self._groups_not_listed([remnant.what for remnant in rest])
        # Where instances stay for good, what they hold stays too.
        held = [left if left.deleted else replace(left, refused=left.refused or refused) for left in rest]
        return [*instances, *held]

    def _instances(self) -> list[_Remnant]:
        try:
            shown = self._cloud.instances(self._filters, STATES)
            # Somebody may have removed their tags, by which alone the others are found.
            known = {*self._launched.living(), *self._terminated}
            shown += self._cloud.of_ids(list(known.difference(ids_of(shown))))
        except CloudError as error:
            # What was launched is ended by its id, whether it may be looked for or not.
            return [_left("instances", error), *self._terminate(self._launched.living(), self._launched.may_lag)]
        shown = list({instance["InstanceId"]: instance for instance in shown}.values())
        self._launched.discovered(shown)
        # Some have ended by themselves.
        gone = list(filterfalse(is_living, shown))
        self._launched.ended(dict.fromkeys(ids_of(gone), "terminated"), ends_of(gone))
        seen = set(ids_of(shown))
        hidden = [instance for instance in self._launched.living() if instance not in seen]
        left = self._terminate(ids_of(filter(is_living, shown)))
        left += self._terminate(hidden, self._launched.may_lag)
        ending = [instance for instance in shown if instance["State"]["Name"] == "shutting-down"]
        left += [_Remnant(f"instance {instance['InstanceId']} is shutting-down") for instance in ending]
        return [*left, *self._not_listed(seen)]

    def _terminate(self, ids: Sequence[str], may_lag: Callable[[str], bool] = lambda _: False) -> list[_Remnant]:
        """Terminate the instances. They are checked again in the next round."""
        ended = end(self._cloud, ids, may_lag)
        self._terminated |= set(ended.accepted)
        self._launched.ended(ended.accepted)
        gone = [instance for instance in ended.unknown if not self._launched.may_lag(instance)]
        self._launched.ended(dict.fromkeys(gone, "terminated"))
        unknown = [instance for instance in ended.unknown if instance not in gone]
        return [
            *(_Remnant(f"instance {instance} was terminated") for instance in ended.accepted),
            *(_Remnant(f"instance {instance} is not known to EC2 yet") for instance in unknown),
            *(_left(f"instance {instance} lives", error, named=True) for instance, error in ended.refused.items()),
        ]

    def _not_listed(self, seen: set[str]) -> list[_Remnant]:
        """Return instances that were terminated and were never listed, and launches without a known answer."""
        lagging = [instance for instance in sorted(self._terminated - seen) if self._launched.may_lag(instance)]
        left = [_Remnant(f"instance {instance} was terminated, and is not listed yet") for instance in lagging]
        if until := self._launched.unknown_until():
            left.append(_Remnant(f"a launch whose answer was lost may show until {until:%H:%M:%S} UTC"))
        return left

    def _groups_not_listed(self, listed: Collection[str]) -> list[_Remnant]:
        """Return requested placement groups that are not listed. They are deleted by name."""
        left = []
        for name, lags_until in self._launched.groups().items():
            if name in self._deleted or any(name in resource for resource in listed):
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


def _remove_kind(cloud: Cloud, kind: Kind, filters: Sequence[Filter]) -> Iterator[_Remnant]:
    try:
        resources = listed(cloud, kind, filters)
    except CloudError as error:
        yield _left(f"{kind.name}s", error)
        return
    for resource in resources:
        try:
            cloud.call(kind.deleted_by, **{kind.id: resource[kind.id]})
        except CloudError as error:
            if not error.code.endswith((".NotFound", ".Unknown")):  # else it is gone already
                yield _left(kind.named(resource), error)
                continue
        yield _Remnant(kind.named(resource), deleted=resource[kind.id])


def _left(what: str, error: CloudError, *, named: bool = False) -> _Remnant:
    """Describe what is left because of that refusal. `named`: `what` is a whole sentence."""
    if error.code not in _HELD | LATER:
        return _Remnant(what, error)
    return _Remnant(what if named else f"{what}: {error.what}", later=error if error.code in LATER else None)


def _not_gone(left: Sequence[_Remnant], where: str) -> ProviderError:
    refused = {remnant.refused.what: remnant.refused.mend for remnant in left if remnant.refused}
    later = {remnant.later.what: remnant.later.mend for remnant in left if remnant.later}
    facts = dict.fromkeys((*(remnant.what for remnant in left), *refused, *later))
    mend = "; ".join(dict.fromkeys((refused | later).values())) or "remove what is left in the AWS console"
    return ProviderError(f"the cluster is not gone: {'; '.join(facts)}", where=where, mend=mend)
