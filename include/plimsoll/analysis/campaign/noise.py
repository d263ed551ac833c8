"""Influences other than variant and load: position, zone, single cells and hosts, CPU steal, other programs.

Order, zones and outliers: from residuals. Order: the seasonal Kendall test and slope, with each variant and load
as a season. Each repeat is a block of cells, so every season is spread over the whole campaign; a single test over all
residuals would find a trend by chance too often.
Zones: Kruskal and Wallis (JASA 47, 1952). Outliers: residuals divided by their robust spread (median absolute
deviation; Iglewicz and Hoaglin, 1993), beyond the quantile of Student's distribution that any of them exceeds with a
probability of 5 % (Bonferroni). The robust spread is as precise as a standard deviation of 37 % as many observations,
so the degrees of freedom are reduced to that. Because some loads vary more than others, an outlier must also stand out
from the other repeats of its own load (0.5 %).

Compute how far the figures of cells and hosts lie from those of their repeats, where variant and load explain
nothing.

The figure of a cell is the mean of its intervals' log percentile. Its residual is its distance from the mean of the
repeats of the same variant and load, multiplied by √(n / (n - 1)) because the cell is itself part of that mean.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, sqrt
from operator import itemgetter
from typing import Annotated

import numpy as np
from pydantic import Field

from plimsoll.analysis import grouped
from plimsoll.analysis.campaign.cell_results import CellResult
from plimsoll.analysis.campaign.host_facts import OtherPrograms, Steal, clock_offset_ms, other_programs, steal
from plimsoll.analysis.campaign.series import judged_series, log_ms, seasonal_trend
from plimsoll.analysis.campaign.statistics import CONFIDENCE
from plimsoll.domain.hosts.cluster import is_load_host
from plimsoll.domain.text.base import Model


@dataclass(frozen=True)
class Residual:
    """The distance of a figure from the mean of its group, on a log scale. Widened, as it is part of that mean."""

    result: CellResult
    host: str | None
    value: float
    widened: float = 1.0

    @property
    def group(self) -> tuple[str, int]:
        return self.result.cell.variant, self.result.cell.load_ops_s


def cell_residuals(cells: Iterable[CellResult]) -> tuple[Residual, ...]:
    """Return the residual of each cell with a valid attempt, at loads with at least two such cells."""
    logs = ((result, log_ms(judged_series(result.counted))) for result in cells)
    return _residuals((result, None, float(known.mean())) for result, known in logs if len(known))


def host_residuals(cells: Iterable[CellResult]) -> tuple[Residual, ...]:
    """Return the residual of each node's share of busy processors, among all nodes of the same variant and load."""
    return _residuals(
        (result, host, float(np.log(busy)))
        for result in cells
        if result.counted is not None and not result.counted.hosts.empty
        for host, busy in zip(result.counted.hosts["host"], result.counted.hosts["cpu_busy"].astype(float), strict=True)
        if busy > 0 and not is_load_host(host)
    )


def in_order(residuals: Iterable[Residual]) -> list[Residual]:
    """Return the cells by the start of their timed run. Cells without a known start are left out."""
    verdicts = ((residual, residual.result.verdict) for residual in residuals)
    started = [(verdict.started_at, residual) for residual, verdict in verdicts if verdict and verdict.started_at]
    return [residual for _, residual in sorted(started, key=itemgetter(0))]


def _residuals(figures: Iterable[tuple[CellResult, str | None, float]]) -> tuple[Residual, ...]:
    alike = grouped(((figure[0].cell.variant, figure[0].cell.load_ops_s), figure) for figure in figures)
    return tuple(
        Residual(result, host, (value - mean) * widened, widened)
        for own in alike.values()
        if len(own) > 1
        for mean in [sum(value for _, _, value in own) / len(own)]
        for widened in [sqrt(len(own) / (len(own) - 1))]
        for result, host, value in own
    )


FEWEST_CELLS = 10
_MAD_TO_SIGMA = 1.4826
_MAD_EFFICIENCY = 0.37
# A level of 0.01 raises more false alarms in whole campaigns than the stated 5 % (`benchmarks.false_alarms`)
_FEWEST_LIKE, _OWN_LEVEL = 3, 0.005
_ZONE = "zone"


class OrderEffect(Model):
    """The effect of a cell's position in the campaign."""

    cells: int
    change: Annotated[
        float | None, Field(description="Percentile of the last cell / of the first, by the seasonal slope")
    ]
    p_value: float | None
    shown: Annotated[bool, Field(description="p ≤ 5 %")]


class ZoneEffect(Model):
    """The differences between zones."""

    zones: Annotated[dict[str, float], Field(description="Zone → its cells' percentile / all cells', typical")]
    p_value: float | None
    shown: Annotated[bool, Field(description="p ≤ 5 %")]


class Outlier(Model):
    """A cell or a host whose residual is larger than chance explains."""

    cell: str
    host: Annotated[str | None, Field(description="Null: the cell as a whole")]
    figure: str
    ratio: Annotated[float, Field(description="Its figure / that of its variant and load")]


class KeptHosts(Model):
    """Hosts that served several cells."""

    cluster: Annotated[str, Field(description="Their name, such as hosts/2")]
    cells: Annotated[int, Field(description="Cells whose counted attempt ran on them")]
    first_cell: str
    replaces: Annotated[str, Field(description="Why they took the place of others; empty: they were the first")]


class Noise(Model):
    """All influences other than variant and load."""

    order: OrderEffect
    zones: ZoneEffect
    outliers: tuple[Outlier, ...]
    steal: Annotated[Steal | None, Field(description="Null: no host was sampled")]
    other_programs: Annotated[OtherPrograms | None, Field(description="Null: not sampled")] = None
    clock_offset_ms: Annotated[float | None, Field(description="Largest offset of a node's clock from the load's")]
    kept_hosts: Annotated[
        tuple[KeptHosts, ...], Field(description="In the order of their first use; empty: each cell had its own")
    ] = ()


def noise(cells: Sequence[CellResult]) -> Noise:
    residuals = cell_residuals(cells)
    return Noise(
        order=order_effect(residuals),
        zones=zone_effect(residuals),
        outliers=(*outliers(residuals, "judged percentile"), *outliers(host_residuals(cells), "CPU busy")),
        steal=steal(cells),
        other_programs=other_programs(cells),
        clock_offset_ms=clock_offset_ms(cells),
        kept_hosts=kept_hosts(cells),
    )


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


def order_effect(residuals: Iterable[Residual]) -> OrderEffect:
    """Return the seasonal trend of residuals over positions, with each variant and load as a season."""
    placed = list(enumerate(in_order(residuals)))
    if len(placed) < FEWEST_CELLS or not any(residual.value for _, residual in placed):
        return OrderEffect(cells=len(placed), change=None, p_value=None, shown=False)
    # Not widened: a slope is taken from differences of cells, in which the mean drops out
    seasons = grouped((residual.group, (position, residual.value / residual.widened)) for position, residual in placed)
    tables = [np.array(season, dtype=np.float64) for season in seasons.values()]
    p_value, slope = seasonal_trend([(table[:, 0], table[:, 1]) for table in tables])
    change = exp(slope * (len(placed) - 1))
    return OrderEffect(cells=len(placed), change=change, p_value=p_value, shown=p_value <= 1 - CONFIDENCE)


def zone_effect(residuals: Iterable[Residual]) -> ZoneEffect:
    """Apply Kruskal and Wallis' test to the zones of the load hosts. Each zone needs three cells."""
    prints = ((counted.fingerprint, residual) for residual in residuals if (counted := residual.result.counted))
    zones = ((ran.load_host.provider.get(_ZONE), residual.value) for ran, residual in prints if ran)
    by_zone = grouped((zone, value) for zone, value in zones if zone)
    typical = {zone: exp(float(np.median(values))) for zone, values in sorted(by_zone.items())}
    samples = [values for values in by_zone.values() if len(values) >= 3]
    # Where all residuals are 0 SciPy's p value is NaN
    if len(samples) < 2 or not np.any(np.concatenate(samples)):
        return ZoneEffect(zones=typical, p_value=None, shown=False)
    from scipy.stats import kruskal  # a second to import

    p_value = float(kruskal(*samples).pvalue)
    return ZoneEffect(zones=typical, p_value=p_value, shown=p_value <= 1 - CONFIDENCE)


def outliers(residuals: Sequence[Residual], figure: str) -> tuple[Outlier, ...]:
    """Return residuals beyond what the largest of so many exceeds with a chance of 5 %; none of too few to tell."""
    values = np.array([residual.value for residual in residuals])
    if len(values) < FEWEST_CELLS:
        return ()
    from scipy.stats import t  # a second to import

    groups = {residual.group for residual in residuals}
    spread = _MAD_TO_SIGMA * float(np.median(np.abs(values - np.median(values))))
    freedom = max(1.0, _MAD_EFFICIENCY * (len(values) - len(groups)))
    limit = float(t.ppf(1 - (1 - CONFIDENCE) / 2 / len(values), freedom)) * spread
    return tuple(
        Outlier(cell=residual.result.cell.id, host=residual.host, figure=figure, ratio=exp(residual.value))
        for residual in residuals
        if spread > 0 and abs(residual.value) > limit and _is_odd_among_its_like(residual, residuals)
    )


def _is_odd_among_its_like(residual: Residual, residuals: Sequence[Residual]) -> bool:
    """Tell whether a deleted t test finds a residual outside the spread of its variant and load, which may be wide."""
    from scipy.stats import t

    like = [other.value for other in residuals if other is not residual and other.group == residual.group]
    # So few have no spread to speak of: that of all cells alone decides
    if len(like) < _FEWEST_LIKE:
        return True
    spread = float(np.std(like, ddof=1)) * sqrt(1 + 1 / len(like))
    return abs(residual.value - float(np.mean(like))) > float(t.ppf(1 - _OWN_LEVEL / 2, len(like) - 1)) * spread


UNKNOWN = noise(())
"""The noise of cells that were not compared."""
