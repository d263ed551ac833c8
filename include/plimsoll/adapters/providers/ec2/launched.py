"""The launches of a cluster: instance ids in the answers of RunInstances, known before any describe call shows them.

EC2 is eventually consistent: for a while after RunInstances has returned an instance, describe calls may not show it,
and other calls may not know it. So each request is recorded before it is sent, and its answer at once.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import filterfalse
from operator import attrgetter

from plimsoll.adapters.providers.ec2.cloud import OWNER_ID, Answer, CloudRegion, ids_of, is_living
from plimsoll.adapters.providers.ec2.launch_plan import LaunchPlan
from plimsoll.adapters.providers.ec2.tags import Recorded, as_list, host_info, recorded_tags, tags_of
from plimsoll.domain.hosts.cluster import ClusterId, HostInfo, Launch, Role
from plimsoll.domain.text.errors import StoreError
from plimsoll.ports.controller import Clock
from plimsoll.ports.provider import Launches

LAG = timedelta(minutes=5)
"""The time by which EC2's answers may lag: AWS advises to repeat describe calls for about as long (EC2 Developer Guide,
"Eventual consistency in the Amazon EC2 API").
"""

DOUBT = timedelta(minutes=1)
"""The time for which a host that EC2 has shown before, and no more, is looked for again: one answer may lack it."""

_ZONE, _SUBNET, _GROUP, _IMAGE = "zone", "subnet", "placement_group", "image"


class Launched:
    """One cluster's launches in one place, in memory and in the record."""

    def __init__(self, records: Launches, cluster_id: ClusterId, place: CloudRegion, clock: Clock) -> None:
        self._records, self._id, self._place, self._clock = records, cluster_id, place, clock
        self._here = {"connection": place.connection, "region": place.region}
        self._known: dict[str, Launch] = {}
        self._blind_until: datetime | None = None
        self._pending: dict[str, datetime] = {}

    @classmethod
    def read(cls, records: Launches, cluster_id: ClusterId, place: CloudRegion, clock: Clock) -> "Launched":
        """Read the launches in that place from the record. Raises StoreError when it can't be read."""
        launched = cls(records, cluster_id, place, clock)
        # Another connection may be another account, to which these instances are unknown although they live.
        here = launched._here.items()
        launched._known = {launch.token: launch for launch in records.of(cluster_id) if launch.place.items() >= here}
        return launched

    @classmethod
    def read_if_possible(
        cls, records: Launches, cluster_id: ClusterId, place: CloudRegion, clock: Clock, since: datetime | None = None
    ) -> "Launched":
        """Read the launches in order to end their hosts. Without the record, hosts are looked for longer.

        The search then lasts until answers no longer lag behind the last possible launch, at `since`, or now.
        """
        try:
            return cls.read(records, cluster_id, place, clock)
        except StoreError:
            blind = cls(records, cluster_id, place, clock)
            blind._blind_until = (since or clock.now()) + LAG
            return blind

    @property
    def is_known_here(self) -> bool:
        """Tell whether the record names a launch in this place."""
        return bool(self._known)

    @property
    def is_complete(self) -> bool:
        """Tell whether the record could be read, so that it names every launch."""
        return self._blind_until is None

    def record_request(self, token: str, role: Role, where: Mapping[str, str], plan: LaunchPlan) -> None:
        """Record a request that is about to be sent. Raises StoreError when that fails; then it must not be sent."""
        before = self._known.get(token)
        self._note(
            Launch(
                id=self._id,
                token=token,
                role=role,
                place={**self._here, **where},
                asked_at=self._clock.now(),
                expires_at=plan.expires,
                ends_at=plan.ends,
                owner=plan.owner,
                nodes=plan.nodes,
                load_hosts=plan.load_hosts,
                # A request that was refused before has no known answer again; hosts that it has launched stay known
                hosts=(before.hosts or None) if before else None,
            )
        )

    def prolonged(self, expires: datetime, ends: datetime, owner: str) -> None:
        """Record the new end and owner of living hosts. Where that fails, it is kept in memory."""
        for launch in list(self._known.values()):
            if launch.living:
                with suppress(StoreError):
                    self._note(launch.model_copy(update={"expires_at": expires, "ends_at": ends, "owner": owner}))

    def without_group(self, name: str) -> None:
        """Record that the placement group with that name is gone, or was never made: nobody waits for it any more."""
        for launch in list(self._known.values()):
            if launch.place.get(_GROUP) == name:
                place = {key: value for key, value in launch.place.items() if key != _GROUP}
                with suppress(StoreError):
                    self._note(launch.model_copy(update={"place": place}))

    def answered(self, token: str, instances: Sequence[Answer]) -> None:
        """Record the instances of the request, launched now or before; none if it was refused, or they have ended."""
        launch, known = self._known[token], {host.identity: host for host in self._known[token].hosts or ()}
        numbered = enumerate(instances, start=1)
        hosts = [host_info(instance, launch.role, number, self._place) for number, instance in numbered]
        # Not from the request on: a repeated one is answered as the first was, long after the hosts began to run.
        pending = {*_pending(instances)} - {*known}
        self._pending |= {host.identity: host.since for host in hosts if host.since and host.identity in pending}
        # The record wins: a repeated answer shows hosts as they once were, and knows nothing of their ends
        known = {**{host.identity: host for host in hosts}, **known}
        account = next((str(instance.get(OWNER_ID, "")) for instance in instances), "") or launch.account
        self._note(launch.model_copy(update={"hosts": tuple(known.values()), "account": account}))

    def discovered(self, instances: Iterable[Answer]) -> None:
        """Record listed instances that no record names, by their tags: the answer to their launch was lost.

        Each gets a record of its own: other hosts of the same launch may still be hidden, so that one stays unanswered.
        If they can't be recorded, they are kept in memory.
        """
        known = {host.identity for _, host in self._hosts()}
        for instance in instances:
            tags = tags_of(instance)
            if instance["InstanceId"] in known or tags is None or not tags.role:
                continue
            role: Role = "load" if tags.role == "load" else "node"
            placement = instance["Placement"]
            zone, group = placement["AvailabilityZone"], placement.get("GroupName", "")
            place = where(instance.get("SubnetId", ""), zone, group, instance.get("ImageId"))
            launch = Launch(
                id=self._id,
                token=sha256(instance["InstanceId"].encode()).hexdigest(),
                role=role,
                place={**self._here, **place},
                asked_at=instance["LaunchTime"],
                expires_at=tags.expires or instance["LaunchTime"],
                owner=tags.owner,
                nodes=tags.nodes,
                load_hosts=tags.load_hosts,
                account=str(instance.get(OWNER_ID, "")),
                hosts=(host_info(instance, role, 1, self._place),),
            )
            with suppress(StoreError):
                self._note(launch)

    def record_states(self, instances: Sequence[Answer], asked_at: datetime) -> None:
        """Record which instances run, by an answer of EC2's and the time at which it was asked for.

        An instance that was pending at its launch is paid for from the last time at which it was seen to be pending, or
        from its launch: some seconds too long, so that its cost is never less than AWS's bill. One that has ended since
        it was seen to be pending may have run in between, which costs a minute at least.
        """
        ended = list(filterfalse(is_living, instances))
        started = [instance["InstanceId"] for instance in instances if instance["State"]["Name"] != "pending"]
        began = {instance: self._pending.pop(instance) for instance in started if instance in self._pending}
        self.ended({instance: "running" for instance in ids_of(ended) if instance in began}, ends_of(ended))
        self._pending |= {instance: asked_at for instance in _pending(instances) if instance in self._pending}
        self._update({instance: {"since": at} for instance, at in began.items()})

    def ended(self, states: Mapping[str, str], at: Mapping[str, datetime] | None = None) -> None:
        """Record instances that have ended or were terminated: id → the state before. `at`: the time, if known.

        An instance that was terminated while it was pending never ran, and was never paid for. If the record can't be
        written, the data is kept in memory, so that ending hosts never waits.
        """
        now, times, living = self._clock.now(), at or {}, {*self.living()}
        changes = {
            instance: {"until": times.get(instance, now), **({"since": None} if state == "pending" else {})}
            for instance, state in states.items()
            if instance in living
        }
        with suppress(StoreError):
            self._update(changes)

    def not_listed(self, seen: Collection[str] | None, untagged: Collection[str] = ()) -> Recorded:
        """Return what may live of the cluster beside the listed instances. `seen` is None where they could not be
        listed. `untagged`: hosts that EC2 shows by their ids alone, because somebody has removed their tags.
        """
        living = [host for launch in self._known.values() for host in launch.living]
        unlisted = [host for host in living if seen is None or host.identity not in seen]
        hidden = [host for host in unlisted if seen is None or host.identity in untagged or self.may_lag(host.identity)]
        names = [
            f"instance {host.identity}, {'without its tags' if host.identity in untagged else 'not listed yet'}"
            for host in hidden
        ]
        if until := self.unknown_until():
            names.append(f"a launch whose answer was lost, which may show until {until:%H:%M:%S} UTC")
        newest = max(self._known.values(), key=attrgetter("asked_at"), default=None)
        return Recorded(
            hosts=tuple({host.identity: host for host in hidden}.values()),
            owner=newest.owner if newest else "",
            expires_at=newest.expires_at if newest else None,
            names=names,
        )

    def living(self, role: Role | None = None, subnet: str = "") -> list[str]:
        """Return instances without a known end; of one role, and in one subnet, where these are given."""
        chosen = (
            launch
            for launch in self._known.values()
            if role in (None, launch.role) and subnet in ("", launch.place[_SUBNET])
        )
        return [host.identity for launch in chosen for host in launch.living]

    def with_tags(self, instances: Iterable[Answer]) -> list[Answer]:
        """Return those instances that are on record, with the tags of their launch beside their own."""
        tags = {host.identity: as_list(recorded_tags(launch, host)) for launch, host in self._hosts()}
        return [
            {**instance, "Tags": [*instance.get("Tags", ()), *tags[instance["InstanceId"]]]}
            for instance in instances
            if instance["InstanceId"] in tags
        ]

    @property
    def image(self) -> str:
        """Return the image of the cluster's hosts so far; empty where none were asked for."""
        launches = sorted(self._known.values(), key=attrgetter("asked_at"))
        images = [launch.place.get(_IMAGE, "") for launch in launches]
        # Older records name it for each host alone.
        images += [host.facts.get("image", "") for launch in launches for host in launch.hosts or ()]
        return next((image for image in images if image.startswith("ami-")), "")

    def has_ended(self, instance: str) -> bool:
        return any(host.identity == instance and host.until is not None for _, host in self._hosts())

    def is_used_up(self, token: str) -> bool:
        """Tell whether that request has launched hosts, and all of them have ended."""
        launch = self._known.get(token)
        return launch is not None and bool(launch.hosts) and not launch.living

    def begun_in(self) -> set[str]:
        """Return subnets with living hosts, or with a launch whose answer is not known."""
        return {launch.place[_SUBNET] for launch in self._known.values() if launch.hosts is None or launch.living}

    def groups(self) -> dict[str, datetime]:
        """Return the requested placement groups by name, with the time until which EC2 may not know them."""
        named = [(launch.place.get(_GROUP, ""), launch.asked_at + LAG) for launch in self._known.values()]
        return {group: max(until for name, until in named if name == group) for group, _ in named if group}

    def may_lag(self, instance: str) -> bool:
        """Tell whether EC2 may not know that instance yet."""
        launches = (launch for launch, host in self._hosts() if host.identity == instance)
        return any(self._clock.now() < launch.asked_at + LAG for launch in launches)

    def unknown_until(self) -> datetime | None:
        """Return the time until which instances with unknown ids may still appear; None where that is impossible."""
        times = [launch.asked_at + LAG for launch in self._known.values() if launch.hosts is None]
        latest = max([*times, *([self._blind_until] if self._blind_until else [])], default=None)
        return latest if latest and self._clock.now() < latest else None

    def _hosts(self) -> Iterator[tuple[Launch, HostInfo]]:
        return ((launch, host) for launch in self._known.values() for host in launch.hosts or ())

    def _update(self, changes: Mapping[str, Mapping[str, object]]) -> None:
        """Change hosts, in memory and in the record. Each launch is written once."""
        failed: StoreError | None = None
        for launch in list(self._known.values()):
            hosts = tuple(host.model_copy(update=dict(changes.get(host.identity, {}))) for host in launch.hosts or ())
            if launch.hosts is not None and hosts != launch.hosts:
                try:
                    self._note(launch.model_copy(update={"hosts": hosts}))
                except StoreError as error:
                    failed = error
        if failed:
            raise failed

    def _note(self, launch: Launch) -> None:
        # Memory first, so that it is right where the record can't be written
        self._known[launch.token] = launch
        self._records.note(launch)


def where(subnet: str, zone: str, group: str, image: str | None) -> dict[str, str]:
    """Return the position of a launch within a region, and its image; `group` is empty where it has none."""
    further = {_GROUP: group, _IMAGE: image}
    return {_SUBNET: subnet, _ZONE: zone, **{name: value for name, value in further.items() if value}}


def ends_of(instances: Iterable[Answer]) -> dict[str, datetime]:
    """Return when users ended instances, as far as EC2 reports it: `User initiated (2026-01-31 12:00:00 GMT)`."""
    ends = {}
    for instance in instances:
        time = str(instance.get("StateTransitionReason") or "").partition("(")[2].rpartition(" GMT)")[0]
        with suppress(ValueError):
            ends[instance["InstanceId"]] = datetime.strptime(time, "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
    return ends


def _pending(instances: Iterable[Answer]) -> list[str]:
    return [instance["InstanceId"] for instance in instances if instance["State"]["Name"] == "pending"]
