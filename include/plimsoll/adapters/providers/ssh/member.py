"""One host of a group: its lease, its cleaning, and the access to it as a host of a cluster."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any

from pydantic import AwareDatetime, ValidationError

from plimsoll.adapters.hosts.onhost.lease import LEASE
from plimsoll.adapters.hosts.processes import process_tags_of
from plimsoll.adapters.hosts.reached import HostOptions, Target
from plimsoll.adapters.providers.ssh.bundles import Program, Staged
from plimsoll.adapters.providers.ssh.connection import Connections
from plimsoll.adapters.providers.ssh.execution import default_folder_command
from plimsoll.adapters.providers.ssh.host import SshHost
from plimsoll.domain.hosts.cluster import Cluster, ClusterRequest, HostInfo, Role
from plimsoll.domain.text.base import LeftOutIfEmpty, Model
from plimsoll.domain.text.errors import HostError

FOLDER = "folder"
"""The fact of a cluster's host with the folder of the cluster, if that is below a user's home."""
FORMER_DEFAULT = PurePosixPath("/var/tmp/plimsoll")  # noqa: S108
"""The folder of definitions without one, until the default was below the home. Existing clusters keep it."""

_HOME = "~"
# As plain as a definition's own folders must be: class paths are made of them
_PLAIN = re.compile(r"(/[A-Za-z0-9._-]+)+")


class Lease(Model):
    """The cluster and its expiry. `ready` is set when all hosts are taken and clean, which makes the cluster whole.

    `data_until`: when the data on it end, if these are kept for longer.
    """

    key: str
    cluster: Cluster
    ready: bool = False
    data_until: LeftOutIfEmpty[AwareDatetime | None] = None

    @property
    def until(self) -> datetime:
        """Return the time after which others may take the hosts."""
        return max(filter(None, (self.cluster.expires_at, self.data_until)))

    def prolonged(self, request: ClusterRequest) -> "Lease":
        """Return the lease of a kept cluster for its present owner, until the latest times that were ever requested."""
        expires_at = max(self.cluster.expires_at, request.expires_at)
        cluster = self.cluster.model_copy(update={"owner": request.owner, "expires_at": expires_at})
        data_until = max(self.until, expires_at + request.kept_beyond)
        is_longer = data_until > expires_at
        return self.model_copy(update={"cluster": cluster, "data_until": data_until if is_longer else None})


@dataclass(frozen=True)
class Held:
    """The lease on a host, with the host's own time when it was read. `record` is the lease as the host has it."""

    lease: Lease
    now: datetime
    record: Mapping[str, Any]

    def __str__(self) -> str:
        """Return the lease in words: `demo-1/g1-040k-r1/1 of run-7 until 2026-01-31 12:00 UTC`."""
        until = self.lease.until.astimezone(UTC)
        return f"{self.lease.key} of {self.lease.cluster.owner} until {until:%Y-%m-%d %H:%M} UTC"


def parse_held(answer: dict[str, Any], where: str) -> Held | None:
    """Parse a host's answer; None where nobody holds the host. Raises HostError for a lease that can't be read."""
    record = answer["lease"]
    if record is None:
        return None
    try:
        lease = Lease.model_validate(record)
    except ValidationError as error:
        first = error.errors()[0]
        what = f"its {LEASE} is no lease of Plimsoll: {'.'.join(map(str, first['loc']))}: {first['msg']}"
        mend = "end what runs for it by hand, and remove the file"
        raise HostError(what, where=where, mend=mend) from error
    return Held(lease, datetime.fromtimestamp(answer["now"], UTC), record)


def is_below_home(written: PurePosixPath) -> bool:
    return written.parts[0] == _HOME


def folder_of(info: HostInfo, written: PurePosixPath) -> PurePosixPath:
    """Return the folder on a host of a cluster, which does not have to answer."""
    return PurePosixPath(info.facts.get(FOLDER, FORMER_DEFAULT)) if is_below_home(written) else written


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
        """Return the group's own folder on the host, asked once for each connection. Raises HostError."""
        if not is_below_home(self.written):
            return self.written
        connection = self.connections.to(self._target)
        if self.written not in connection.folders:
            line = default_folder_command(self.written.relative_to(_HOME), FORMER_DEFAULT)
            answer = connection.execute(line, timeout_s=_ANSWER_S)
            path = answer.stdout.decode(errors="replace").strip()
            if answer.exit_code != 0 or _PLAIN.fullmatch(path) is None:
                what = f"the home of its user can't be used: {path or answer.stderr.decode(errors='replace').strip()}"
                raise HostError(what, where=self._where, mend="name another folder in `provider.options.folder`")
            connection.folders[self.written] = PurePosixPath(path)
        return connection.folders[self.written]

    @property
    def work(self) -> PurePosixPath:
        return self.folder / _CLUSTERS

    @property
    def place(self) -> Place:
        """Return the place that has one lease: hosts of a group may be addresses of one machine."""
        return self._target.address, self._target.port, self.written

    @property
    def reached(self) -> tuple[Target, PurePosixPath]:
        return self._target, self.written

    @property
    def bundles(self) -> PurePosixPath:
        """Return the folder of installed bundles. They are named after their content and kept across clusters."""
        return self.folder / _BUNDLES

    def ask(self, command: str, timeout_s: float = _ANSWER_S, **request: Any) -> Any:
        """Call the program on that host. Raises HostError."""
        program = Program(self.connections.to(self._target), self.bundles, self._where)
        return program.call(command, timeout_s=timeout_s, **request)

    def held(self) -> Held | None:
        return parse_held(self.ask("lease-read", folder=str(self.folder)), f"host {self.name}")

    def take(self, lease: Lease) -> Held:
        """Take the host and return the lease that holds it then.

        An expired lease is taken over after ending everything that it left, unless its holder renews it before.
        """
        record = lease.model_dump(mode="json")
        held = _taken(self.name, self.ask("lease-take", folder=str(self.folder), lease=record))
        if held.lease.key == lease.key or held.now <= held.lease.until:
            return held
        request = {"folder": str(self.folder), "work": str(self.work), "lease": record, "seen": held.record}
        answer = self.ask("lease-take-over", _CLEAN_S, **request)
        require_nothing_left(answer["left"], self._where)
        return _taken(self.name, answer)

    def clean(self, key: str | None) -> None:
        """End and remove everything of that cluster, or of all clusters. Raises HostError where something remains."""
        require_nothing_left(self.ask("clean", _CLEAN_S, work=str(self.work), cluster=key), self._where)

    def clear(self, cluster: Cluster, keep: frozenset[str]) -> None:
        """End and remove everything of that cluster except these environments. Raises HostError otherwise."""
        # Hosts of a cluster may be one machine.
        folders = [str(self.work / str(cluster.id) / info.name) for info in cluster.hosts]
        request = {"work": str(self.work), "cluster": str(cluster.id), "hosts": folders, "keep": sorted(keep)}
        require_nothing_left(self.ask("clear", _CLEAN_S, **request), self._where)

    def renew(self, lease: Lease) -> None:
        """Change the lease. Raises HostError where another cluster has it by now."""
        if not self.ask("lease-renew", folder=str(self.folder), lease=lease.model_dump(mode="json")):
            raise HostError("another has taken it meanwhile", where=f"host {self.name}", mend="run the cell again")

    def release(self, key: str) -> None:
        """End the lease, if that key holds it."""
        self.ask("lease-release", folder=str(self.folder), key=key)

    def host(self, cluster: Cluster, info: HostInfo, environment: str, staged: Staged | None) -> SshHost:
        """Return the host of a cluster in that environment. It downloads bundles from where `staged` says."""
        connection, folder = self.connections.to(self._target), folder_of(info, self.written)
        work = folder / _CLUSTERS
        root = work / str(cluster.id) / info.name / environment
        tags = process_tags_of(cluster, info, work, environment)
        return SshHost(info, root, connection, tags=tags, bundles=folder / _BUNDLES, staged=staged)

    @property
    def _target(self) -> Target:
        return self.options.target(self.connection_id)

    @property
    def _where(self) -> str:
        return f"host {self.name} ({self._target.place})"


def require_nothing_left(left: Sequence[str], where: str) -> None:
    """Raise HostError where something of a cluster remains."""
    if left:
        mend = "end these processes and remove what is left by hand, then destroy the cluster again"
        raise HostError(f"it is not clean: {'; '.join(left)}", where=where, mend=mend)


def _taken(name: str, answer: dict[str, Any]) -> Held:
    held = parse_held(answer, f"host {name}")
    if held is None:
        raise HostError("its lease vanished while it was taken", where=f"host {name}", mend="try again")
    return held
