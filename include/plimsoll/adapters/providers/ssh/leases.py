"""What a lease says of the cluster that uses a host, and the folder that is leased: as a definition has it, or below
the home of the user who logs in.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any

from pydantic import AwareDatetime, ValidationError

from plimsoll.adapters.hosts.onhost.lease import LEASE
from plimsoll.adapters.providers.ssh.connection import Connection
from plimsoll.adapters.providers.ssh.execution import default_folder_command
from plimsoll.domain.hosts.cluster import Cluster, ClusterRequest, HostInfo
from plimsoll.domain.text.base import LeftOutIfEmpty, Model
from plimsoll.domain.text.errors import HostError

FOLDER = "folder"
"""The fact of a cluster's host with the folder of the cluster, if that is below a user's home."""
FORMER_DEFAULT = PurePosixPath("/var/tmp/plimsoll")  # noqa: S108
"""The folder of definitions without one, until the default was below the home. Existing clusters keep it."""

_HOME = "~"
_PLAIN = re.compile(r"(/[A-Za-z0-9._-]+)+")
_ANSWER_S = 60.0


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

    @property
    def leased(self) -> Cluster:
        """Return the cluster with the end of its lease."""
        return self.cluster.model_copy(update={"expires_at": self.until})

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

    @property
    def expired(self) -> bool:
        """Tell whether the lease has expired. What still runs for it is ended by whoever takes the host."""
        return self.now > self.lease.until

    def __str__(self) -> str:
        """Return the lease in words: `demo-1/g1-040k-r1/1 of run-7 until 2026-01-31 12:00 UTC`."""
        until = self.lease.until.astimezone(UTC)
        return f"{self.lease.key} of {self.lease.cluster.owner} until {until:%Y-%m-%d %H:%M} UTC"


def lease_of(cluster: Cluster, request: ClusterRequest) -> Lease:
    return Lease(key=str(cluster.id), cluster=cluster).prolonged(request)


def parse_held(answer: dict[str, Any], where: str) -> Held | None:
    """Parse a host's answer; None where nobody holds the host. Raises HostError for a lease that can't be read."""
    if answer["lease"] is None:
        return None
    record = answer["lease"]
    try:
        lease = Lease.model_validate(record)
    except ValidationError as error:
        first = error.errors()[0]
        what = f"its {LEASE} is no lease of Plimsoll: {'.'.join(map(str, first['loc']))}: {first['msg']}"
        mend = "end what runs for it by hand, and remove the file"
        raise HostError(what, where=where, mend=mend) from error
    return Held(lease, datetime.fromtimestamp(answer["now"], UTC), record)


def absolute(written: PurePosixPath, connection: Connection, where: str) -> PurePosixPath:
    """Return the path on the host, which is asked once for each connection. HostError where it can't be asked."""
    if not is_below_home(written):
        return written
    if written not in connection.folders:
        line = default_folder_command(written.relative_to(_HOME), FORMER_DEFAULT)
        answer = connection.execute(line, timeout_s=_ANSWER_S)
        found = answer.stdout.decode(errors="replace").strip()
        if answer.exit_code != 0 or _PLAIN.fullmatch(found) is None:
            what = f"the home of its user can't be used: {found or answer.stderr.decode(errors='replace').strip()}"
            raise HostError(what, where=where, mend="name another folder in `provider.options.folder`")
        connection.folders[written] = PurePosixPath(found)
    return connection.folders[written]


def is_below_home(written: PurePosixPath) -> bool:
    """Tell whether the path begins with the user's home."""
    return written.parts[0] == _HOME


def folder_of(info: HostInfo, written: PurePosixPath) -> PurePosixPath:
    """Return the folder on a host of a cluster, which does not have to answer."""
    return PurePosixPath(info.facts.get(FOLDER, FORMER_DEFAULT)) if is_below_home(written) else written
