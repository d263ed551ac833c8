"""The search for each variant's capacity: exact by climbing, fast by bisection.

Both modes depend only on the outcomes so far. So the search continues correctly after a crash, an invalid cell, or a
cell that somebody ran by hand.
"""

from collections.abc import Iterable, Mapping
from itertools import islice

from plimsoll.strategies.matrix import Ladder, LadderDecision, Position


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
