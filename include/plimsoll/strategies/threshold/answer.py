"""The answer of the observations so far, and whether it is good enough to stop."""

from collections.abc import Callable, Sequence
from math import exp, log
from statistics import NormalDist

from plimsoll.domain.keys.strategy import FEWEST_CELLS
from plimsoll.domain.text.units import four_digits
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
