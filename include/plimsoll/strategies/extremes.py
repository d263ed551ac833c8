"""The least and the greatest number of cells that a strategy can run, over all possible outcomes."""

from collections.abc import Sequence
from functools import cache

from plimsoll.domain.definition import Definition
from plimsoll.domain.parts import parts
from plimsoll.domain.result import ValidOutcome
from plimsoll.domain.strategy import FullGrid, Ramp, Search, Strategy
from plimsoll.strategies.ladder import Ladder, Place
from plimsoll.strategies.search import search_step

_Known = tuple[tuple[ValidOutcome | None, ...], ...]
# Of one variant. Beyond it the tree of outcomes is too deep to walk, and the bound that is given is the whole ladder.
_CELLS_AT_MOST = 400


def least_and_most(definition: Definition) -> tuple[int, int]:
    """The fewest and the most cells of a campaign without invalid attempts. Ladders are independent of one another."""
    least, most = _of_ladder(definition.strategy, len(definition.loads), definition.repeats)
    ladders = len(definition.variants) * len(parts(definition))
    return least * ladders, most * ladders


def _of_ladder(strategy: Strategy, loads: int, repeats: int) -> tuple[int, int]:
    match strategy:
        case FullGrid():
            return loads * repeats, loads * repeats
        case Ramp():
            return repeats, loads * repeats
        case Search(mode="exact"):
            return min(strategy.repeats_at_once, repeats), loads * repeats
        case Search():
            return _of_tree(strategy, loads, repeats)


@cache
def _of_tree(strategy: Search, loads: int, repeats: int) -> tuple[int, int]:
    if loads * repeats > _CELLS_AT_MOST:
        return 1, loads * repeats

    @cache
    def further(known: _Known) -> tuple[int, int]:
        places = search_step(strategy, Ladder(known)).run
        if not places:
            return 0, 0
        met, missed = further(_all_met(known, places)), further(_missed_from(known, places[0].level))
        return len(places) + min(met[0], missed[0]), len(places) + max(met[1], missed[1])

    return further(((None,) * repeats,) * loads)


def _all_met(known: _Known, places: Sequence[Place]) -> _Known:
    levels = [list(level) for level in known]
    for place in places:
        levels[place.level][place.repeat] = "met"
    return tuple(tuple(level) for level in levels)


def _missed_from(known: _Known, level: int) -> _Known:
    # A search looks at nothing above a miss, so all that can be known there is one case.
    missed: tuple[ValidOutcome, ...] = tuple("missed" for _ in known[0])
    return known[:level] + (missed,) * (len(known) - level)
