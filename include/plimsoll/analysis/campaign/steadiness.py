"""Whether a cell was steady after warm-up: trend and change point of the judged percentile over the judged time.

Neighbouring intervals are not independent, so the tests run on medians of blocks: at most 24 blocks, none shorter than
six intervals. Trend: Mann and Kendall's test with Sen's slope, on log percentiles. Change point: Pettitt's test. Holm's
correction covers all cells and both tests.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import exp
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import Field

from plimsoll.analysis.campaign.series import judged_series, log_ms, pettitt, trend
from plimsoll.analysis.campaign.statistics import CONFIDENCE, holm
from plimsoll.domain.base import Model

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from plimsoll.analysis.campaign.cell_results import CellResult

BLOCKS, FEWEST_BLOCKS, SHORTEST_BLOCK = 24, 8, 6


class Steadiness(Model):
    """The trend and the change point of one cell's judged time."""

    cell: str
    finding: Literal["no drift shown", "drifts", "jumps", "too short to tell"]
    change: Annotated[float | None, Field(description="Percentile at the end / at the start, by Sen's slope")]
    jump: Annotated[float | None, Field(description="Median after the likeliest change point / before it")]
    jump_at_s: Annotated[float | None, Field(description="Where that is, s from the timed run's start")]
    trend_p: float | None
    jump_p: float | None
    p_holm: Annotated[float | None, Field(description="The smaller of both after Holm's correction over all cells")]


def steadiness(cells: Iterable[CellResult]) -> tuple[Steadiness, ...]:
    """Return the steadiness of every cell with a valid attempt that has intervals, in the cells' order."""
    found = [_cell(result) for result in cells if result.counted and not result.counted.intervals.empty]
    tested = [one for one in found if one.trend_p is not None and one.jump_p is not None]
    values = holm([value for one in tested for value in (one.trend_p or 0.0, one.jump_p or 0.0)])
    adjusted = {one.cell: pair for one, pair in zip(tested, zip(values[::2], values[1::2], strict=True), strict=True)}
    return tuple(_concluded(one, adjusted[one.cell]) if one.cell in adjusted else one for one in found)


def unsteady(found: Iterable[Steadiness]) -> tuple[Steadiness, ...]:
    """Return the cells whose judged time has a trend or a change point."""
    return tuple(one for one in found if one.finding in ("drifts", "jumps"))


def _cell(result: CellResult) -> Steadiness:
    series = judged_series(result.counted)
    logs = log_ms(series)
    count = min(BLOCKS, len(logs) // SHORTEST_BLOCK)
    if count < FEWEST_BLOCKS:
        nothing = dict.fromkeys(("change", "jump", "jump_at_s", "trend_p", "jump_p", "p_holm"))
        return Steadiness(cell=result.cell.id, finding="too short to tell", **nothing)
    medians = np.array([np.median(block) for block in np.array_split(logs, count)])
    place, jump_p = pettitt(medians)
    trend_p, slope = trend(medians)
    return Steadiness(
        cell=result.cell.id,
        finding="jumps" if _step_fits_better(medians, place, slope) else "drifts",
        change=exp(slope * (count - 1)),
        jump=exp(float(np.median(medians[place:]) - np.median(medians[:place]))),
        jump_at_s=float(series.start_s[min(place * len(logs) // count, len(series.start_s) - 1)]),
        trend_p=trend_p,
        jump_p=jump_p,
        p_holm=None,
    )


def _concluded(one: Steadiness, p_values: tuple[float, float]) -> Steadiness:
    """Return the finding with its corrected p value; "no drift shown" where neither test is significant.

    A significant result of either test confirms the finding, because a jump also makes a trend, and a trend a change.
    """
    found = one if min(p_values) <= 1 - CONFIDENCE else one.model_copy(update={"finding": "no drift shown"})
    return found.model_copy(update={"p_holm": min(p_values)})


def _step_fits_better(values: NDArray[np.float64], place: int, slope: float) -> bool:
    """Tell whether a step fits better than a line, by the sum of absolute deviations."""
    flat = values - slope * np.arange(len(values))
    step = sum(float(np.abs(part - np.median(part)).sum()) for part in (values[:place], values[place:]))
    return step < float(np.abs(flat - np.median(flat)).sum())
