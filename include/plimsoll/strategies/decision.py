"""The strategy's decision for a whole campaign: cells to run next, and cells that need not run."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile

from plimsoll.domain.attempt.result import ValidOutcome
from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.campaign.cell import Cell
from plimsoll.domain.keys.strategy import FullGrid, Ramp, Search, Strategy, Threshold
from plimsoll.strategies.matrix import (
    NOTHING_KNOWN,
    CapacityKind,
    Ladder,
    LadderDecision,
    LevelOutcome,
    Matrix,
    Observations,
    Position,
    capacity_level,
    outcome_of_level,
)
from plimsoll.strategies.ramp import ramp_step
from plimsoll.strategies.search import exact_step, fast_step
from plimsoll.strategies.threshold.question import Answer, capacity_of


@dataclass(frozen=True)
class Decision:
    """Cells to run now, in order (none: the campaign ends), and those that need not run, each with its decider."""

    run: tuple[str, ...]
    not_needed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class StrategyOfCampaign:
    """A campaign's strategies over its cells."""

    campaign: Campaign

    @cached_property
    def matrix(self) -> Matrix:
        return Matrix.of(self.campaign)

    def next(self, outcomes: Mapping[str, ValidOutcome], known: Observations = NOTHING_KNOWN) -> Decision:
        """Return the decision by `outcomes`: cell id → outcome of its newest valid attempt.

        `known`: what the same cells tell of a threshold. Cells without a valid attempt are left out. Variants (and
        workloads) alternate, in the definition's running order. A stage begins when all earlier stages need no more
        cells.
        """
        parts = self.matrix.parts
        steps = {name: step_of(parts[name].strategy, self.matrix.ladder(name, outcomes, known)) for name in parts}
        asking = {parts[name].stage for name, step in steps.items() if step.run}
        first = next((part.stage for part in self.campaign.parts if part.stage in asking), "")
        now = {name: step.run for name, step in steps.items() if parts[name].stage == first}
        chosen = {self.matrix.id_at(ladder, position) for ladder, run in now.items() for position in run}
        not_needed = {
            self.matrix.id_at(ladder, position): self.matrix.id_at(ladder, decider)
            for ladder, step in steps.items()
            for position, decider in step.not_needed.items()
        }
        return Decision(tuple(cell_id for cell_id in self.matrix.order if cell_id in chosen), not_needed)

    def capacities(
        self, outcomes: Mapping[str, ValidOutcome], known: Observations = NOTHING_KNOWN
    ) -> dict[str, tuple[CapacityKind, int | None]]:
        """Tell how firm each ladder's capacity is, and the capacity in ops/s; of a threshold, the load that it found.

        A ladder is a variant in a stage with a workload.
        """
        answers, capacities = self.answers(known), dict[str, tuple[CapacityKind, int | None]]()
        for name, loads in self.matrix.loads.items():
            if answer := answers.get(name):
                capacities[name] = capacity_of(answer.stopped, answer.load_ops_s, answer.low_ops_s, loads[-1])
            else:
                ladder = self.matrix.ladder(name, outcomes)
                kind, level = ladder_capacity(ladder, step_of(self.matrix.parts[name].strategy, ladder).not_needed)
                capacities[name] = kind, None if level is None else loads[level]
        return capacities

    def answers(self, known: Observations) -> dict[str, Answer]:
        """Return the answer of each ladder on which a threshold is looked for, by what its cells tell."""
        answers: dict[str, Answer] = {}
        for name, part in self.matrix.parts.items():
            if isinstance(part.strategy, Threshold):
                from plimsoll.strategies.threshold.step import ladder_answer  # late: it takes NumPy and SciPy

                answers[name] = ladder_answer(part.strategy, self.matrix.ladder(name, {}, known))
        return answers


def stage_to_start(campaign: Campaign, missing: Iterable[Cell]) -> str:
    """Return the id of the first stage whose loads are not known, once they can be found; empty otherwise.

    They can be found when no earlier stage needs a cell. `missing`: the cells that the campaign needs.
    """
    first = next((part.stage for part in campaign.parts if not part.has_loads), "")
    earlier = {part.stage for part in takewhile(lambda part: part.stage != first, campaign.parts)}
    return "" if any(cell.stage in earlier for cell in missing) else first


def step_of(strategy: Strategy, ladder: Ladder) -> LadderDecision:
    match strategy:
        case FullGrid():
            return LadderDecision(tuple(ladder.unknown(range(len(ladder)))))
        case Search(mode="exact"):
            return exact_step(ladder, strategy.repeats_at_once)
        case Search():
            return fast_step(ladder, strategy.guard, strategy.repeats_at_once)
        case Ramp():
            return ramp_step(ladder)
        case Threshold():
            from plimsoll.strategies.threshold.step import threshold_step  # late: it takes NumPy and SciPy

            return threshold_step(strategy, ladder)


def ladder_capacity(ladder: Ladder, not_needed: Mapping[Position, Position]) -> tuple[CapacityKind, int | None]:
    """Tell how firm a ladder's capacity is, and the index of its load. A strategy may have left out some repeats."""
    outcomes: list[LevelOutcome] = []
    for level, repeats in enumerate(ladder.levels):
        deciders = (not_needed.get(position) for position in ladder.all_with(level, None))
        outcomes.append(outcome_of_level(repeats, [ladder.outcome(by) if by else None for by in deciders]))
    return capacity_level(outcomes)
