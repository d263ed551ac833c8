"""The next cells of a threshold's search on one ladder."""

from collections.abc import Iterator
from functools import partial
from math import log

from plimsoll.domain.keys.strategy import Threshold
from plimsoll.strategies.matrix import Ladder, LadderDecision, Position
from plimsoll.strategies.threshold.answer import answer
from plimsoll.strategies.threshold.next_loads import Loads, next_loads
from plimsoll.strategies.threshold.question import Answer, Question


def question_of(strategy: Threshold, intervals: int | None) -> Question:
    """Return the question that a strategy asks. `intervals`: how many it is asked for; None: as a cell has."""
    return Question(
        chance=strategy.chance / 100,
        within=strategy.within / 100,
        confidence=strategy.confidence / 100,
        at_most=strategy.at_most,
        intervals=intervals,
    )


def threshold_step(strategy: Threshold, ladder: Ladder) -> LadderDecision:
    """Choose the next cells: for each load that is wanted the nearest one that still has a repeat without an outcome.

    Once the answer is good enough, or as many cells ran as may, no other cell is needed. The cell that stands for this
    decision is the one whose load is nearest to the answer.
    """
    question = question_of(strategy, ladder.intervals)
    wanted = next_loads(question, ladder.cells, Loads.of_grid(ladder.loads), strategy.at_once, ladder.alike)
    free = [position for level in range(len(ladder)) for position in ladder.all_with(level, None)]
    run: list[Position] = []
    for load in wanted:
        left = [position for position in free if position not in run]
        run += sorted(left, key=partial(_distance, ladder, load))[:1]
    if run or not ladder.cells:
        return LadderDecision(tuple(sorted(run)))
    nearest_to = ladder_answer(strategy, ladder).load_ops_s or max(ladder.loads)
    decider = min(_run(ladder), key=partial(_distance, ladder, nearest_to))
    return LadderDecision((), dict.fromkeys(free, decider))


def ladder_answer(strategy: Threshold, ladder: Ladder) -> Answer:
    """Return the answer from the cells of a ladder."""
    question = question_of(strategy, ladder.intervals)
    return answer(question, ladder.cells, min(ladder.loads), max(ladder.loads), ladder.alike)


def _distance(ladder: Ladder, load_ops_s: float, position: Position) -> tuple[float, Position]:
    return abs(log(ladder.loads[position.level]) - log(load_ops_s)), position


def _run(ladder: Ladder) -> Iterator[Position]:
    """Yield the positions of all cells with an outcome."""
    levels = enumerate(ladder.levels)
    return (Position(level, repeat) for level, known in levels for repeat, outcome in enumerate(known) if outcome)
