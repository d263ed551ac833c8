"""The ramp: each repeat of a variant goes up through the loads, independently of other repeats, until it misses.

In a ramp a cell is met where its rate was achieved and every service level was kept (`must_reach_rate` of its verdict).
The lowest load that any repeat missed is the same as in a full grid with the same outcomes. So is the capacity: the
highest load that all repeats sustained.
"""

from collections.abc import Iterator

from plimsoll.strategies.matrix import Ladder, LadderDecision, Position


def ramp_step(ladder: Ladder) -> LadderDecision:
    """Choose for each repeat the lowest load without an outcome below its first miss. Loads above a miss are
    unnecessary.
    """
    repeats = range(len(ladder.levels[0])) if len(ladder) else range(0)
    run = (next(_unknown(ladder, repeat, range(_top(ladder, repeat))), None) for repeat in repeats)
    spared = {
        position: Position(top, repeat)
        for repeat in repeats
        if (top := _top(ladder, repeat)) < len(ladder)
        for position in _unknown(ladder, repeat, range(top, len(ladder)))
    }
    return LadderDecision(tuple(sorted(position for position in run if position)), spared)


def _top(ladder: Ladder, repeat: int) -> int:
    """Return the index of the lowest load that the repeat missed; one above the highest load where it missed none."""
    return next((level for level, known in enumerate(ladder.levels) if known[repeat] == "missed"), len(ladder))


def _unknown(ladder: Ladder, repeat: int, levels: range) -> Iterator[Position]:
    return (Position(level, repeat) for level in levels if ladder.levels[level][repeat] is None)
