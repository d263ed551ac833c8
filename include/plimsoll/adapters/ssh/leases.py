"""What a host's lease says: which cluster it belongs to now."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from plimsoll.domain.base import Model
from plimsoll.domain.cluster import Cluster


class Lease(Model):
    """`ready` is set when all hosts are taken and clean: from then on the cluster is whole."""

    key: str
    cluster: Cluster
    ready: bool = False


@dataclass(frozen=True)
class Held:
    """The lease on a host, and the host's own time when it was read."""

    lease: Lease
    now: datetime

    @property
    def expired(self) -> bool:
        """Whether its time is over: what runs for it has ended itself by then."""
        return self.now > self.lease.cluster.expires_at

    def __str__(self) -> str:
        """`demo-1/g1-040k-r1/1 of run-7 until 2026-01-31 12:00 UTC`."""
        cluster = self.lease.cluster
        return f"{self.lease.key} of {cluster.owner} until {cluster.expires_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def lease_of(cluster: Cluster) -> Lease:
    """The lease that a cluster asks for."""
    return Lease(key=str(cluster.id), cluster=cluster)


def parse_held(answer: dict[str, Any]) -> Held | None:
    """A host's answer; None where nobody holds it."""
    if answer["lease"] is None:
        return None
    return Held(Lease.model_validate(answer["lease"]), datetime.fromtimestamp(answer["now"], UTC))
