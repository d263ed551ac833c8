"""The least and the greatest number of cells that a strategy can run, over all possible outcomes.

Only the greatest number of a fast search with one repeat, a guard of 1 and very many loads is a bound: the whole grid.
"""

from collections.abc import Sequence
from functools import cache

from plimsoll.domain.definition import Definition
from plimsoll.domain.parts import parts
from plimsoll.domain.result import ValidOutcome
from plimsoll.domain.strategy import FullGrid, Ramp, Search, Strategy
from plimsoll.strategies.ladder import Ladder, Place
from plimsoll.strategies.search import search_step

_Known = tuple[tuple[ValidOutcome | None, ...], ...]
# Of one variant with one repeat. Beyond it the tree of outcomes is too deep to walk.
_LOADS_AT_MOST = 400


def least_and_most(definition: Definition) -> tuple[int, int]:
    """Return the fewest and the most cells of a campaign without invalid attempts.

    Ladders are independent of one another.
    """
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
            return _least_of_fast(loads), _most_of_fast(strategy, loads, repeats)


def _least_of_fast(loads: int) -> int:
    """Return the cells of a bisection that misses every time.

    Of the loads that are left it decides the lower half, which is never the larger one. It ends below the lowest load,
    where no cell is left to run. No search runs fewer cells, because each begins with a bisection.
    """
    return (loads + 1).bit_length() - 1


def _most_of_fast(strategy: Search, loads: int, repeats: int) -> int:
    """Return the greatest number of cells of one ladder.

    With several repeats it is every cell: where only the last repeat of each load misses, the search bisects up to the
    highest load, runs all its repeats, misses, and does the same with the next lower one. With one repeat and no guard
    it is the longest bisection.
    """
    if repeats > 1:
        return loads * repeats
    if strategy.guard == 0:
        return loads.bit_length()
    if strategy.guard > 1:  # so in every case that was tried: all of up to 59 loads, and 400 loads
        return loads
    return _most_of_tree(strategy, loads) if loads <= _LOADS_AT_MOST else loads


@cache
def _most_of_tree(strategy: Search, loads: int) -> int:
    """Return the greatest number of cells with one repeat, from all outcomes that make a difference."""

    @cache
    def further(known: _Known) -> int:
        places = search_step(strategy, Ladder(known)).run
        if not places:
            return 0
        return len(places) + max(further(_all_met(known, places)), further(_missed_from(known, places[0].level)))

    return further(((None,),) * loads)


def _all_met(known: _Known, places: Sequence[Place]) -> _Known:
    levels = [list(level) for level in known]
    for place in places:
        levels[place.level][place.repeat] = "met"
    return tuple(tuple(level) for level in levels)


def _missed_from(known: _Known, level: int) -> _Known:
    # A search looks at nothing above a miss, so the ladder may end with it.
    missed: tuple[ValidOutcome, ...] = tuple("missed" for _ in known[0])
    return (*known[:level], missed)
