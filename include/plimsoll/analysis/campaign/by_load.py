"""What the valid repeats of each variant show at each load: rates, maxima, backlogs, the mean p99 of each operation,
and how long an action takes beside the control; and the highest rate or load that each variant reached, whatever the
service level says.

A repeat's figure is the arithmetic mean of the p99 of its judged intervals, ms, each interval with the same weight.
The Last Pickle (Benchmarking Apache Cassandra 4.0, 2020) publishes the average p99 of reads and of writes; its text
does not say over which windows. A service level tells a few bad intervals from many that are a little slower; a mean
does not.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from statistics import fmean, median
from typing import Annotated

from pydantic import Field

from plimsoll.analysis import grouped
from plimsoll.analysis.attempt.unanswered import begins_with_backlog
from plimsoll.analysis.campaign.cell_results import (
    PERCENTILES,
    AttemptData,
    CellResult,
    Spread,
    achieved,
    maxima,
    values_by_load,
)
from plimsoll.analysis.campaign.statistics import typical_interval, typical_ratio
from plimsoll.domain.attempt.result import Verdict
from plimsoll.domain.keys.action import ActionResult
from plimsoll.domain.keys.service_level import ALL_OPERATIONS, RateBelow, ServiceLevel
from plimsoll.domain.text.base import Model


@dataclass(frozen=True)
class RepeatsAtLoad:
    """One variant at one load; all but `repeats` is of valid repeats.

    `repeats`: those that the definition asks for; `valid`: those that are valid. `achieved_ops_s`: their achieved
    rates; `achieved_share`: the median rate / the attempted one. `not_achieved` and `begin_with_backlog`: the number
    of repeats that fell short of the rate, and of those that began their judged time with a backlog from warm-up.
    `maxima_ms`: by percentile, the highest interval of each repeat. None: no repeat tells it.
    """

    variant: str
    load_ops_s: int
    repeats: int
    valid: int
    achieved_ops_s: Spread | None
    achieved_share: float | None
    not_achieved: int
    begin_with_backlog: int
    maxima_ms: Mapping[str, Spread | None]


class HighestAchieved(Model):
    """The load of one variant at which it achieved most: the mean achieved rate over that load's valid repeats."""

    variant: str
    load_ops_s: Annotated[int, Field(description="The attempted rate at which it was achieved")]
    repeats: Annotated[int, Field(description="Valid repeats at this load whose achieved rate is known")]
    mean_ops_s: Annotated[float, Field(description="Arithmetic mean of their achieved rates")]


class HighestBelow(Model):
    """The highest load of a variant with a percentile below a bound in every judged interval of every valid repeat."""

    bound: Annotated[str, Field(description="Such as `p99 below 10ms`")]
    variant: str
    load_ops_s: Annotated[
        int | None, Field(description="All lower loads that were run are below it, too; null: not even the lowest")
    ]


class OperationP99(Model):
    """One operation of one variant at one load: means of its intervals' p99, as a spread over valid repeats, ms."""

    variant: str
    load_ops_s: int
    operation: Annotated[str, Field(description="`reads`, `writes`, or its own name where it is neither")]
    repeats: Annotated[int, Field(description="Valid repeats whose intervals tell this operation's p99")]
    intervals: Annotated[int, Field(description="Judged intervals of these repeats, over which the means are taken")]
    unanswered: Annotated[int, Field(description="Judged intervals without an answer, in no mean: they have no p99")]
    low_ms: Annotated[float, Field(description="Lowest repeat's arithmetic mean of its judged intervals' p99")]
    median_ms: Annotated[float, Field(description="Median of the repeats' means")]
    high_ms: Annotated[float, Field(description="Highest repeat's mean")]


@dataclass(frozen=True)
class _Repeat:
    """One operation in one repeat: p99 of the judged intervals with an answer, ms, and how many had none."""

    p99_ms: Sequence[float]
    unanswered: int


def repeats_by_load(cells: Sequence[CellResult], level: ServiceLevel) -> tuple[RepeatsAtLoad, ...]:
    """Return a summary of every variant and load, in the cells' order. A backlog counts by the bound of `level`."""
    rates = by_place(achieved(cells))
    by_percentile = {percentile: by_place(maxima(cells, percentile)) for percentile in PERCENTILES}
    of_loads = grouped(((result.cell.variant, result.cell.load_ops_s), result) for result in cells)
    summaries: list[RepeatsAtLoad] = []
    for (variant, load), own in of_loads.items():
        verdicts, rate = [result.verdict for result in own if result.verdict], rates.get((variant, load))
        summaries.append(
            RepeatsAtLoad(
                variant=variant,
                load_ops_s=load,
                repeats=len(own),
                valid=len(verdicts),
                achieved_ops_s=rate,
                achieved_share=rate.median / load if rate else None,
                not_achieved=sum(verdict.rate_achieved is False for verdict in verdicts),
                begin_with_backlog=sum(begins_with_backlog(verdict.opening_backlog, level) for verdict in verdicts),
                maxima_ms={name: spreads.get((variant, load)) for name, spreads in by_percentile.items()},
            )
        )
    return tuple(summaries)


def by_place(spreads: Sequence[Spread]) -> dict[tuple[str, int], Spread]:
    return {(spread.variant, spread.load_ops_s): spread for spread in spreads}


def mean_achieved(cells: Sequence[CellResult]) -> Mapping[tuple[str, int], float]:
    """Return the arithmetic mean of the valid repeats' achieved rates, ops/s, by (variant, load), in cells' order."""
    return {key: fmean(rates) for key, rates in _rates(cells).items()}


def highest_achieved(cells: Sequence[CellResult]) -> tuple[HighestAchieved, ...]:
    """Return the highest mean achieved rate of each variant over its loads, ops/s.

    Of equal ones the one at the lowest load. A variant is left out where no valid repeat tells its achieved rate.
    """
    of_variants = grouped(
        (variant, HighestAchieved(variant=variant, load_ops_s=load, repeats=len(rates), mean_ops_s=fmean(rates)))
        for (variant, load), rates in _rates(cells).items()
    )
    return tuple(max(own, key=lambda at: (at.mean_ops_s, -at.load_ops_s)) for own in of_variants.values())


def _rates(cells: Sequence[CellResult]) -> Mapping[tuple[str, int], tuple[float, ...]]:
    return values_by_load(cells, lambda verdict: verdict.achieved_ops_s)


def rates_below(cells: Iterable[CellResult], bounds: Sequence[RateBelow]) -> tuple[HighestBelow, ...]:
    """Return the highest load by bound and variant, in the order of bounds and cells."""
    results = list(cells)
    return tuple(highest for bound in bounds for highest in _of_bound(results, bound))


def _of_bound(cells: Sequence[CellResult], bound: RateBelow) -> Iterator[HighestBelow]:
    known = {spread.variant for spread in maxima(cells, bound.column)}
    ran = (result for result in cells if result.attempts and result.cell.variant in known)
    for variant, own in grouped((result.cell.variant, result) for result in ran).items():
        of_loads = grouped((result.cell.load_ops_s, result.verdict) for result in own)
        kept = takewhile(lambda load: _are_below(of_loads[load], bound), sorted(of_loads))  # noqa: B023 - used at once
        yield HighestBelow(bound=str(bound), variant=variant, load_ops_s=max(kept, default=None))


def _are_below(repeats: Iterable[Verdict | None], bound: RateBelow) -> bool:
    """Tell whether the valid ones of a load's repeats are below; false where none is valid, or one is not known."""
    valid = [verdict for verdict in repeats if verdict]
    return bool(valid) and all(_is_below(verdict, bound) for verdict in valid)


def _is_below(verdict: Verdict, bound: RateBelow) -> bool:
    # Maxima are of answers alone: they tell nothing of an interval that failed operations decided, or without an answer
    unanswered = any(level.worst_is_floor or (level.missed and level.worst_ms is None) for level in verdict.levels)
    highest: float | None = getattr(verdict.maxima, bound.column, None)
    return not unanswered and highest is not None and highest < bound.bound_ms


def p99_by_operation(cells: Iterable[CellResult]) -> tuple[OperationP99, ...]:
    """Return the mean p99 of every variant, load and operation, in the cells' order, operations by name.

    Only attempts that count are read. An attempt is left out of an operation's figures where its intervals do not tell
    the operation apart, where no judged interval has an answer, and where the p99 of one with answers is unknown.
    """
    of_loads = grouped(
        ((result.cell.variant, result.cell.load_ops_s), repeat)
        for result in cells
        if result.counted
        for repeat in _repeats(result.counted)
    )
    return tuple(figures for key, repeats in of_loads.items() for figures in _at_load(*key, grouped(repeats)))


def _repeats(attempt: AttemptData) -> Iterator[tuple[str, _Repeat]]:
    """Yield the single operations of one attempt, with their judged intervals."""
    table = attempt.intervals
    if table.empty:
        return
    of_single = (table["phase"] == "judged") & (table["operation"] != ALL_OPERATIONS)
    judged = table.loc[of_single, ["operation", "count", "p99_ms"]]
    for operation, own in judged.groupby("operation"):
        answered = own.loc[own["count"] > 0, "p99_ms"]
        if len(answered) and answered.notna().all():
            yield str(operation), _Repeat(answered.tolist(), len(own) - len(answered))


def _at_load(variant: str, load: int, operations: Mapping[str, Sequence[_Repeat]]) -> Iterator[OperationP99]:
    for operation, repeats in sorted(operations.items()):
        means = [fmean(repeat.p99_ms) for repeat in repeats]
        yield OperationP99(
            variant=variant,
            load_ops_s=load,
            operation=operation,
            repeats=len(repeats),
            intervals=sum(len(repeat.p99_ms) for repeat in repeats),
            unanswered=sum(repeat.unanswered for repeat in repeats),
            low_ms=min(means),
            median_ms=median(means),
            high_ms=max(means),
        )


WHOLE = ""
"""The name of an action's whole time among those of its parts."""


class ActionComparison(Model):
    """The time of an action, or of one of its parts, beside the control's at the same load."""

    variant: str
    control: str
    load_ops_s: int
    part: Annotated[str, Field(description="Such as `streaming`, over all nodes; empty: the whole action")]
    repeats: Annotated[tuple[int, int], Field(description="Valid repeats of the variant and of the control")]
    ratio: Annotated[float, Field(description="Typical time / the control's (Hodges-Lehmann)")]
    low: float
    high: float
    confidence: Annotated[float, Field(description="Chance that low to high contain the true ratio; 0: one repeat")]


def compare_actions(cells: Sequence[CellResult], control: str | None) -> tuple[ActionComparison, ...]:
    """Compare every other variant with the control; empty without a control, and at loads that it did not run."""
    actions = (result.verdict.action for result in cells if result.verdict)
    parts = dict.fromkeys(name for action in actions if action for name in seconds_of(action))
    return tuple(comparison for part in parts for comparison in _of_part(cells, str(control), part)) if control else ()


def seconds_of(action: ActionResult) -> dict[str, float]:
    """Return the time of the whole action, unless its end is undated, and those of its parts over all nodes, s."""
    seconds = {} if action.undated_s else {WHOLE: action.duration_s}
    for part in action.parts:
        name = part.name.rpartition(": ")[2]  # without the node's
        seconds[name] = seconds.get(name, 0.0) + part.seconds
    return seconds


def _of_part(cells: Sequence[CellResult], control: str, part: str) -> Iterator[ActionComparison]:
    def seconds(verdict: Verdict) -> float | None:
        return seconds_of(verdict.action).get(part) if verdict.action else None

    # A part may take no time that a log's clock shows, and then has no ratio.
    times = {key: tuple(filter(None, values)) for key, values in values_by_load(cells, seconds).items()}
    for (variant, load), xs in times.items():
        ys = times.get((control, load), ())
        if variant != control and xs and ys:
            low, high, confidence = typical_interval(xs, ys)
            yield ActionComparison(
                variant=variant,
                control=control,
                load_ops_s=load,
                part=part,
                repeats=(len(xs), len(ys)),
                ratio=typical_ratio([(xs, ys)]),
                low=low,
                high=high,
                confidence=confidence,
            )
