"""The content of a host's lease: the cluster that uses the host."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError

from plimsoll.adapters.hosts.onhost.lease import LEASE
from plimsoll.domain.base import Model
from plimsoll.domain.cluster import Cluster
from plimsoll.domain.errors import HostError


class Lease(Model):
    """The cluster and its expiry. `ready` is set when all hosts are taken and clean, which makes the cluster whole."""

    key: str
    cluster: Cluster
    ready: bool = False


@dataclass(frozen=True)
class Held:
    """The lease on a host, with the host's own time when it was read. `record` is the lease as the host has it."""

    lease: Lease
    now: datetime
    record: Mapping[str, Any]

    @property
    def expired(self) -> bool:
        """Tell whether the lease has expired. What still runs for it is ended by whoever takes the host."""
        return self.now > self.lease.cluster.expires_at

    def __str__(self) -> str:
        """Return the lease in words: `demo-1/g1-040k-r1/1 of run-7 until 2026-01-31 12:00 UTC`."""
        cluster = self.lease.cluster
        return f"{self.lease.key} of {cluster.owner} until {cluster.expires_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def lease_of(cluster: Cluster) -> Lease:
    """Return the lease for a requested cluster."""
    return Lease(key=str(cluster.id), cluster=cluster)


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
