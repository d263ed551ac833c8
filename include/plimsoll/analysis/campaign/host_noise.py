"""What disturbed the hosts of a campaign: other machines, other programs, clocks that were off, and replaced ones."""

from collections.abc import Iterable, Sequence
from math import isnan
from typing import Annotated

from pydantic import Field

from plimsoll.analysis import grouped
from plimsoll.analysis.campaign.cell_results import CellResult
from plimsoll.domain.hosts.fingerprint import Fingerprint
from plimsoll.domain.keys.host_bounds import Disturbance
from plimsoll.domain.text.base import Model


class Steal(Model):
    """Processor time that other virtual machines took from a host, as a share of the judged time."""

    mean: float
    highest: float
    highest_at: Annotated[str, Field(description="Cell and host")]


class OtherPrograms(Model):
    """Processor time of programs outside the attempt, as a share of all processors."""

    cells: Annotated[int, Field(description="Cells of which it was sampled")]
    mean: Annotated[float, Field(description="Over their hosts and judged time")]
    highest: Annotated[float, Field(description="Of any judged interval of any host")]
    highest_at: Annotated[str, Field(description="Cell and host")]


class KeptHosts(Model):
    """Hosts that served several cells."""

    cluster: Annotated[str, Field(description="Their name, such as hosts/2")]
    cells: Annotated[int, Field(description="Cells whose counted attempt ran on them")]
    first_cell: str
    replaces: Annotated[str, Field(description="Why they took the place of others; empty: they were the first")]


def steal(cells: Iterable[CellResult]) -> Steal | None:
    """Return the steal of all hosts of attempts that count. None: no host was sampled."""
    seen = [
        (float(share), f"{result.cell.id} {host}")
        for result in cells
        if result.counted is not None and not result.counted.hosts.empty
        for host, share in zip(result.counted.hosts["host"], result.counted.hosts["cpu_steal"], strict=True)
        if not isnan(share)
    ]
    if not seen:
        return None
    highest, where = max(seen)
    return Steal(mean=sum(share for share, _ in seen) / len(seen), highest=highest, highest_at=where)


def other_programs(cells: Iterable[CellResult]) -> OtherPrograms | None:
    """Return the processor time that other programs took from all hosts of attempts that count. None: not sampled."""
    columns = ["host", "cpu_others", "cpu_others_highest"]
    seen = [
        (float(highest), float(mean), result.cell.id, str(host))
        for result in cells
        if result.counted is not None and "cpu_others_highest" in result.counted.hosts
        for host, mean, highest in result.counted.hosts[columns].itertuples(index=False)
        if not isnan(highest)
    ]
    if not seen:
        return None
    highest, _, cell, host = max(seen)
    return OtherPrograms(
        cells=len({cell for _, _, cell, _ in seen}),
        mean=sum(mean for _, mean, _, _ in seen) / len(seen),
        highest=highest,
        highest_at=f"{cell} {host}",
    )


def noise_facts(cells: Sequence[CellResult], bounds: Disturbance) -> dict[str, str]:
    """Tell how much noise the hosts of the shown attempts had, in words that are equal for all calm hosts."""
    shown = [result.shown.hosts for result in cells if result.shown]
    facts = {}
    for fact, column, percent in (
        ("CPU of other programs", "cpu_others_highest", bounds.foreign_cpu),
        ("CPU of other machines", "cpu_steal", bounds.steal),
    ):
        if known := [share for table in shown if column in table for share in table[column].dropna()]:
            facts[fact] = f"up to {max(known):.0%}" if max(known) > percent / 100 else f"at most {percent}%"
    disturbed = sum(attempt.verdict.is_disturbed for result in cells for attempt in result.attempts)
    return {**facts, "attempts that noise disturbed": str(disturbed or "none")}


def clock_offset_ms(cells: Iterable[CellResult]) -> float | None:
    """Return the largest offset of a node's clock from the load host's, in attempts that count, ms. None: not known."""
    fingerprints = [result.counted.fingerprint for result in cells if result.counted]
    return largest_from_load_host_ms(fingerprint for fingerprint in fingerprints if fingerprint)


def kept_hosts(cells: Iterable[CellResult]) -> tuple[KeptHosts, ...]:
    """Return the hosts that served several cells, in the order of their first use. Empty: each cell had its own."""
    counted = [cell.counted for cell in cells if cell.counted and cell.counted.verdict.started_at]
    used = grouped(
        ((attempt.fingerprint.cluster, attempt.fingerprint.replaces), attempt)
        for attempt in sorted(counted, key=lambda data: str(data.verdict.started_at))
        if attempt.fingerprint and attempt.fingerprint.cluster
    )
    return tuple(
        KeptHosts(cluster=cluster, cells=len(attempts), first_cell=attempts[0].verdict.cell.id, replaces=replaces)
        for (cluster, replaces), attempts in used.items()
    )


def largest_from_controller_ms(fingerprints: Iterable[Fingerprint]) -> float | None:
    """Return the largest offset of a node's or first load host's clock from the controller's, ms; None: no attempt."""
    return max(
        (
            abs(offset)
            for fingerprint in fingerprints
            for offset in (fingerprint.load_clock_offset_ms, *(node.clock_offset_ms for node in fingerprint.nodes))
        ),
        default=None,
    )


def largest_from_load_host_ms(fingerprints: Iterable[Fingerprint]) -> float | None:
    """Return the largest offset, ms, of a node's clock from its first load host's: it is taken out of nodes' times."""
    return max((abs(ahead) for fingerprint in fingerprints for ahead in fingerprint.ahead_ms().values()), default=None)
