"""The load that a cell of a variant is met at with a given chance, with its interval, from the margins of its cells."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from math import exp
from typing import Annotated

import numpy as np
from pydantic import Field

from plimsoll.analysis import grouped
from plimsoll.analysis.campaign.cell_results import CellResult
from plimsoll.domain.campaign.part import Part
from plimsoll.domain.keys.strategy import Threshold
from plimsoll.domain.text.base import LeftOutIfEmpty, Model
from plimsoll.domain.text.units import four_digits
from plimsoll.strategies.threshold.answer import answer, question_of
from plimsoll.strategies.threshold.posterior import posterior, quantile_of
from plimsoll.strategies.threshold.question import CellObservation, DecidedBy, Question, Stopped, observation_of


class ThresholdAnswer(Model):
    """The load that is met with a chance, and its interval. Null: the cells do not bound it within the loads."""

    is_asked: Annotated[
        LeftOutIfEmpty[bool], Field(description="Whether the strategy looks for it; else it stands beside the capacity")
    ] = False
    chance: Annotated[float, Field(description="With which a cell at that load is met")]
    ops_s: Annotated[float | None, Field(description="Median of what is known of the load (ops/s)")]
    low_ops_s: Annotated[float | None, Field(description="Lower end of the interval (ops/s)")]
    high_ops_s: Annotated[float | None, Field(description="Upper end of the interval (ops/s)")]
    confidence: Annotated[float, Field(description="The chance that the interval holds the load")]
    decided_by: Annotated[
        DecidedBy,
        Field(description="margins: how far cells were from their bounds; outcomes: only whether they were met"),
    ]
    stopped: Annotated[
        Stopped,
        Field(
            description="narrow: the interval is as narrow as asked; all met, all missed: the load lies beyond the "
            "range; most cells: as many cells ran as may; goes on: none of these"
        ),
    ]
    cells: Annotated[int, Field(description="Valid cells that it is known from")]
    over_s: Annotated[
        LeftOutIfEmpty[float | None],
        Field(description="For how long the load is met with that chance, s; left out: as long as a cell is judged"),
    ] = None


Observed = Mapping[str, Sequence[CellObservation]]
"""What the valid cells of each variant tell, by the variant's id."""


def observed_over(of_parts: Iterable[tuple[Part, Sequence[CellResult]]]) -> Observed:
    """Return what each variant's cells under a load tell, each by its own part; nothing where the load is no rate."""
    return grouped(
        (result.cell.variant, observation)
        for part, cells in of_parts
        if "rate" in part.knows
        for result in cells
        if result.verdict and result.cell.load_ops_s and (observation := observation_of(result.verdict, part))
    )


def threshold_answer(part: Part, observed: Observed, variant: str) -> ThresholdAnswer | None:
    """Return the answer from a variant's cells, and what the others tell of the noise; None without a valid cell."""
    known = observed.get(variant)
    if not known:
        return None
    strategy, question = _asked(part), question_of_part(part, part.asked_intervals)
    result = answer(question, known, min(part.loads), max(part.loads), _others(part, observed, variant))
    return ThresholdAnswer(
        is_asked=isinstance(part.strategy, Threshold),
        chance=strategy.chance / 100,
        confidence=strategy.confidence / 100,
        over_s=strategy.over / timedelta(seconds=1) if strategy.over else None,
        ops_s=result.load_ops_s,
        low_ops_s=result.low_ops_s,
        high_ops_s=result.high_ops_s,
        decided_by=result.decided_by,
        stopped=result.stopped,
        cells=result.cells,
    )


class ThresholdRatio(Model):
    """A variant's load that is met with a chance, over the control's, with its interval."""

    low: Annotated[float, Field(description="Lower end of the interval of the ratio")]
    median: float
    high: Annotated[float, Field(description="Upper end of the interval of the ratio")]
    chance: Annotated[float, Field(description="The chance that the variant's load is the higher one")]


def threshold_ratio(part: Part, observed: Observed, variant: str) -> ThresholdRatio | None:
    """Return how a variant's load compares with the control's; None for that, and where either has no valid cell."""
    pair = (variant, part.control or "")
    if variant == part.control or not all(observed.get(name) for name in pair):
        return None
    question = question_of_part(part, part.asked_intervals)
    ends = min(part.loads), max(part.loads)
    own, control = (posterior(question, observed[name], *ends, _others(part, observed, name)) for name in pair)
    weights = np.correlate(own.chances, control.chances, "full")  # of so many steps from the control's place to the own
    count, places = len(own.chances), own.places.log_loads
    ratios = np.arange(1 - count, count) * (places[1] - places[0])
    outside = (1 - question.confidence) / 2
    shares = (outside, 0.5, 1 - outside)
    low, median, high = (four_digits(exp(quantile_of(ratios, weights, share))) for share in shares)
    above = float(weights[count:].sum() + weights[count - 1] / 2)
    return ThresholdRatio(low=low, median=median, high=high, chance=four_digits(above))


def _others(part: Part, observed: Observed, variant: str) -> list[Sequence[CellObservation]]:
    telling = part.telling([other.id for other in part.variants], variant)
    return [observed[name] for name in telling if name in observed]


def question_of_part(part: Part, intervals: int | None) -> Question:
    """Return the question that a part's strategy asks, or the usual one, for so many judged intervals."""
    return replace(question_of(_asked(part), intervals), is_searched=isinstance(part.strategy, Threshold))


def _asked(part: Part) -> Threshold:
    return part.strategy if isinstance(part.strategy, Threshold) else Threshold()
