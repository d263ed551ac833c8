"""Groups of existing hosts: as a definition names them, `provider: {name: ssh, options: {…}}`, and leased, cleaned and
released together.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import PurePosixPath
from typing import Annotated, Self

from pydantic import Field, model_validator

from plimsoll.adapters.hosts.reached import HostOptions, Target
from plimsoll.adapters.providers.ssh.connection import Connections
from plimsoll.adapters.providers.ssh.member import FOLDER, Held, Lease, Member, is_below_home
from plimsoll.domain.hosts.cluster import Cluster, HostInfo, Role, load_host_name
from plimsoll.domain.text.base import Model
from plimsoll.domain.text.errors import HostError, SecretError
from plimsoll.domain.text.units import Size
from plimsoll.ports.host import at_once

_GIB = 1 << 30
# No colon and the like: class paths are made of it. A tilde stands for the user's home.
FOLDER_PATTERN = r"^~?(/\.?[A-Za-z0-9_][A-Za-z0-9._-]*)+$"
_Folder = Annotated[str, Field(pattern=FOLDER_PATTERN, examples=["/var/lib/plimsoll"])]


class GroupOptions(Model):
    """Hosts that make up one cluster at a time."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", description="Name of the group")]
    nodes: Annotated[
        tuple[HostOptions, ...],
        Field(description="Database nodes, the seed first; none where a group is load hosts for an external cluster"),
    ] = ()
    load: Annotated[HostOptions, Field(description="Where the load generator runs")]
    further_load_hosts: Annotated[
        tuple[HostOptions, ...], Field(description="Where it runs besides, for definitions with several load hosts")
    ] = ()
    folder: Annotated[_Folder | None, Field(description="Instead of the provider's")] = None

    @property
    def loads(self) -> tuple[HostOptions, ...]:
        return (self.load, *self.further_load_hosts)

    @property
    def hosts(self) -> tuple[HostOptions, ...]:
        return (*self.nodes, *self.loads)


class SshOptions(Model):
    """Which machines there are."""

    groups: Annotated[tuple[GroupOptions, ...], Field(min_length=1, description="One cluster each at a time")]
    connection: Annotated[str, Field(min_length=1, description="Connection whose key logs in")] = "ssh_default"
    folder: Annotated[_Folder, Field(description="Where clusters live on every host")] = "~/.plimsoll"
    disk_per_host: Annotated[Size, Field(description="Free disk that each host must have below it")] = 20 * _GIB

    @model_validator(mode="after")
    def _hosts_are_in_one_group(self) -> Self:
        repeated = [name for name, count in Counter(group.name for group in self.groups).items() if count > 1]
        # A set of each group's, because its hosts may be addresses of one machine
        reached = [
            {(host.reached_at, host.port, self.folder_of(group)) for host in group.hosts} for group in self.groups
        ]
        places = Counter(chain.from_iterable(reached))
        repeated += [f"{address}:{port}" for (address, port, _), count in places.items() if count > 1]
        if repeated:
            raise ValueError(f"stands in more than one group: {', '.join(repeated)}")
        return self

    def folder_of(self, group: GroupOptions) -> str:
        return group.folder or self.folder


_MEMBER = "group_host"
"""The fact of a host with its own name in the group, where it has taken another host's name."""


class Group:
    """A group of hosts. The first load host's lease decides: it is taken first and released last.

    That holds even while another host generates the load in its place.
    """

    def __init__(self, options: GroupOptions, provider: SshOptions, connections: Connections) -> None:
        self.name = options.name
        folder = PurePosixPath(provider.folder_of(options))

        def member(name: str, role: Role, host: HostOptions) -> Member:
            return Member(name, role, host, provider.connection, folder, connections)

        self.loads = tuple(member(load_host_name(n), "load", host) for n, host in enumerate(options.loads, start=1))
        self.nodes = tuple(member(f"node{n}", "node", host) for n, host in enumerate(options.nodes, start=1))
        self.load, self.members = self.loads[0], (*self.loads, *self.nodes)

    def fits(self, nodes: int, load_hosts: int) -> bool:
        return len(self.nodes) >= nodes and len(self.loads) >= load_hosts

    def members_of(self, hosts: Sequence[HostInfo]) -> tuple[Member, ...]:
        """Return the member that decides, and those that belong to a cluster of these hosts."""
        names = {_member_name(info) for info in hosts}
        return (self.load, *(member for member in self.members[1:] if member.name in names))

    def _machines(self, cluster: Cluster) -> tuple[Member, ...]:
        """Return the cluster's members, each machine once: what is done for one, such as cleaning, is done for all."""
        first: dict[tuple[Target, PurePosixPath], Member] = {}
        for member in self.members_of(cluster.hosts):
            first.setdefault(member.reached, member)
        return tuple(first.values())

    def infos(self, nodes: int, load_hosts: int, avoided: Collection[str] = ()) -> tuple[HostInfo, ...]:
        """Choose so many nodes and load hosts, further ones in place of avoided ones. Empty: there are too few."""
        hosts = tuple(self._info(member) for member in (*self.nodes[:nodes], *self.loads[:load_hosts]))
        for info in [host for host in hosts if host.identity in avoided]:
            _, hosts = next(self._with_another(hosts, info, avoided), (None, ()))
            if not hosts:
                break
        return hosts

    def _info(self, member: Member) -> HostInfo:
        return HostInfo(
            name=member.name,
            role=member.role,
            address=member.options.address,
            # Without those that would make it another host or move its folder
            facts={name: fact for name, fact in member.options.facts.items() if name not in (_MEMBER, FOLDER)}
            | {"group": self.name},
        )

    def placed(self, hosts: Sequence[HostInfo]) -> tuple[HostInfo, ...]:
        """Return the hosts with their folders as facts, where these are below a home.

        HostError for one that can't be asked. A host that does not answer later still has its place in the cluster.
        """
        return tuple(at_once(hosts, self._placed))

    def _placed(self, info: HostInfo) -> HostInfo:
        member = self.member_of(info)
        if member is None or FOLDER in info.facts or not is_below_home(member.written):
            return info
        return info.model_copy(update={"facts": {**info.facts, FOLDER: str(member.folder)}})

    def with_others(self, lease: Lease, unfit: Sequence[HostInfo], avoided: Collection[str]) -> Lease | None:
        """Take further hosts of the group in the place of unfit ones, and give those back; None: there are not enough.

        Repeated after a crash, it takes the same. The load host that decides keeps its lease when it is replaced.
        HostError.
        """
        changed = lease
        for info in unfit:
            other = self._taken_instead(changed, info, avoided)
            if other is None:
                return None
            changed = other
        # Leases first: after a crash from here on they name the new hosts, and `release_others` gives the old ones back
        self.renew(changed)
        used = {member.place for member in self.members_of(changed.cluster.hosts)}
        for member in filter(None, map(self.member_of, unfit)):
            member.clean(lease.key)
            # Another host of the cluster may be the same machine
            if member.place not in used:
                member.release(lease.key)
        return changed

    def _taken_instead(self, lease: Lease, info: HostInfo, avoided: Collection[str]) -> Lease | None:
        """Return the lease with the first further host in that one's place that is free and answers."""
        for member, hosts in self._with_another(lease.cluster.hosts, info, avoided):
            with suppress(HostError, SecretError):
                cluster = lease.cluster.model_copy(update={"hosts": self.placed(hosts)})
                changed = lease.model_copy(update={"cluster": cluster})
                if member.take(changed).lease.key == lease.key:
                    member.clean(None)
                    return changed
        return None

    def _with_another(
        self, hosts: Sequence[HostInfo], info: HostInfo, avoided: Collection[str]
    ) -> Iterator[tuple[Member, tuple[HostInfo, ...]]]:
        """Yield each further host that may take that one's place among a cluster's hosts, and these hosts then."""
        used = {member.name for member in self.members_of(hosts)}
        for member in self.nodes if info.role == "node" else self.members:
            other = self._info(member)
            if info.role != "node":  # load hosts are found by name in files, so the name stays
                facts = {**other.facts, _MEMBER: member.name}
                other = other.model_copy(update={"name": info.name, "role": "load", "facts": facts})
            if member.name not in used and other.identity not in avoided:
                yield member, tuple(other if host.name == info.name else host for host in hosts)

    def release_others(self, lease: Lease) -> None:
        """Give back what the cluster had of the group before others took its place, as far as it can be reached."""
        used = {member.place for member in self.members_of(lease.cluster.hosts)}
        for member in self.members:
            with suppress(HostError, SecretError):
                held = None if member.place in used else member.held()
                if held is not None and held.lease.key == lease.key:
                    member.clean(lease.key)
                    member.release(lease.key)

    def take(self, lease: Lease) -> Held:
        """Take all hosts for the lease's cluster, or none. Returns another cluster's first lease, else this one."""
        held = self.load.take(lease)
        for member in self._machines(lease.cluster)[1:]:
            if held.lease.key == lease.key:
                held = member.take(lease)
        if held.lease.key != lease.key:
            self.give_up(lease)
        return held

    def clean(self, cluster: Cluster, key: str | None) -> None:
        """Clean all hosts of that cluster at once. Raises the first HostError where something remains."""
        at_once(self._machines(cluster), lambda member: member.clean(key))

    def clear(self, cluster: Cluster, keep: frozenset[str]) -> None:
        """Clear all hosts at once of everything but these environments of the cluster."""
        at_once(self._machines(cluster), lambda member: member.clear(cluster, keep))

    def renew(self, lease: Lease) -> None:
        """Change the leases, that of the first load host last, because it decides."""
        for member in reversed(self._machines(lease.cluster)):
            member.renew(lease)

    def ready(self, lease: Lease) -> bool:
        """Record that the cluster is whole."""
        return bool(self.load.ask("lease-ready", folder=str(self.load.folder), key=lease.key))

    def release(self, lease: Lease) -> None:
        """Release all hosts, the first load host last, so that the cluster can be found until then."""
        for member in reversed(self._machines(lease.cluster)):
            member.release(lease.key)

    def give_up(self, lease: Lease) -> None:
        """Release what was taken, as far as hosts can be reached. Other leases expire."""
        for member in reversed(self._machines(lease.cluster)):
            with suppress(HostError, SecretError):
                member.release(lease.key)

    def member_of(self, info: HostInfo) -> Member | None:
        """Return the host of the group that is this host of a cluster; None where it is of another group."""
        return next((member for member in self.members if member.name == _member_name(info)), None)


def _member_name(info: HostInfo) -> str:
    return info.facts.get(_MEMBER, info.name)
