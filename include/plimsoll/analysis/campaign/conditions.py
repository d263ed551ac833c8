"""What a node that is down or changed costs: the answers of one campaign under conditions that are ordered.

A healthy cluster carries at least what it carries with a node down, and that at least what it carries while one is
replaced. So the loads of all conditions are estimated together, with that order. Before that each answer is brought to
the same number of judged intervals: the worst of 720 lies above the worst of 15 of the same system.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import exp, log
from typing import Annotated

import numpy as np
from pydantic import Field

from plimsoll.analysis import grouped
from plimsoll.analysis.campaign.capacity import AnswerOverStages, Capacity
from plimsoll.analysis.campaign.thresholds import observed_over, question_of_part
from plimsoll.analysis.logs.operations import Floats
from plimsoll.domain.campaign.part import Part
from plimsoll.domain.keys.action import condition_of
from plimsoll.domain.text.base import LeftOutIfEmpty, Model
from plimsoll.domain.text.units import four_digits
from plimsoll.strategies.threshold.answer import interval
from plimsoll.strategies.threshold.posterior import Posterior, posterior, quantile_of
from plimsoll.strategies.threshold.question import CellObservation, Question

_ALIKE = 1.25
"""Numbers of judged intervals that differ by no more than this factor count as the same."""
_LEAST_CELLS = 3
"""The fewest valid cells of each condition for which the costs of a condition are told."""


class ConditionAnswer(Model):
    """The load of one variant under one condition, and what that costs beside the condition before it.

    Loads and costs are those of all conditions together, in their order. Null: not known, or the first condition.
    """

    variant: str
    workload: LeftOutIfEmpty[str] = ""
    condition: Annotated[str, Field(description="`healthy`, or what is done to the cluster meanwhile")]
    beside: Annotated[str, Field(description="The condition that it is compared with; empty for the first")] = ""
    ops_s: Annotated[float | None, Field(description="The load that is met with the chance of `threshold`, ops/s")] = (
        None
    )
    low_ops_s: Annotated[float | None, Field(description="Lower end of its interval, ops/s")] = None
    high_ops_s: Annotated[float | None, Field(description="Upper end of its interval, ops/s")] = None
    cost: Annotated[float | None, Field(description="The share of the load that it costs, 0 to 1")] = None
    cost_low: Annotated[float | None, Field(description="Lower end of the interval of that share")] = None
    cost_high: Annotated[float | None, Field(description="Upper end of the interval of that share")] = None
    chance: Annotated[
        float | None, Field(description="The chance that it carries less, from both answers without their order")
    ] = None
    told_apart: Annotated[bool, Field(description="Whether that chance reaches the confidence that is asked for")] = (
        False
    )
    contradicts: Annotated[bool, Field(description="Whether its capacity is higher than that of the one before")] = (
        False
    )
    intervals: Annotated[
        int | None, Field(description="The number of judged intervals to which both were brought; null: they are alike")
    ] = None
    incomparable: Annotated[
        tuple[int, ...],
        Field(description="Judged intervals of a cell beside it and under it, where they differ and are not stored"),
    ] = ()
    run_ops_s: Annotated[
        int | None, Field(description="The load (ops/s) to run again under both, where they are not told apart")
    ] = None


@dataclass(frozen=True, eq=False)
class _Condition:
    """One variant's cells under one condition."""

    part: Part
    capacity: Capacity
    cells: tuple[CellObservation, ...]
    exposures: tuple[int, ...]

    @property
    def name(self) -> str:
        return condition_of(self.part.action)

    @property
    def rank(self) -> tuple[int, int]:
        return self.part.action.rank if self.part.action else (0, 0)


@dataclass(frozen=True, eq=False)
class _Chain:
    """Conditions in their order, each of which carries at most what the one before it does."""

    conditions: Sequence[_Condition]

    @cached_property
    def exposures(self) -> tuple[int, ...]:
        return tuple(count for condition in self.conditions for count in condition.exposures)

    @property
    def is_alike(self) -> bool:
        return not self.exposures or max(self.exposures) <= _ALIKE * min(self.exposures)

    @property
    def intervals(self) -> int | None:
        """Return the number of intervals to bring all cells to: as stages ask, else the fewest; None: as they are."""
        asked = {condition.part.asked_intervals for condition in self.conditions}
        if len(asked) == 1 and (count := asked.pop()) is not None:
            return count
        return None if self.is_alike else min(self.exposures)

    @property
    def is_comparable(self) -> bool:
        whole = (cell for condition in self.conditions for cell in condition.cells if not cell.is_censored)
        return self.is_alike or all(cell.intervals for cell in whole)

    @cached_property
    def question(self) -> Question:
        return question_of_part(self.conditions[0].part, self.intervals)

    @cached_property
    def chances(self) -> Sequence[Floats]:
        """Return for each condition the chance that its load lies at each place, without the order."""
        return [known.chances for known in self._posteriors]

    @cached_property
    def log_loads(self) -> Floats:
        return self._posteriors[0].places.log_loads

    @cached_property
    def _posteriors(self) -> Sequence[Posterior]:
        loads = [load for condition in self.conditions for load in condition.part.loads]
        return [posterior(self.question, condition.cells, min(loads), max(loads)) for condition in self.conditions]

    @cached_property
    def before(self) -> Sequence[Floats]:
        """Return for each condition how likely all earlier ones allow its load at each place: at least as much."""
        allowed = [np.ones_like(self.chances[0])]
        for chances in self.chances[:-1]:
            allowed.append(np.cumsum((chances * allowed[-1])[::-1])[::-1])
        return allowed

    @cached_property
    def after(self) -> Sequence[Floats]:
        """Return for each condition how likely all later ones allow its load at each place: at most as much."""
        allowed = [np.ones_like(self.chances[0])]
        for chances in reversed(self.chances[1:]):
            allowed.insert(0, np.cumsum(chances * allowed[0]))
        return allowed

    def load(self, index: int, share: float) -> float:
        """Return the load (ops/s) below which a condition's load lies with that chance, in the order."""
        weights = self.chances[index] * self.before[index] * self.after[index]
        return float(np.exp(quantile_of(self.log_loads, weights, share)))

    def cost(self, index: int, share: float) -> float:
        """Return the share of the load that a condition costs beside the one before it, at that quantile."""
        upper = self.chances[index - 1] * self.before[index - 1]
        lower = self.chances[index] * self.after[index]
        weights = np.correlate(upper, lower, "full")[len(lower) - 1 :]  # by how many steps the one lies above the other
        return float(1 - np.exp(-quantile_of(self.log_loads - self.log_loads[0], weights, share)))

    def chance(self, index: int) -> float:
        """Return the chance that a condition carries less than the one before it, without the order."""
        upper, lower = self.chances[index - 1], self.chances[index]
        below = np.cumsum(lower) - lower / 2  # at the same place either may be the higher one
        return float(upper @ below)


def condition_answers(answers: Sequence[AnswerOverStages]) -> tuple[ConditionAnswer, ...]:
    """Return what every variant carries under ordered conditions, with their costs; empty where there are none."""
    groups = grouped((answer.question, answer) for answer in answers)
    in_chains = (answer for group in groups.values() for chain in _chains(group) for answer in _answers_of(chain))
    # A condition that begins several chains stands once, as the first of them has it.
    once = {(answer.variant, answer.workload, answer.condition): answer for answer in reversed([*in_chains])}
    return tuple(once.values())[::-1]


def _chains(group: Sequence[AnswerOverStages]) -> Iterator[_Chain]:
    """Yield for each variant the healthy cluster with nodes down and replaced, and with each other condition."""
    for variant in dict.fromkeys(capacity.variant for answer in group for capacity in answer.capacities):
        known = [condition for answer in group if (condition := _condition(answer, variant))]
        healthy = [condition for condition in known if condition.part.action is None]
        others = [condition for condition in known if (action := condition.part.action) and not action.loses_nodes]
        # Reversed, so that of several conditions of one rank the first stays
        by_rank = {condition.rank: condition for condition in reversed(known) if condition not in others}
        lost = [by_rank[rank] for rank in sorted(by_rank)]
        pairs = [lost] if len(lost) > 1 and _Chain(lost).is_comparable else list(pairwise(lost))
        beside_healthy = [(*healthy[:1], condition) for condition in others]
        yield from (_Chain(chain) for chain in (*pairs, *beside_healthy) if len(chain) > 1)


def _condition(answer: AnswerOverStages, variant: str) -> _Condition | None:
    capacity = next((capacity for capacity in answer.capacities if capacity.variant == variant), None)
    if capacity is None:
        return None
    cells = [cell for data in answer.of_stages for cell in data.state.by_variant if cell.cell.variant == variant]
    observed = observed_over((data.part, data.state.by_variant) for data in answer.of_stages).get(variant, ())
    if len(observed) < _LEAST_CELLS and capacity.kind in ("unknown", "provisional"):
        return None
    whole = [result.verdict for result in cells if result.verdict and not result.verdict.stopped]
    counts = [verdict.levels[0].judged for verdict in whole if verdict.levels and verdict.levels[0].judged]
    exposures = (int(np.median(counts)),) if counts else ()
    return _Condition(answer.part, capacity, tuple(observed), exposures)


def _answers_of(chain: _Chain) -> Iterator[ConditionAnswer]:
    is_comparable = chain.is_comparable
    has_figures = is_comparable and all(len(known.cells) >= _LEAST_CELLS for known in chain.conditions)
    for index, condition in enumerate(chain.conditions):
        before = chain.conditions[index - 1] if index else None
        answer: dict[str, object] = {
            "variant": condition.capacity.variant,
            "workload": condition.capacity.workload,
            "condition": condition.name,
        }
        if before:
            # One that is only known to be at least so much contradicts nothing
            is_above = (condition.capacity.capacity_ops_s or 0) > (before.capacity.capacity_ops_s or 0)
            contradicts = is_above and before.capacity.kind in ("found", "none")
            answer |= {"beside": before.name, "contradicts": contradicts}
            if not is_comparable:
                answer["incomparable"] = (*before.exposures, *condition.exposures)
        figures = _figures(chain, index) if has_figures else {}
        yield ConditionAnswer.model_validate({**answer, **figures, "run_ops_s": _to_run(chain, index, figures)})


def _figures(chain: _Chain, index: int) -> dict[str, object]:
    outside = (1 - chain.question.confidence) / 2
    shares = (0.5, outside, 1 - outside)
    own = chain.conditions[index].capacity.threshold
    stopped, decided_by = (own.stopped, own.decided_by) if own else ("goes on", "margins")
    ends = interval(chain.question, lambda share: log(chain.load(index, share)), stopped, decided_by)
    loads = (four_digits(load) for load in (chain.load(index, 0.5), *map(exp, ends)))
    figures: dict[str, object] = dict(zip(("ops_s", "low_ops_s", "high_ops_s"), loads, strict=True))
    if index:
        costs = (four_digits(chain.cost(index, share)) for share in shares)
        figures |= zip(("cost", "cost_low", "cost_high"), costs, strict=True)
        chance = chain.chance(index)
        figures |= {"chance": four_digits(chance), "told_apart": chance >= chain.question.confidence}
    return {**figures, "intervals": chain.intervals}


def _to_run(chain: _Chain, index: int, figures: Mapping[str, object]) -> int | None:
    """Return the tested load between both answers that is to run again; None where they are told apart."""
    if not index or figures.get("told_apart"):
        return None
    pair = chain.conditions[index - 1 : index + 1]
    known = [load for condition in pair if (load := condition.capacity.capacity_ops_s)]
    middle = float(np.exp(np.mean(np.log(known)))) if known else float(min(pair[0].part.loads))
    tested = (cell.load_ops_s for condition in pair for cell in condition.cells)
    return int(min(tested, key=lambda load: abs(np.log(load / middle))))
