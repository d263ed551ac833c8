"""A variant's loads as a ladder: the outcome of each repeat at each load, and the capacity that follows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Literal

from plimsoll.domain.result import ValidOutcome

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
    """`levels[i][k]` is the outcome of repeat k at the i-th lowest load; None while there is no outcome."""

    levels: Sequence[Sequence[ValidOutcome | None]]

    def __len__(self) -> int:
        return len(self.levels)

    def outcome(self, place: Position) -> ValidOutcome | None:
        """Return the outcome of one cell; None while there is none."""
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

    def unknown_below(self, top: int) -> Iterator[Position]:
        """Yield every repeat without an outcome below that index of a load, in order."""
        levels = (level for level in range(top) if None in self.levels[level])
        return (place for level in levels for place in self.all_with(level, None))


@dataclass(frozen=True)
class LadderDecision:
    """A strategy's decision for one ladder: cells to run now, and cells that need not run, each with its deciding cell.

    A ladder ends when there is nothing to run.
    """

    run: tuple[Position, ...] = ()
    not_needed: Mapping[Position, Position] = field(default_factory=dict)


def level_outcome(ladder: Ladder, level: int, not_needed: Mapping[Position, Position]) -> LevelOutcome:
    """Return the outcome of a load, where a strategy may have left out some repeats."""
    deciders = [not_needed.get(place) for place in ladder.all_with(level, None)]
    return outcome_of_level(ladder.levels[level], [ladder.outcome(place) if place else None for place in deciders])


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
