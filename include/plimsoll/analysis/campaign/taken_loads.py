"""Results at loads that were not looked for: from an earlier stage, or of a closed loop. Throughput, response times.

Figures are geometric means over a variant's valid repeats, with 95 % intervals of Student's t on their logarithms. The
ratio of two variants has Welch's interval (The generalization of "Student's" problem when several different population
variances are involved, Biometrika 34, 1947). With one repeat there is no interval.

The loads to run next to narrow the gap in which a variant's boundary lies.

The boundary lies between the highest load that was met and the next one, which missed. Bisection on a logarithmic scale
halves the gap with each load, wherever the boundary is. Where every load was met, the highest one is doubled; where
every load missed, the lowest one is halved, as in a search without bounds (Bentley and Yao, Information Processing
Letters 5, 1976).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import exp, floor, log, log10
from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import Field

from plimsoll.analysis import grouped
from plimsoll.domain.keys.service_level import ALL_OPERATIONS, PERCENTILES
from plimsoll.domain.text.base import Model

if TYPE_CHECKING:
    from plimsoll.analysis.campaign.capacity import Capacity
    from plimsoll.analysis.campaign.cell_results import CellResult
    from plimsoll.domain.keys.strategy import StageLoad

_TWO_SIDED = 0.975


class Mean(Model):
    """A geometric mean over repeats with its 95 % interval; the interval is null where there is only one repeat."""

    value: float
    low: float | None = None
    high: float | None = None


class AtTakenLoad(Model):
    """The results of one variant at a load, over its valid repeats."""

    variant: str
    load_ops_s: Annotated[int, Field(description="ops/s; of a closed loop at most")]
    repeats: int
    achieved_ops_s: Annotated[Mean | None, Field(description="Achieved rate, ops/s; null: not known")]
    to_control: Annotated[Mean | None, Field(description="Achieved rate / the control's; null for the control")] = None
    p50_ms: Annotated[Mean | None, Field(description="Response time over the whole judged time, ms")] = None
    p90_ms: Mean | None = None
    p99_ms: Mean | None = None
    p99_9_ms: Mean | None = None


def at_taken_loads(cells: Iterable[CellResult], control: str | None, *, has_taken: bool) -> tuple[AtTakenLoad, ...]:
    """Return the results of every variant with a valid repeat at a load, in the cells' order.

    `cells` must be of one stage and one workload. `has_taken`: each variant has one load, its own; otherwise a variant
    stands beside the control at the same load.
    """
    valid = (result for result in cells if result.verdict)
    runs = grouped(((result.cell.variant, 0 if has_taken else result.cell.load_ops_s), result) for result in valid)
    rates = {of: _known(result.verdict.achieved_ops_s for result in own if result.verdict) for of, own in runs.items()}
    of_control = {load: known for (variant, load), known in rates.items() if variant == control}
    return tuple(
        AtTakenLoad(
            variant=variant,
            load_ops_s=own[0].cell.load_ops_s,
            repeats=len(own),
            achieved_ops_s=mean_of(rates[variant, load]),
            to_control=ratio_of(rates[variant, load], () if variant == control else of_control.get(load, ())),
            **{name: mean_of(_values(own, percentile)) for name, percentile in PERCENTILES.items()},
        )
        for (variant, load), own in runs.items()
    )


def changed_maxima(found_loads: Iterable[StageLoad], now: Iterable[Capacity]) -> dict[str, int | None]:
    """Return variants with another maximum than when their loads were found: variant → now, ops/s; None: none now."""
    now_ops_s = {capacity.variant: capacity.capacity_ops_s for capacity in now}
    maxima = ((load, now_ops_s.get(load.variant)) for load in found_loads)
    return {load.variant: maximum for load, maximum in maxima if maximum != load.maximum_ops_s}


def _values(runs: Iterable[CellResult], percentile: float) -> Sequence[float]:
    """Return the response time of each repeat at a percentile of all operations of its judged time, ms."""
    tables = [run.counted.latencies for run in runs if run.counted and len(run.counted.latencies)]
    of_all = (table[table["operation"] == ALL_OPERATIONS] for table in tables)
    rows = (table[np.isclose(table["percentile"], percentile)] for table in of_all)
    return _known(float(row["ms"].iloc[0]) if len(row) else None for row in rows)


def mean_of(values: Sequence[float]) -> Mean | None:
    """Return the geometric mean of the values; None where there are no values."""
    if not values:
        return None
    logs = np.log(values)
    return _interval(float(logs.mean()), _variance_of_mean(logs), len(values) - 1)


def ratio_of(values: Sequence[float], control: Sequence[float]) -> Mean | None:
    """Return the ratio of two geometric means; None where one of them has no values."""
    if not values or not control:
        return None
    own, other = np.log(values), np.log(control)
    difference = float(own.mean() - other.mean())
    if min(len(own), len(other)) < 2:
        return Mean(value=float(np.exp(difference)))
    variances = [_variance_of_mean(own), _variance_of_mean(other)]
    terms = [variance**2 / (len(logs) - 1) for variance, logs in zip(variances, (own, other), strict=True)]
    # Repeats that are all equal have no variance, and Welch's formula would divide by 0
    freedom = sum(variances) ** 2 / sum(terms) if sum(terms) > 0 else len(own) + len(other) - 2
    return _interval(difference, sum(variances), freedom)


def _known(values: Iterable[float | None]) -> Sequence[float]:
    # Geometric means need logarithms, which 0 has not
    return [value for value in values if value is not None and value > 0]


def _variance_of_mean(logs: np.typing.NDArray[np.float64]) -> float:
    return float(logs.var(ddof=1) / len(logs)) if len(logs) > 1 else 0.0


def _interval(middle: float, variance: float, freedom: float) -> Mean:
    if freedom < 1:
        return Mean(value=float(np.exp(middle)))
    from scipy.stats import t  # a second to import

    half = float(t.ppf(_TWO_SIDED, freedom)) * variance**0.5
    return Mean(value=float(np.exp(middle)), low=float(np.exp(middle - half)), high=float(np.exp(middle + half)))


FAR = 1.25
"""The ratio of two loads above which they are far apart."""

_MOST = 3
_ROUNDED = 0.25
_STEPS = (1.0, 0.5, 0.1)


def between(met_ops_s: int, missed_ops_s: int) -> tuple[int, ...]:
    """Return at most three loads (ops/s) between one that was met and one that missed; the first halves the gap.

    Returns no load where the two are close together: repeats vary by about as much.
    """
    gaps, loads = [(met_ops_s, missed_ops_s)], list[int]()
    while gaps and len(loads) < _MOST:
        low, high = gaps.pop(0)
        if high > FAR * low:
            middle = _rounded(exp((log(low) + log(high)) / 2), high / low)
            if low < middle < high:  # a round load may lie outside
                loads.append(middle)
                gaps += [(low, middle), (middle, high)]
    return tuple(loads)


def below(missed_ops_s: int) -> tuple[int, ...]:
    """Return two loads below the lowest one, which missed: half of it and a quarter of it."""
    return tuple(dict.fromkeys(load for share in (2, 4) if (load := _rounded(missed_ops_s / share, 2.0)) >= 1))


def above(met_ops_s: int) -> int:
    """Return the load beyond the highest one, which was met: twice that load."""
    return 2 * met_ops_s


def _rounded(load: float, gap: float) -> int:
    """Round to the fewest digits that move the value by at most a quarter of its distance from either end, in logs."""
    near = (rounded for rounded in _candidates(load) if abs(log(rounded / load)) <= _ROUNDED * log(gap) / 2)
    return next(near, round(load))


def _candidates(load: float) -> Iterator[int]:
    """Yield multiples of 10^k, of half and of a tenth of that: 632 → 600, 650, 630."""
    unit = 10.0 ** floor(log10(load))
    for step in _STEPS:
        rounded = round(round(load / (unit * step)) * unit * step)
        if rounded:
            yield rounded
