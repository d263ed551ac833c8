"""The ramp: each repeat of a variant goes up through the loads, independently of other repeats, until it misses.

In a ramp a cell is met where its rate was achieved and every service level was kept (`must_reach_rate` of its verdict).
The lowest load that any repeat missed is the same as in a full grid with the same outcomes. So is the capacity: the
highest load that all repeats sustained.
"""

from plimsoll.strategies.matrix import Ladder, LadderDecision, Position


def ramp_step(ladder: Ladder) -> LadderDecision:
    """Choose for each repeat the lowest load without an outcome below its first miss. Loads above a miss are spared."""
    run, spared = list[Position](), dict[Position, Position]()
    for repeat, outcomes in enumerate(zip(*ladder.levels, strict=True)):
        top = outcomes.index("missed") if "missed" in outcomes else len(outcomes)
        unknown = [Position(level, repeat) for level, outcome in enumerate(outcomes) if outcome is None]
        run += [position for position in unknown if position.level < top][:1]
        spared |= {position: Position(top, repeat) for position in unknown if position.level > top}
    return LadderDecision(tuple(sorted(run)), spared)
