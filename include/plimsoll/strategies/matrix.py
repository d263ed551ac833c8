"""A definition's cells in running order; a ladder, the outcome of each repeat at each load of a variant; and the
capacity that follows.
"""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, takewhile
from typing import Literal

from plimsoll.domain.attempt.result import ValidOutcome
from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.campaign.cell import Cell
from plimsoll.domain.campaign.grid import grid
from plimsoll.domain.campaign.part import Part
from plimsoll.strategies.threshold.question import CellObservation, Stopped

Observations = Mapping[str, CellObservation]
"""Cell id → what a valid cell tells of a threshold; only cells of parts that look for one."""
NOTHING_KNOWN: Observations = {}
LevelOutcome = Literal["met", "missed", "taken for met", "not needed", "incomplete"]
"""The outcome of a load. A search left repeats out of a load that is taken for met (a higher load was met) or not
needed (a lower one missed).
"""
CapacityKind = Literal["found", "at-least", "provisional", "none", "unknown"]
"""How firm a capacity is. found: the next load missed; at-least: every load of the campaign was met; provisional:
nothing missed so far, but the next load is incomplete; none: the lowest load missed; unknown: it is incomplete."""


@dataclass(frozen=True, order=True)
class Position:
    """The position of a cell in a ladder: index of the load (0 is the lowest) and of the repeat (0 is the first)."""

    level: int
    repeat: int


@dataclass(frozen=True)
class Ladder:
    """`levels[i][k]` is the outcome of repeat k at the i-th lowest load; None while there is no outcome.

    `loads`: the load of each level, ops/s. `cells`: what the cells tell of a threshold, which is asked for so many
    judged `intervals`; None: as many as a cell has. `alike`: the same of each other variant that tells of this one.
    Only a threshold needs these four.
    """

    levels: Sequence[Sequence[ValidOutcome | None]]
    loads: Sequence[int] = ()
    cells: Sequence[CellObservation] = ()
    intervals: int | None = None
    alike: Sequence[Sequence[CellObservation]] = ()

    def __len__(self) -> int:
        return len(self.levels)

    def outcome(self, place: Position) -> ValidOutcome | None:
        return self.levels[place.level][place.repeat]

    def first(self, level: int, outcome: ValidOutcome | None) -> Position | None:
        """Return the first repeat at a load with that outcome. None as outcome means a repeat without one."""
        return next(self.all_with(level, outcome), None)

    def all_with(self, level: int, outcome: ValidOutcome | None) -> Iterator[Position]:
        """Yield every repeat at a load with that outcome, in order."""
        return (Position(level, repeat) for repeat, known in enumerate(self.levels[level]) if known == outcome)

    def lowest_miss(self) -> Position | None:
        """Return the first missed repeat at the lowest load with a miss; None without any miss."""
        level = next((level for level, known in enumerate(self.levels) if "missed" in known), None)
        return None if level is None else self.first(level, "missed")

    def unknown(self, levels: Iterable[int]) -> Iterator[Position]:
        """Yield every repeat without an outcome at these loads, in their order."""
        open_levels = (level for level in levels if None in self.levels[level])
        return (position for level in open_levels for position in self.all_with(level, None))


def running_order(campaign: Campaign) -> tuple[Cell, ...]:
    """Return all cells, stage by stage and repeat by repeat.

    Each repeat is a block in a random order that the seed determines. Where hosts are kept for a variant, all cells of
    one variant in a stage come before those of the next variant. Where a repeat's loads share their data, they follow
    one another, from the lowest up.
    """
    cells, firsts = grid(campaign), [stage.first for stage in campaign.stages]
    of_stages = (_order_within([cell for cell in cells if cell.stage == part.stage], part) for part in firsts)
    return tuple(chain.from_iterable(of_stages))


def of_one_round(campaign: Campaign, cells: Sequence[Cell]) -> frozenset[str]:
    """Return ids of the cells, of one stage and in running order, that may run before the strategy is asked again."""
    if not cells:
        return frozenset()
    scope = campaign.part(cells[0].part).round_scope
    return frozenset(cell.id for cell in cells if cell.group(scope) == cells[0].group(scope))


def _order_within(cells: Sequence[Cell], part: Part) -> Sequence[Cell]:
    ordered: list[Cell] = []
    for repeat in sorted({cell.repeat for cell in cells}):
        block = [cell for cell in cells if cell.repeat == repeat]
        # Seeding with text makes the order the same on every machine and Python process.
        random.Random(f"{part.seed}/{repeat}").shuffle(block)  # noqa: S311 - not for secrets
        ordered.extend(block)
    # Loads that share their data follow one another, in the place of the first of them.
    first = {cell.group(part.data_scope): index for index, cell in reversed(list(enumerate(ordered)))}
    ordered.sort(key=lambda cell: (first[cell.group(part.data_scope)], cell.load_ops_s))
    if part.cluster_scope == "variant":
        ids = [variant.id for variant in part.variants]
        # Sorting is stable, so the cells of each variant keep their shuffled order
        ordered.sort(key=lambda cell: ids.index(cell.variant))
    return ordered


@dataclass(frozen=True)
class LadderDecision:
    """A ladder's cells to run now (none: it ends), and those that need not run, each with its deciding cell."""

    run: tuple[Position, ...] = ()
    not_needed: Mapping[Position, Position] = field(default_factory=dict)


def outcome_of_level(repeats: Sequence[ValidOutcome | None], deciders: Sequence[ValidOutcome | None]) -> LevelOutcome:
    """Return the outcome of a load: missed once any repeat missed, met once every repeat met.

    `deciders`: for each repeat without an outcome, the outcome of the cell that made it unnecessary; None where the
    repeat is still to run.
    """
    if "missed" in repeats:
        return "missed"
    if not deciders:
        return "met"
    if None in deciders:
        return "incomplete"
    return "taken for met" if set(deciders) == {"met"} else "not needed"


def capacity_level(outcomes: Sequence[LevelOutcome]) -> tuple[CapacityKind, int | None]:
    """Tell how firm the capacity is, and the index of its load; None where there is no such load.

    The capacity is the highest load that was met, with all lower loads met or assumed to be met. `outcomes` are in the
    order of rising loads.
    """
    carried = len(list(takewhile(lambda outcome: outcome in ("met", "taken for met"), outcomes)))
    highest = carried - 1 if carried else None
    if carried == len(outcomes):
        return "at-least", highest
    if outcomes[carried] == "missed":
        return ("found" if carried else "none"), highest
    return ("provisional" if carried else "unknown"), highest


def capacity_of(
    stopped: Stopped, load_ops_s: float | None, low_ops_s: float | None, highest: int
) -> tuple[CapacityKind, int | None]:
    """Return an answer as a capacity: how firm it is, and the load (ops/s). `highest`: of the range of loads, ops/s.

    Where the load lies above the range, and not for sure, it is at least the lower end of its interval.
    """
    if stopped in ("all met", "all missed"):
        return ("at-least", highest) if stopped == "all met" else ("none", None)
    known = low_ops_s if load_ops_s is None else load_ops_s
    if known is None:
        return "unknown", None
    firm: CapacityKind = "at-least" if load_ops_s is None else "found"
    return ("provisional" if stopped == "goes on" else firm), int(known)
