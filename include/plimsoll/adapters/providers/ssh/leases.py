"""The content of a host's lease: the cluster that uses the host."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pydantic import AwareDatetime, ValidationError

from plimsoll.adapters.hosts.onhost.lease import LEASE
from plimsoll.domain.base import LeftOutIfEmpty, Model
from plimsoll.domain.cluster import Cluster, ClusterRequest
from plimsoll.domain.errors import HostError


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
    """Return the lease for a requested cluster."""
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
