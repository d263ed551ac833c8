"""The valid repeats of each variant at each load: rates, maxima, and how many fell short or began with a backlog."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from plimsoll.analysis.attempt.backlog import begins_with_backlog
from plimsoll.analysis.campaign.cell_results import PERCENTILES, CellResult, Spread, achieved, maxima
from plimsoll.domain.service_level import ServiceLevel


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


def repeats_by_load(cells: Sequence[CellResult], level: ServiceLevel) -> tuple[RepeatsAtLoad, ...]:
    """Return a summary of every variant and load, in the cells' order. A backlog counts by the bound of `level`."""
    rates = _by_place(achieved(cells))
    highest = {percentile: _by_place(maxima(cells, percentile)) for percentile in PERCENTILES}
    return tuple(
        _summary(list(own), rates.get(place), {name: found.get(place) for name, found in highest.items()}, level)
        for place, own in groupby(cells, key=lambda one: (one.cell.variant, one.cell.load_ops_s))
    )


def _summary(
    cells: Sequence[CellResult], rate: Spread | None, highest: Mapping[str, Spread | None], level: ServiceLevel
) -> RepeatsAtLoad:
    cell, verdicts = cells[0].cell, [one.verdict for one in cells if one.verdict]
    return RepeatsAtLoad(
        variant=cell.variant,
        load_ops_s=cell.load_ops_s,
        repeats=len(cells),
        valid=len(verdicts),
        achieved_ops_s=rate,
        achieved_share=rate.median / cell.load_ops_s if rate else None,
        not_achieved=sum(one.rate_achieved is False for one in verdicts),
        begin_with_backlog=sum(begins_with_backlog(one.opening_backlog, level) for one in verdicts),
        maxima_ms=highest,
    )


def _by_place(spreads: Sequence[Spread]) -> dict[tuple[str, int], Spread]:
    return {(spread.variant, spread.load_ops_s): spread for spread in spreads}
