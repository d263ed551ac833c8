"""The figures of one campaign that a trend follows: one for each measure, variant and load, over valid repeats."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import Literal

from plimsoll.analysis import grouped
from plimsoll.analysis.campaign.cell_results import CampaignData, CellResult, cell_results
from plimsoll.analysis.campaign.pauses import pause_statistics
from plimsoll.analysis.campaign.thresholds import observed_of, threshold_answer
from plimsoll.domain.attempt.result import Verdict

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


def _capacities(data: CampaignData, cells: Iterable[CellResult]) -> Iterator[tuple[SeriesKey, Figure]]:
    """Yield the load that is met with a chance. A capacity on the grid of loads moves by whole steps or not at all."""
    if data.part.asks == "capacity":
        of_variants = grouped((one.cell.variant, one) for one in cells)
        observed = observed_of(data.part, of_variants)
        for variant in of_variants:
            found = threshold_answer(data.part, observed, variant)
            if found and found.ops_s:
                key = SeriesKey("capacity_ops_s", data.part.stage, data.part.workload_id, variant)
                yield key, Figure(found.ops_s, found.low_ops_s, found.high_ops_s)


def _by_load(data: CampaignData, cells: Iterable[CellResult]) -> Iterator[tuple[SeriesKey, Figure]]:
    for (variant, load), own in grouped(((one.cell.variant, _load(one)), one) for one in cells).items():
        verdicts = [one.verdict for one in own if one.verdict]
        place = data.part.stage, data.part.workload_id, variant, *load
        for number, level in enumerate(data.part.service_levels):
            if worst := _known(_worst_ms(one, number) for one in verdicts):
                of = str(level) if len(data.part.service_levels) > 1 else ""
                yield SeriesKey("worst_interval_ms", *place, of), _over_repeats(worst, level.bound_ms)
        if rates := _known(one.achieved_ops_s for one in verdicts):
            yield SeriesKey("achieved_ops_s", *place), _over_repeats(rates)
        if times := _known(one.action.duration_s if one.action else None for one in verdicts):
            yield SeriesKey("action_s", *place), _over_repeats(times)


def _pauses(data: CampaignData, cells: Iterable[CellResult]) -> Iterator[tuple[SeriesKey, Figure]]:
    loads = {(one.cell.variant, one.cell.load_ops_s): _load(one) for one in cells}
    timing = data.part.timing
    found = pause_statistics(cells, timing.warmup.total_seconds(), timing.duration.total_seconds())
    for one in found:
        load = loads[one.variant, one.load_ops_s]
        place = data.part.stage, data.part.workload_id, one.variant, *load
        if longest := one.longest_ms:
            yield SeriesKey("longest_pause_ms", *place, one.process), Figure(longest.median, longest.low, longest.high)
        yield SeriesKey("paused_share", *place, one.process), Figure(one.stopped_share, None, None)


def _load(one: CellResult) -> tuple[int | None, str]:
    return (None, one.cell.level) if one.cell.level else (one.cell.load_ops_s, "")


def _worst_ms(verdict: Verdict, number: int) -> float | None:
    return verdict.levels[number].worst_ms if number < len(verdict.levels) else None


def _known(values: Iterable[float | None]) -> list[float]:
    return [one for one in values if one is not None]


def _over_repeats(values: list[float], bound: float | None = None) -> Figure:
    middle = median(values)
    return Figure(middle, min(values), max(values), middle / bound if bound else None)
