"""What hosts cost: rates before they run, costs after. All money is in US dollars."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated

from pydantic import AwareDatetime, Field

from plimsoll.domain.base import Model
from plimsoll.domain.cell import AttemptKey
from plimsoll.domain.cluster import Cluster, HostInfo

_HOUR = timedelta(hours=1)
# Per-second billing has a first minute.
_LEAST = timedelta(minutes=1)


class HostRate(Model):
    """A host of one role."""

    kind: Annotated[str, Field(description="As the provider names it, such as r5d.2xlarge")]
    vcpus: int | None
    usd_per_hour: Annotated[float | None, Field(description="None where no price is known")]


class Tariff(Model):
    """What a definition's hosts cost, and who says so."""

    node: HostRate
    load: HostRate
    source: Annotated[str, Field(description="Where the prices come from, with their date")]

    def usd_per_cluster_hour(self, nodes: int) -> float | None:
        """An hour of one cluster; None where a price is missing."""
        if self.node.usd_per_hour is None or self.load.usd_per_hour is None:
            return None
        return nodes * self.node.usd_per_hour + self.load.usd_per_hour

    def vcpus(self, nodes: int) -> int | None:
        """vCPUs of one cluster; None where a type is not known."""
        if self.node.vcpus is None or self.load.vcpus is None:
            return None
        return nodes * self.node.vcpus + self.load.vcpus


class Paid(Model):
    """What hosts have cost, and for how long they were paid for, all together."""

    usd: float
    host_seconds: float


class Cost(Model):
    """What an attempt's cluster has cost, written once it is gone."""

    key: AttemptKey
    usd: float
    host_seconds: float
    ended_at: AwareDatetime


class Entry(Model):
    """What one attempt has cost so far."""

    key: AttemptKey
    usd: float
    final: Annotated[bool, Field(description="Whether its cluster is gone")]


class Spending(Model):
    """What a campaign's hosts have cost: instance seconds at the prices that held when they were launched."""

    entries: Annotated[tuple[Entry, ...], Field(description="Every attempt whose hosts cost something")]
    prices: Annotated[tuple[str, ...], Field(description="Where the prices come from, with their dates")]
    estimated_usd: Annotated[
        float | None, Field(description="All cells once, under load alone, as planned; null where no price was known")
    ]
    budget_usd: float | None
    node_usd_per_hour: Annotated[
        float | None, Field(description="A database node at the newest prices; null where no price was known")
    ] = None

    @property
    def usd(self) -> float:
        """All together."""
        return sum(entry.usd for entry in self.entries)

    def of_cell(self, cell_id: str) -> float | None:
        """All attempts at that cell; None where it had no hosts."""
        amounts = [entry.usd for entry in self.entries if entry.key.cell_id == cell_id]
        return sum(amounts) if amounts else None


def cost_until(cluster: Cluster, end: datetime) -> Paid:
    """The cluster's cost if its hosts end at that time."""
    return _paid(cluster.hosts, end)


def cost_of(key: AttemptKey, hosts: Sequence[HostInfo], end: datetime) -> Cost:
    """What those hosts have cost, if the ones that have not ended end at that time."""
    paid = _paid(hosts, end)
    return Cost(key=key, usd=paid.usd, host_seconds=paid.host_seconds, ended_at=end)


def _paid(hosts: Sequence[HostInfo], end: datetime) -> Paid:
    times = [_paid_for(host, end) for host in hosts]
    return Paid(
        usd=sum(time / _HOUR * (host.usd_per_hour or 0.0) for host, time in zip(hosts, times, strict=True)),
        host_seconds=sum(time.total_seconds() for time in times),
    )


def _paid_for(host: HostInfo, end: datetime) -> timedelta:
    if host.since is None:
        return timedelta()
    return max(_LEAST, (end if host.until is None else host.until) - host.since)
