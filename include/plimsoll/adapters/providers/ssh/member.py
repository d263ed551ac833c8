"""One host of a group: its lease, its cleaning, and the access to it as a host of a cluster."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from plimsoll.adapters.hosts.processes import process_tags_of
from plimsoll.adapters.providers.ssh.bundles import Staged
from plimsoll.adapters.providers.ssh.connection import Connections
from plimsoll.adapters.providers.ssh.host import SshHost
from plimsoll.adapters.providers.ssh.leases import Held, Lease, absolute, folder_of, parse_held
from plimsoll.adapters.providers.ssh.options import HostOptions, Target
from plimsoll.adapters.providers.ssh.program import Program
from plimsoll.domain.hosts.cluster import Cluster, HostInfo, Role
from plimsoll.domain.text.errors import HostError

_ANSWER_S, _CLEAN_S = 60.0, 120.0
_CLUSTERS, _BUNDLES = "clusters", "bundles"

Place = tuple[str, int, PurePosixPath]
"""Address and port of a host, and the group's folder there."""


@dataclass(frozen=True)
class Member:
    """One host of a group. `written` is the group's folder on it as the definition has it, maybe below the home."""

    name: str
    role: Role
    options: HostOptions
    connection_id: str
    written: PurePosixPath
    connections: Connections

    @property
    def folder(self) -> PurePosixPath:
        """Return the group's own folder on the host. Raises HostError where the host can't be asked."""
        target = self.options.target(self.connection_id)
        return absolute(self.written, self.connections.to(target), f"host {self.name} ({target.place})")

    @property
    def work(self) -> PurePosixPath:
        """Return the folder of clusters."""
        return self.folder / _CLUSTERS

    @property
    def place(self) -> Place:
        """Return the place that has one lease: hosts of a group may be addresses of one machine."""
        target = self.options.target(self.connection_id)
        return target.address, target.port, self.written

    @property
    def reached(self) -> tuple[Target, PurePosixPath]:
        """Return the way to the host, and the group's folder there."""
        return self.options.target(self.connection_id), self.written

    @property
    def bundles(self) -> PurePosixPath:
        """Return the folder of installed bundles. They are named after their content and kept across clusters."""
        return self.folder / _BUNDLES

    def ask(self, command: str, timeout_s: float = _ANSWER_S, **request: Any) -> Any:
        """Call the program on that host. Raises HostError."""
        target = self.options.target(self.connection_id)
        where = f"host {self.name} ({target.place})"
        return Program(self.connections.to(target), self.bundles, where).call(command, timeout_s=timeout_s, **request)

    def held(self) -> Held | None:
        """Return the host's lease."""
        return parse_held(self.ask("lease-read", folder=str(self.folder)), f"host {self.name}")

    def take(self, lease: Lease) -> Held:
        """Take the host and return the lease that holds it then.

        An expired lease is taken over after ending everything that it left, unless its holder renews it before.
        """
        wanted = lease.model_dump(mode="json")
        held = _taken(self.name, self.ask("lease-take", folder=str(self.folder), lease=wanted))
        if held.lease.key == lease.key or not held.expired:
            return held
        answer = self.ask(
            "lease-take-over",
            _CLEAN_S,
            folder=str(self.folder),
            work=str(self.work),
            lease=wanted,
            seen=held.record,
        )
        self._require_nothing_left(answer["left"])
        return _taken(self.name, answer)

    def clean(self, key: str | None) -> None:
        """End and remove everything of that cluster, or of all clusters. Raises HostError where something remains."""
        left = self.ask("clean", _CLEAN_S, work=str(self.work), cluster=key)
        self._require_nothing_left(left)

    def _require_nothing_left(self, left: Sequence[str]) -> None:
        if left:
            mend = "end these processes and remove what is left by hand, then destroy the cluster again"
            place = f"host {self.name} ({self.options.target(self.connection_id).place})"
            raise HostError(f"it is not clean: {'; '.join(left)}", where=place, mend=mend)

    def clear(self, cluster: Cluster, keep: frozenset[str]) -> None:
        """End and remove everything of that cluster except these environments. Raises HostError otherwise."""
        # Hosts of a cluster may be one machine.
        folders = [str(self.work / str(cluster.id) / info.name) for info in cluster.hosts]
        left = self.ask(
            "clear", _CLEAN_S, work=str(self.work), cluster=str(cluster.id), hosts=folders, keep=sorted(keep)
        )
        self._require_nothing_left(left)

    def renew(self, lease: Lease) -> None:
        """Change the lease. Raises HostError where another cluster has it by now."""
        if not self.ask("lease-renew", folder=str(self.folder), lease=lease.model_dump(mode="json")):
            raise HostError("another has taken it meanwhile", where=f"host {self.name}", mend="run the cell again")

    def release(self, key: str) -> None:
        """End the lease, if that key holds it."""
        self.ask("lease-release", folder=str(self.folder), key=key)

    def host(self, cluster: Cluster, info: HostInfo, environment: str, staged: Staged | None) -> SshHost:
        """Return the host of a cluster in that environment. It downloads bundles from where `staged` says."""
        connection = self.connections.to(self.options.target(self.connection_id))
        folder = folder_of(info, self.written)
        work = folder / _CLUSTERS
        root = work / str(cluster.id) / info.name / environment
        tags = process_tags_of(cluster, info, work, environment)
        return SshHost(info, root, connection, tags=tags, bundles=folder / _BUNDLES, staged=staged)


def _taken(name: str, answer: dict[str, Any]) -> Held:
    held = parse_held(answer, f"host {name}")
    if held is None:
        raise HostError("its lease vanished while it was taken", where=f"host {name}", mend="try again")
    return held
