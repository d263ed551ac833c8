"""The hosts of a cluster's launches. On record: each launch is written before the program is called, and again with its
answer. And as a group of the provider `ssh`, which does all else: leases, cleaning, files, programs and jobs.
"""

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Self

from plimsoll.adapters.hosts.reached import HostOptions
from plimsoll.adapters.providers.command.contract import AnsweredHost, Tags
from plimsoll.adapters.providers.command.options import CommandOptions
from plimsoll.adapters.providers.command.programs import poll_pauses
from plimsoll.adapters.providers.requested import looks
from plimsoll.adapters.providers.ssh import Connections, WrongHostKey
from plimsoll.domain.hosts.cluster import Cluster, ClusterId, HostInfo, Launch
from plimsoll.domain.text.errors import HostError, ProviderError, StoreError
from plimsoll.ports.controller import Clock
from plimsoll.ports.host import at_once
from plimsoll.ports.provider import Launches

_GROUP = "hosts"
_ANSWER_S = 20.0


class UnkeptLaunches:
    """An implementation of the Launches port in memory, for a cluster that this process alone makes and ends."""

    def __init__(self) -> None:
        self._known: dict[str, Launch] = {}

    def of(self, cluster_id: ClusterId) -> Sequence[Launch]:
        return [launch for launch in self._known.values() if launch.id == cluster_id]

    def unsettled(self) -> Sequence[ClusterId]:
        return ()

    def note(self, launch: Launch) -> None:
        self._known[launch.token] = launch


def facts_of(host: AnsweredHost) -> dict[str, str]:
    """Return the facts of a host: its own, and those that tell it from others."""
    answered = {"instance_id": host.id, "instance_type": host.type, "zone": host.zone}
    return {**host.facts, **{name: fact for name, fact in answered.items() if fact}}


def host_info(host: AnsweredHost, options: CommandOptions) -> HostInfo:
    """Return the host as a cluster has it. It is paid for from its launch on."""
    price = options.prices.of(host.role) if host.usd_per_hour is None else host.usd_per_hour
    return HostInfo(
        name=host.name,
        role=host.role,
        address=host.address,
        facts=facts_of(host),
        since=host.owned.created,
        usd_per_hour=price,
    )


def ssh_options(hosts: Sequence[AnsweredHost], options: CommandOptions) -> dict[str, object]:
    """Return the options of the provider `ssh` for one cluster's hosts. It must have a load host."""
    nodes = [_host_options(host) for host in hosts if host.role == "node"]
    load, *further = [_host_options(host) for host in hosts if host.role == "load"]
    group = {"name": _GROUP, "nodes": nodes, "load": load, "further_load_hosts": further}
    return {"connection": options.connection, "folder": options.folder, "groups": [group]}


def _host_options(host: AnsweredHost) -> dict[str, object]:
    return {**host.model_dump(include=set(HostOptions.model_fields)), "facts": facts_of(host)}


def as_own(cluster: Cluster, hosts: Sequence[AnsweredHost], options: CommandOptions, provider: str) -> Cluster:
    """Return a cluster of the provider `ssh` as one of hosts that are paid for, since their launch."""
    known = {host.name: host_info(host, options) for host in hosts}
    paid = (
        info.model_copy(update={"since": known[info.name].since, "usd_per_hour": known[info.name].usd_per_hour})
        for info in cluster.hosts
    )
    return cluster.model_copy(update={"provider": provider, "hosts": tuple(paid)})


class Reach:
    """Waits until new hosts prove their identity and let us in."""

    def __init__(self, connections: Connections, clock: Clock) -> None:
        self._connections, self._clock = connections, clock

    def await_hosts(self, hosts: Sequence[AnsweredHost], options: CommandOptions) -> None:
        """Raises ProviderError when one does not let us in within `startup`, at once where another answers."""
        left = list(hosts)
        for _ in looks(self._clock, poll_pauses(), options.startup):
            errors = at_once(left, lambda host: self._why_not(host, options.connection))
            waiting = [(host, why) for host, why in zip(left, errors, strict=True) if why is not None]
            if not waiting:
                return
            left = [host for host, _ in waiting]
            if wrong := next((why for _, why in waiting if isinstance(why, WrongHostKey)), None):
                raise ProviderError(wrong.what, where=wrong.where, mend=wrong.mend) from wrong
        reasons = "; ".join(f"{host}: {why.what}" for host, why in waiting)
        mend = f"{waiting[0][1].mend}; `launch` is given the public key to let in"
        raise ProviderError(f"hosts did not let us in within {options.startup}: {reasons}", mend=mend)

    def _why_not(self, host: AnsweredHost, connection: str) -> HostError | None:
        try:
            self._connections.to(host.target(connection)).execute("true", timeout_s=_ANSWER_S)
        except HostError as error:
            return error
        return None


@dataclass
class Launched:
    """The launches of one cluster, in memory and in the record; none where the record could not be read."""

    records: Launches
    id: ClusterId
    options: CommandOptions
    known: list[Launch] = field(default_factory=list)
    over: set[str] = field(default_factory=set)
    """Tokens of launches whose program has ended by itself, so that it brings nothing more."""

    @classmethod
    def read(cls, records: Launches, cluster_id: ClusterId, options: CommandOptions) -> Self:
        """Raises StoreError where the record can't be read: then nothing may be launched."""
        return cls(records, cluster_id, options, list(records.of(cluster_id)))

    @property
    def unanswered(self) -> Launch | None:
        """Return the launch whose answer is not known: its process died, or was lost sight of."""
        return next((launch for launch in self.known if launch.hosts is None), None)

    @property
    def living(self) -> tuple[HostInfo, ...]:
        return tuple(host for launch in self.known for host in launch.living)

    def unknown_until(self) -> datetime | None:
        """Return the time until which such a launch may still bring hosts; None where there is none."""
        launch = self.unanswered
        if launch is None or launch.token in self.over:
            return None
        return launch.asked_at + self.options.launch_within + timedelta(minutes=1)

    def next_token(self, store: str) -> str:
        """Return the token of the next launch: that of the unanswered one, so that nothing is made twice."""
        if launch := self.unanswered:
            return launch.token
        return hashlib.sha256(f"{store}\n{self.id}\n{len(self.known)}".encode()).hexdigest()[:32]

    def requested(self, tags: Tags, now: datetime) -> None:
        """Record a launch that is about to be asked for. Raises StoreError; then it must not be."""
        self._note(
            Launch(
                id=self.id,
                token=tags.token,
                role="load",  # each has one, and the hosts say their own
                place={"connection": self.options.connection, "program": self.options.launch[0]},
                asked_at=now,
                expires_at=tags.expires,
                owner=tags.owner,
                nodes=tags.nodes,
                load_hosts=tags.load_hosts,
            )
        )

    def answered(self, token: str, hosts: Sequence[AnsweredHost]) -> None:
        """Record the hosts of that launch; none: it made none, or they were ended. Raises StoreError."""
        for launch in [launch for launch in self.known if launch.token == token]:
            self._note(launch.model_copy(update={"hosts": tuple(host_info(host, self.options) for host in hosts)}))

    def discovered(self, hosts: Sequence[AnsweredHost]) -> None:
        """Record listed hosts of launches whose answer was lost: they cost, too. In memory where that fails."""
        for launch in list(self.known):
            recorded = launch.hosts or ()
            ids = {host.identity for host in recorded}
            own = [host for host in hosts if host.owned.token == launch.token and host.id not in ids]
            if own:
                further = tuple(host_info(host, self.options) for host in own)
                with suppress(StoreError):
                    self._note(launch.model_copy(update={"hosts": (*recorded, *further)}))

    def prolonged(self, owner: str, expires_at: datetime) -> None:
        """Record the present owner of kept hosts, and their expiry. Raises StoreError."""
        for launch in [launch for launch in self.known if launch.living]:
            self._note(launch.model_copy(update={"owner": owner, "expires_at": expires_at}))

    def ended(self, now: datetime) -> None:
        """Record that nothing of the cluster lives. In memory where that fails, so that ending never waits."""
        for launch in list(self.known):
            hosts = (host.model_copy(update={"until": host.until or now}) for host in launch.hosts or ())
            with suppress(StoreError):
                self._note(launch.model_copy(update={"hosts": tuple(hosts)}))

    def _note(self, launch: Launch) -> None:
        self.known = [*(known for known in self.known if known.token != launch.token), launch]
        self.records.note(launch)
