"""The cost of hosts: rates before they run, costs afterwards. All money is in US dollars."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Annotated

from pydantic import AwareDatetime, Field

from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.hosts.cluster import HostInfo
from plimsoll.domain.text.base import Model
from plimsoll.domain.text.units import show_usd

_HOUR = timedelta(hours=1)
# Per-second billing has a first minute.
_LEAST = timedelta(minutes=1)


class HostRate(Model):
    """The price and size of a host of one role."""

    kind: Annotated[str, Field(description="As the provider names it, such as r5d.2xlarge")]
    vcpus: int | None
    usd_per_hour: Annotated[float | None, Field(description="None where no price is known")]


class Tariff(Model):
    """The prices of a definition's hosts, and their source."""

    node: HostRate
    load: HostRate
    source: Annotated[str, Field(description="Where the prices come from, with their date")]

    @property
    def is_complete(self) -> bool:
        return self.usd_per_cluster_hour(1, 1) is not None

    def usd_per_cluster_hour(self, nodes: int, load_hosts: int) -> float | None:
        """Return the price of an hour of one cluster with that many hosts, US dollars; None where one is missing."""
        if self.node.usd_per_hour is None or self.load.usd_per_hour is None:
            return None
        return nodes * self.node.usd_per_hour + load_hosts * self.load.usd_per_hour

    def vcpus(self, nodes: int, load_hosts: int) -> int | None:
        """Return the number of vCPUs of one cluster with that many hosts; None where a host type is not known."""
        if self.node.vcpus is None or self.load.vcpus is None:
            return None
        return nodes * self.node.vcpus + load_hosts * self.load.vcpus


class Paid(Model):
    """The total cost of some hosts, and the total time for which they were paid."""

    usd: float
    host_seconds: float

    def plus(self, other: "Paid") -> "Paid":
        return Paid(usd=self.usd + other.usd, host_seconds=self.host_seconds + other.host_seconds)


class Cost(Model):
    """The final cost of an attempt's hosts, or of kept hosts while idle. Written once, when that time is over."""

    key: Annotated[
        AttemptKey, Field(description="The attempt; of idle hosts what they are kept for, and their cluster's number")
    ]
    usd: float
    host_seconds: float
    ended_at: AwareDatetime
    is_least: Annotated[
        bool | None,
        Field(
            exclude_if=lambda known: known is None,
            description="Whether a host had no known price; left out where all had one by the definition, and by older "
            "versions",
        ),
    ] = None


class Span(Model):
    """The time for which one attempt used kept hosts; `until` is None while the attempt still uses them."""

    key: AttemptKey
    since: AwareDatetime
    until: AwareDatetime | None


class Entry(Model):
    """The cost so far of one attempt, or of a time in which kept hosts were idle."""

    key: Annotated[
        AttemptKey, Field(description="The attempt; of idle hosts what they are kept for, and their cluster's number")
    ]
    usd: float
    final: Annotated[bool, Field(description="Whether nothing is added any more")]
    idle: Annotated[bool, Field(description="Whether it is what kept hosts cost while no attempt used them")] = False
    is_least: Annotated[bool, Field(description="Whether a host has no known price, so that they cost more")] = False


class Spending(Model):
    """The cost so far of a campaign's hosts: instance seconds at the prices that held when the hosts were launched."""

    entries: Annotated[tuple[Entry, ...], Field(description="Every attempt whose hosts cost something")]
    prices: Annotated[tuple[str, ...], Field(description="Where the prices come from, with their dates")]
    estimated_usd: Annotated[
        float | None,
        Field(description="All cells once, as planned, with the time for populating; null where no price was known"),
    ]
    budget_usd: float | None
    node_usd_per_hour: Annotated[
        float | None, Field(description="A database node at the newest prices; null where no price was known")
    ] = None
    idle: Annotated[tuple[Entry, ...], Field(description="Kept hosts while no attempt used them, by cluster")] = ()

    @property
    def usd(self) -> float:
        """Return the total, including the cost of idle hosts, US dollars."""
        return sum(entry.usd for entry in self.entries) + self.idle_usd

    @property
    def words(self) -> str:
        """Return the total as text: `2.00 USD`, or `at least 2.00 USD`."""
        return show_usd(self.usd, is_least=self.is_least)

    @property
    def is_least(self) -> bool:
        """Tell whether a host has no known price, so that all of them have cost more."""
        return any(entry.is_least for entry in (*self.entries, *self.idle))

    @property
    def idle_usd(self) -> float:
        """Return the cost of kept hosts while no attempt used them, US dollars."""
        return sum(entry.usd for entry in self.idle)

    def is_least_of(self, cell_id: str) -> bool:
        """Tell whether a host of an attempt at that cell has no known price."""
        return any(entry.is_least for entry in self.entries if entry.key.cell_id == cell_id)

    def of_cell(self, cell_id: str) -> float | None:
        """Return the cost of all attempts at that cell, US dollars; None where the cell had no hosts."""
        amounts = [entry.usd for entry in self.entries if entry.key.cell_id == cell_id]
        return sum(amounts) if amounts else None


def lacks_price(hosts: Iterable[HostInfo]) -> bool:
    """Tell whether a host that is paid for has no known price, so that what all of them cost is not known."""
    return any(host.since is not None and host.usd_per_hour is None for host in hosts)


def total(hosts: Sequence[HostInfo], end: datetime) -> Paid:
    """Return the cost of those hosts. Hosts that have not ended are counted up to that time."""
    return _sum(_cost_of(_paid_for(host, end), host) for host in hosts)


def shared(hosts: Sequence[HostInfo], spans: Sequence[Span], end: datetime) -> tuple[dict[AttemptKey, Paid], Paid]:
    """Divide the cost of kept hosts, by time, among the attempts that used them and the time without any attempt.

    Hosts and uses that have not ended are counted up to that time. The parts add up to the whole cost, including the
    minimum that a provider charges for each host.
    """
    shares: dict[AttemptKey, Paid] = {}
    for span in spans:
        begun, over = span.since, end if span.until is None else min(span.until, end)
        within = _sum(_cost_of(_overlap(host, begun, over, end), host) for host in hosts)
        shares[span.key] = shares[span.key].plus(within) if span.key in shares else within
    whole, used = total(hosts, end), _sum(shares.values())
    idle = Paid(usd=max(0.0, whole.usd - used.usd), host_seconds=max(0.0, whole.host_seconds - used.host_seconds))
    return shares, idle


def _overlap(host: HostInfo, begun: datetime, over: datetime, end: datetime) -> timedelta:
    """Return the part of that time for which the host was paid."""
    if host.since is None:
        return timedelta()
    return max(timedelta(), min(over, end if host.until is None else host.until) - max(begun, host.since))


def _cost_of(time: timedelta, host: HostInfo) -> Paid:
    return Paid(usd=time / _HOUR * (host.usd_per_hour or 0.0), host_seconds=time.total_seconds())


def _sum(parts: Iterable[Paid]) -> Paid:
    amounts = list(parts)
    return Paid(usd=sum(amount.usd for amount in amounts), host_seconds=sum(amount.host_seconds for amount in amounts))


def _paid_for(host: HostInfo, end: datetime) -> timedelta:
    if host.since is None:
        return timedelta()
    return max(_LEAST, (end if host.until is None else host.until) - host.since)
