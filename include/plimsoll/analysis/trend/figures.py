"""The figures of one campaign that a trend follows: one for each measure, variant and load, over valid repeats."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from statistics import median
from typing import Literal

from plimsoll.analysis import grouped
from plimsoll.analysis.campaign.cell_results import CampaignData, CellResult, cell_results
from plimsoll.analysis.campaign.pauses import pause_statistics
from plimsoll.analysis.campaign.thresholds import observed_over, threshold_answer

Measure = Literal[
    "worst_interval_ms", "achieved_ops_s", "capacity_ops_s", "action_s", "longest_pause_ms", "paused_share"
]
MORE_IS_BETTER: frozenset[Measure] = frozenset({"achieved_ops_s", "capacity_ops_s"})


@dataclass(frozen=True)
class SeriesKey:
    """Which series a figure belongs to.

    `level` names a load that comes from an earlier stage's results; `load_ops_s` is then None, as it is of a capacity.
    `of`: the service level of a worst interval, where there are several; the process of pauses.
    """

    measure: Measure
    stage: str
    workload: str
    variant: str
    load_ops_s: int | None = None
    level: str = ""
    of: str = ""


@dataclass(frozen=True)
class Figure:
    """The median over valid repeats, with the lowest and highest; of a capacity its interval.

    `to_bound`: the same over the service level's bound, of a worst interval.
    """

    value: float
    low: float | None
    high: float | None
    to_bound: float | None = None


def figures_of(data: CampaignData) -> dict[SeriesKey, Figure]:
    """Return the figures of a part of a campaign. What is not known has none."""
    cells = cell_results(data)
    return dict([*_capacities(data, cells), *_by_load(data, cells), *_pauses(data, cells)])


def _capacities(data: CampaignData, cells: Sequence[CellResult]) -> Iterator[tuple[SeriesKey, Figure]]:
    """Yield the load that is met with a chance. A capacity on the grid of loads moves by whole steps or not at all."""
    if data.part.asks == "capacity":
        observed = observed_over([(data.part, cells)])
        for variant in dict.fromkeys(result.cell.variant for result in cells):
            answer = threshold_answer(data.part, observed, variant)
            if answer and answer.ops_s:
                key = SeriesKey("capacity_ops_s", data.part.stage, data.part.workload_id, variant)
                yield key, Figure(answer.ops_s, answer.low_ops_s, answer.high_ops_s)


def _by_load(data: CampaignData, cells: Iterable[CellResult]) -> Iterator[tuple[SeriesKey, Figure]]:
    for (variant, load), own in grouped(((result.cell.variant, _load(result)), result) for result in cells).items():
        verdicts = [result.verdict for result in own if result.verdict]
        place = data.part.stage, data.part.workload_id, variant, *load
        for number, level in enumerate(data.part.service_levels):
            judged = [verdict.levels[number] for verdict in verdicts if number < len(verdict.levels)]
            worst = _known(verdict.ranked_ms for verdict in judged)
            if worst and median(worst) < inf:
                of = str(level) if len(data.part.service_levels) > 1 else ""
                yield SeriesKey("worst_interval_ms", *place, of), _over_repeats(worst, level.bound_ms)
        if rates := _known(verdict.achieved_ops_s for verdict in verdicts):
            yield SeriesKey("achieved_ops_s", *place), _over_repeats(rates)
        if times := _known(verdict.action.duration_s if verdict.action else None for verdict in verdicts):
            yield SeriesKey("action_s", *place), _over_repeats(times)


def _pauses(data: CampaignData, cells: Iterable[CellResult]) -> Iterator[tuple[SeriesKey, Figure]]:
    loads = {(result.cell.variant, result.cell.load_ops_s): _load(result) for result in cells}
    timing = data.part.timing
    for pauses in pause_statistics(cells, timing.warmup.total_seconds(), timing.duration.total_seconds()):
        load = loads[pauses.variant, pauses.load_ops_s]
        place = data.part.stage, data.part.workload_id, pauses.variant, *load
        if longest := pauses.longest_ms:
            key = SeriesKey("longest_pause_ms", *place, pauses.process)
            yield key, Figure(longest.median, longest.low, longest.high)
        yield SeriesKey("paused_share", *place, pauses.process), Figure(pauses.stopped_share, None, None)


def _load(result: CellResult) -> tuple[int | None, str]:
    return (None, result.cell.level) if result.cell.level else (result.cell.load_ops_s, "")


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _over_repeats(values: list[float], bound: float | None = None) -> Figure:
    """Return the figure of repeats. The highest may be infinite: it is not known then."""
    middle, highest = median(values), max(values)
    return Figure(middle, min(values), highest if highest < inf else None, middle / bound if bound else None)
