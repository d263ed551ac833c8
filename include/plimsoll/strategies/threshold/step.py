"""The next cells of a threshold's search on one ladder: at quantiles of what is known, so that each halves something.

The first cell runs a little above the median. Then follow quarters, eighths and so on (van der Corput's sequence) of
the upper nine tenths: a load that is met with a chance of 90 % shows its margin better from above, where cells meet and
miss. A choice of the least expected entropy, as in QUEST+, trusts its model more, and takes over a hundred times the
work.
"""

from collections.abc import Sequence
from functools import partial
from math import log

from plimsoll.domain.keys.strategy import Threshold
from plimsoll.strategies.matrix import Ladder, LadderDecision, Position
from plimsoll.strategies.threshold.answer import answer, answer_of
from plimsoll.strategies.threshold.posterior import Cells, posterior
from plimsoll.strategies.threshold.question import Answer, Question

_LOWEST = 0.1
"""The share of the posterior below the lowest loads that may be chosen."""


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
    wanted = next_loads(question, ladder.cells, ladder.loads, strategy.at_once, ladder.alike)
    free = [*ladder.unknown(range(len(ladder)))]
    run: list[Position] = []
    for load in wanted:
        left = [position for position in free if position not in run]
        run += sorted(left, key=partial(_distance, ladder, load))[:1]
    if run or not ladder.cells:
        return LadderDecision(tuple(sorted(run)))
    nearest_to = ladder_answer(strategy, ladder).load_ops_s or max(ladder.loads)
    levels = enumerate(ladder.levels)
    ran = (Position(level, repeat) for level, known in levels for repeat, outcome in enumerate(known) if outcome)
    decider = min(ran, key=partial(_distance, ladder, nearest_to))
    return LadderDecision((), dict.fromkeys(free, decider))


def next_loads(
    question: Question, cells: Cells, loads: Sequence[int], at_once: int = 1, alike: Sequence[Cells] = ()
) -> tuple[int, ...]:
    """Return those of the loads (ops/s, rising) that run next, at most `at_once`; none once the answer is good enough.

    `alike`: the cells of each other variant under the same load. The same question and observations always give the
    same loads, in whatever order the cells ran. A load may come twice: another repeat of it.
    """
    known = posterior(question, cells, loads[0], loads[-1], alike)
    if answer_of(question, cells, known, (loads[0], loads[-1])).stopped != "goes on":
        return ()
    count = min(at_once, question.at_most - len(cells))
    shares = [_LOWEST + (1 - _LOWEST) * halving(len(cells) + number) for number in range(1, count + 1)]
    log_loads = [known.quantile(share) for share in shares]
    return tuple(min(loads, key=lambda load: abs(log(load) - wanted)) for wanted in log_loads)


def halving(number: int) -> float:
    """Return the place in (0, 1) of van der Corput's sequence: 1/2, 1/4, 3/4, 1/8, 5/8 … for 1, 2, 3, 4, 5 …"""
    digits = f"{number:b}"
    return int(digits[::-1], 2) / float(1 << len(digits))


def ladder_answer(strategy: Threshold, ladder: Ladder) -> Answer:
    question = question_of(strategy, ladder.intervals)
    return answer(question, ladder.cells, ladder.loads[0], ladder.loads[-1], ladder.alike)


def _distance(ladder: Ladder, load_ops_s: float, position: Position) -> tuple[float, Position]:
    return abs(log(ladder.loads[position.level]) - log(load_ops_s)), position
