"""The answer of the observations so far, and whether it is good enough to stop; or else the next cells.

They run at quantiles of what is known, so that each halves something. The first cell runs a little above the median.
Then follow quarters, eighths and so on (van der Corput's sequence) of the upper nine tenths: a load that is met with a
chance of 90 % shows its margin better from above, where cells meet and miss. A choice of the least expected entropy, as
in QUEST+, trusts its model more, and takes over a hundred times the work.
"""

from collections.abc import Callable, Sequence
from functools import partial
from math import exp, log
from statistics import NormalDist

from plimsoll.domain.keys.strategy import FEWEST_CELLS, Threshold
from plimsoll.domain.text.units import four_digits
from plimsoll.strategies.matrix import Ladder, LadderDecision, Position
from plimsoll.strategies.threshold.posterior import Cells, Posterior, posterior
from plimsoll.strategies.threshold.question import Answer, DecidedBy, Question, Stopped

_RESOLUTION = 0.02
"""By how much each end is moved outwards, in natural logs: no model is right to a hundredth of a load. Without it a
cliff, which cells enclose within a thousandth, lay outside the interval in 15 % of synthetic campaigns.
"""
_NARROW = 0.72
"""The distance of the ends of an interval that margins made narrow, over that of a normal posterior: 16 % lie outside
for a confidence of 95 %. The prior's least spread, its bend and the resolution make such an interval wider than the
observations do. `benchmarks.threshold` measures what it really holds.
"""
_WIDE = 1.314
"""The same where the interval did not become narrow, 1 % outside: under much noise, those that did are the lucky ones.
Nothing is asked of its width, so no cell is spent for it.
"""
_LOWEST = 0.1
"""The share of the posterior below the lowest loads that may be chosen."""

_NORMAL = NormalDist()
_Ends = tuple[float, float]


def answer(question: Question, cells: Cells, least: float, most: float, alike: Sequence[Cells] = ()) -> Answer:
    """Return the answer from a variant's valid cells, over a range of loads from `least` to `most` (ops/s).

    `alike`: the valid cells of each other variant under the same load.
    """
    return answer_of(question, cells, posterior(question, cells, least, most, alike), (least, most))


def answer_of(question: Question, cells: Cells, known: Posterior, loads: _Ends) -> Answer:
    """Return the answer that a posterior gives. `loads`: the lowest and the highest load of the range."""
    if not cells:
        return Answer(None, None, None, "nothing", "goes on", 0)
    bounds = log(loads[0]), log(loads[1])
    has_margins = any(cell.evidence.margin is not None for cell in cells)
    decided_by: DecidedBy = "margins" if has_margins and known.by_outcomes < 0.5 else "outcomes"
    nearest = _ends(question, known.quantile, _nearest(question, decided_by))
    stopped = _stopped(question, len(cells), nearest, bounds)
    low, high = interval(question, known.quantile, stopped, decided_by)
    return Answer(
        load_ops_s=_ops(known.quantile(0.5), bounds),
        low_ops_s=_ops(min(low, bounds[1]), bounds),  # above the range: at least its highest load
        high_ops_s=_ops(max(high, bounds[0]), bounds),
        decided_by=decided_by,
        stopped=stopped,
        cells=len(cells),
    )


def interval(question: Question, quantile: Callable[[float], float], stopped: Stopped, decided_by: DecidedBy) -> _Ends:
    """Return both ends of what a search tells, as log loads. `quantile`: the log load below which a share lies.

    It is never narrower than was asked for: cells that agree by chance make it so.
    """
    if question.is_searched and stopped in ("goes on", "most cells"):
        return _ends(question, quantile, _WIDE)
    low, high = _ends(question, quantile, _nearest(question, decided_by))
    is_too_narrow = question.is_searched and stopped == "narrow"
    missing = max(0.0, question.log_width - (high - low)) / 2 if is_too_narrow else 0.0
    return low - missing, high + missing


def _nearest(question: Question, decided_by: DecidedBy) -> float:
    """Return how near the ends may be, by which it is decided whether the search is over."""
    return _NARROW if question.is_searched and decided_by == "margins" else 1.0


def _ends(question: Question, quantile: Callable[[float], float], factor: float) -> _Ends:
    """Return both ends as log loads, that factor further out than a normal posterior has them."""
    outside = _NORMAL.cdf(-factor * _NORMAL.inv_cdf((1 + question.confidence) / 2))
    return quantile(outside) - _RESOLUTION, quantile(1 - outside) + _RESOLUTION


def _stopped(question: Question, cells: int, ends: _Ends, bounds: _Ends) -> Stopped:
    """Tell whether and why the search is over, by the ends of the interval and of the range, as log loads."""
    if cells >= FEWEST_CELLS:
        if ends[0] > bounds[1]:
            return "all met"
        if ends[1] < bounds[0]:
            return "all missed"
        if ends[1] - ends[0] <= question.log_width:
            return "narrow"
    return "most cells" if cells >= question.at_most else "goes on"


def _ops(log_load: float, bounds: _Ends) -> float | None:
    """Return the load in ops/s, to four digits so that it is the same on every machine; None beyond the range."""
    return four_digits(exp(log_load)) if bounds[0] <= log_load <= bounds[1] else None


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
