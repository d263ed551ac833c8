"""The strategy's decision for a whole campaign: cells to run next, and cells that need not run.

On a variant's ladder a search climbs (exact) or bisects (fast), and a ramp goes up. They depend only on the outcomes so
far. So a campaign continues correctly after a crash, an invalid cell, or a cell that somebody ran by hand.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice, takewhile

from plimsoll.domain.attempt.result import ValidOutcome
from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.campaign.cell import Cell
from plimsoll.domain.campaign.grid import grid
from plimsoll.domain.keys.strategy import FullGrid, Ramp, Search, Strategy, Threshold
from plimsoll.strategies.matrix import (
    NOTHING_KNOWN,
    CapacityKind,
    Ladder,
    LadderDecision,
    LevelOutcome,
    Observations,
    Position,
    capacity_level,
    capacity_of,
    outcome_of_level,
    running_order,
)
from plimsoll.strategies.threshold.question import Answer, CellObservation


@dataclass(frozen=True)
class Decision:
    """Cells to run now, in order (none: the campaign ends), and those that need not run, each with its decider."""

    run: tuple[str, ...]
    not_needed: Mapping[str, str] = field(default_factory=dict)


class StrategyOfCampaign:
    """A campaign's strategies over its cells, by ladder (`Cell.ladder`): a variant in a stage with a workload.

    `order`: the ids of all cells as they run. `ladders`: the ids by load (rising) and repeat. `loads`: of each ladder,
    ops/s, rising. `parts`: the part of each ladder.
    """

    def __init__(self, campaign: Campaign) -> None:
        self.campaign, cells = campaign, grid(campaign)
        by_ladder: dict[str, dict[int, list[str]]] = {}
        for cell in cells:  # those of a ladder repeat by repeat
            by_ladder.setdefault(cell.ladder, {}).setdefault(cell.load_ops_s, []).append(cell.id)
        self.order = tuple(cell.id for cell in running_order(campaign))
        self.loads = {name: tuple(sorted(levels)) for name, levels in by_ladder.items()}
        self.ladders = {name: [by_ladder[name][load] for load in loads] for name, loads in self.loads.items()}
        self.parts = {cell.ladder: campaign.part(cell.part) for cell in cells}

    def next(self, outcomes: Mapping[str, ValidOutcome], known: Observations = NOTHING_KNOWN) -> Decision:
        """Return the decision by `outcomes`: cell id → outcome of its newest valid attempt.

        `known`: what the same cells tell of a threshold. Cells without a valid attempt are left out. Variants (and
        workloads) alternate, in the definition's running order. A stage begins when all earlier stages need no more
        cells.
        """
        steps = {name: step_of(part.strategy, self._ladder(name, outcomes, known)) for name, part in self.parts.items()}
        asking = {self.parts[name].stage for name, step in steps.items() if step.run}
        first = next((part.stage for part in self.campaign.parts if part.stage in asking), "")
        now = {name: step.run for name, step in steps.items() if self.parts[name].stage == first}
        chosen = {self._id_at(ladder, position) for ladder, run in now.items() for position in run}
        not_needed = {
            self._id_at(ladder, position): self._id_at(ladder, decider)
            for ladder, step in steps.items()
            for position, decider in step.not_needed.items()
        }
        return Decision(tuple(cell_id for cell_id in self.order if cell_id in chosen), not_needed)

    def capacities(
        self, outcomes: Mapping[str, ValidOutcome], known: Observations = NOTHING_KNOWN
    ) -> dict[str, tuple[CapacityKind, int | None]]:
        """Tell how firm each ladder's capacity is, and the capacity, ops/s; of a threshold, the load that it found."""
        answers, capacities = self.answers(known), dict[str, tuple[CapacityKind, int | None]]()
        for name, loads in self.loads.items():
            if answer := answers.get(name):
                capacities[name] = capacity_of(answer.stopped, answer.load_ops_s, answer.low_ops_s, loads[-1])
            else:
                ladder = self._ladder(name, outcomes)
                kind, level = ladder_capacity(ladder, step_of(self.parts[name].strategy, ladder).not_needed)
                capacities[name] = kind, None if level is None else loads[level]
        return capacities

    def answers(self, known: Observations) -> dict[str, Answer]:
        """Return the answer of each ladder on which a threshold is looked for, by what its cells tell."""
        answers: dict[str, Answer] = {}
        for name, part in self.parts.items():
            if isinstance(part.strategy, Threshold):
                from plimsoll.strategies.threshold.answer import ladder_answer  # late: it takes NumPy and SciPy

                answers[name] = ladder_answer(part.strategy, self._ladder(name, {}, known))
        return answers

    def _ladder(self, name: str, outcomes: Mapping[str, ValidOutcome], known: Observations = NOTHING_KNOWN) -> Ladder:
        """Return the ladder with its outcomes so far."""
        levels = [[outcomes.get(cell_id) for cell_id in repeats] for repeats in self.ladders[name]]
        part = self.parts[name]
        ladders = [other for other in self.parts if self.parts[other].id == part.id]  # one for each variant, in order
        alike = [self._known(other, known) for other in part.telling(ladders, name)]
        return Ladder(levels, self.loads[name], self._known(name, known), part.asked_intervals, alike)

    def _known(self, name: str, known: Observations) -> list[CellObservation]:
        return [known[cell_id] for repeats in self.ladders[name] for cell_id in repeats if cell_id in known]

    def _id_at(self, name: str, place: Position) -> str:
        return self.ladders[name][place.level][place.repeat]


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
            from plimsoll.strategies.threshold.answer import threshold_step  # late: it takes NumPy and SciPy

            return threshold_step(strategy, ladder)


def exact_step(ladder: Ladder, at_once: int) -> LadderDecision:
    """Climb: run all repeats of the lowest undecided load. The first miss ends the search.

    Given the same outcomes, the capacity equals the full grid's. It requires a load and all lower loads to be met, so
    no outcome above the first miss can change it.
    """
    miss = ladder.lowest_miss()
    top = miss.level if miss else len(ladder)
    run = _of_one_level(ladder.unknown(range(top)), at_once)
    return LadderDecision(run, _spared(ladder, range(top, len(ladder)), miss))


def fast_step(ladder: Ladder, guard: int, at_once: int) -> LadderDecision:
    """Bisect with one repeat per load, then run all repeats at the candidate and at the `guard` loads below it.

    The candidate is the load below the lowest miss. Loads below the guarded ones are assumed to be met. So the result
    is never lower than the full grid's. It differs with a probability of at most the sum of (1 - p) over the lower
    cells that did not run, where p is the probability that a cell is met.
    """
    miss = ladder.lowest_miss()
    top = miss.level if miss else len(ladder)
    above = _spared(ladder, range(top, len(ladder)), miss)
    bottom = max((level for level in range(top) if ladder.first(level, "met")), default=-1)
    if top - bottom > 1:
        return LadderDecision((Position((bottom + top) // 2, 0),), above)
    guarded = range(bottom, max(bottom - guard, 0) - 1, -1)
    if run := _of_one_level(ladder.unknown(guarded), at_once):
        return LadderDecision(run, above)
    met = ladder.first(bottom, "met") if bottom >= 0 else None
    return LadderDecision((), {**above, **_spared(ladder, range(bottom), met)})


def _of_one_level(positions: Iterable[Position], at_most: int) -> tuple[Position, ...]:
    first = list(islice(positions, at_most))
    return tuple(position for position in first if position.level == first[0].level)


def _spared(ladder: Ladder, levels: range, decider: Position | None) -> Mapping[Position, Position]:
    """Return the cells without an outcome at these loads, which that cell makes unnecessary."""
    return dict.fromkeys(ladder.unknown(levels), decider) if decider else {}


def ramp_step(ladder: Ladder) -> LadderDecision:
    """Choose for each repeat the lowest load without an outcome below its first miss. Loads above a miss are spared.

    Each repeat goes up through the loads, independently of other repeats, until it misses. Here a cell is met where its
    rate was achieved and every service level was kept (`must_reach_rate` of its verdict). The lowest load that any
    repeat missed is the same as in a full grid with the same outcomes. So is the capacity: the highest load that all
    repeats sustained.
    """
    run, spared = list[Position](), dict[Position, Position]()
    for repeat, outcomes in enumerate(zip(*ladder.levels, strict=True)):
        top = outcomes.index("missed") if "missed" in outcomes else len(outcomes)
        unknown = [Position(level, repeat) for level, outcome in enumerate(outcomes) if outcome is None]
        run += [position for position in unknown if position.level < top][:1]
        spared |= {position: Position(top, repeat) for position in unknown if position.level > top}
    return LadderDecision(tuple(sorted(run)), spared)


def ladder_capacity(ladder: Ladder, not_needed: Mapping[Position, Position]) -> tuple[CapacityKind, int | None]:
    """Tell how firm a ladder's capacity is, and the index of its load. A strategy may have left out some repeats."""
    outcomes: list[LevelOutcome] = []
    for level, repeats in enumerate(ladder.levels):
        deciders = (not_needed.get(position) for position in ladder.all_with(level, None))
        outcomes.append(outcome_of_level(repeats, [ladder.outcome(by) if by else None for by in deciders]))
    return capacity_level(outcomes)
