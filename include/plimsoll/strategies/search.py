"""The search for each variant's capacity: exact by climbing, fast by bisection.

Both are functions of what is known and of nothing else: after a crash, an invalid cell or a cell that somebody ran by
hand the search goes on from there.
"""

from collections.abc import Iterable, Mapping

from plimsoll.domain.strategy import Search
from plimsoll.strategies.ladder import Ladder, Place, Step


def search_step(strategy: Search, ladder: Ladder) -> Step:
    """The ladder's next cells, in the strategy's mode."""
    if strategy.mode == "exact":
        return exact_step(ladder, strategy.repeats_at_once)
    return fast_step(ladder, strategy.guard, strategy.repeats_at_once)


def exact_step(ladder: Ladder, at_once: int) -> Step:
    """Climb: all repeats of the lowest load that is not decided; the first miss ends it.

    Given the same outcomes the capacity is the full grid's: that asks for a load and for all lower ones, so nothing
    above the first miss can change it.
    """
    miss = ladder.lowest_miss()
    top = miss.level if miss else len(ladder)
    unknown = (place for level in range(top) for place in ladder.all_with(level, None))
    return Step(_of_one_level(unknown, at_once), _from(ladder, miss))


def fast_step(ladder: Ladder, guard: int, at_once: int) -> Step:
    """Bisect with one repeat a load, then run all repeats at the candidate and at the `guard` loads below it.

    The candidate is the load below the lowest miss. Loads further down are taken for met. So the answer is never lower
    than the full grid's, and is another one with a probability of at most the sum of (1 - p) over the cells below that
    did not run, p being the probability that a cell is met.
    """
    miss = ladder.lowest_miss()
    top = miss.level if miss else len(ladder)
    above = _from(ladder, miss)
    bottom = max((level for level in range(top) if ladder.first(level, "met")), default=-1)
    if top - bottom > 1:
        return Step((Place((bottom + top) // 2, 0),), above)
    guarded = range(bottom, max(bottom - guard, 0) - 1, -1)
    unknown = [place for level in guarded for place in ladder.all_with(level, None)]
    if unknown:
        return Step(_of_one_level(unknown, at_once), above)
    return Step((), {**above, **_below(ladder, bottom)})


def _of_one_level(places: Iterable[Place], at_most: int) -> tuple[Place, ...]:
    found = list(places)[:at_most]
    return tuple(place for place in found if place.level == found[0].level)


def _from(ladder: Ladder, miss: Place | None) -> Mapping[Place, Place]:
    """What a miss makes needless: what has no outcome at its load and at all higher ones."""
    if miss is None:
        return {}
    return {place: miss for level in range(miss.level, len(ladder)) for place in ladder.all_with(level, None)}


def _below(ladder: Ladder, capacity: int) -> Mapping[Place, Place]:
    """What the load that was found spares: what has no outcome at all lower ones."""
    met = ladder.first(capacity, "met") if capacity >= 0 else None
    if met is None:
        return {}
    return {place: met for level in range(capacity) for place in ladder.all_with(level, None)}
