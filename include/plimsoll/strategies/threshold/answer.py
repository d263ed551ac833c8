"""The answer of the observations so far, and whether it is good enough to stop."""

from collections.abc import Sequence
from math import exp, log

from plimsoll.domain.keys.strategy import FEWEST_CELLS
from plimsoll.domain.text.units import four_digits
from plimsoll.strategies.threshold.posterior import Cells, Posterior, posterior
from plimsoll.strategies.threshold.question import Answer, DecidedBy, Question, Stopped

_RESOLUTION = 0.02
"""By how much each end is moved outwards, in natural logs: no model is right to a hundredth of a load. Without it a
cliff, which cells enclose within a thousandth, lay outside the interval in 15 % of synthetic campaigns.
"""
_SPARE = 2.8
"""How much more of the posterior than is promised lies outside an interval that margins made narrow: 14 % for a
confidence of 95 %. The prior's least spread, its bend and the resolution make such an interval wider than the
observations do. `benchmarks.threshold` measures what it really holds.
"""

_WIDER = 0.2
"""How much of what is promised to lie outside does so where the interval did not become narrow: under much noise, those
that did are the lucky ones. Nothing is asked of its width, so no cell is spent for it.
"""

_Ends = tuple[float, float]


def answer(question: Question, cells: Cells, least: float, most: float, alike: Sequence[Cells] = ()) -> Answer:
    """Return the answer from a variant's valid cells, over a range of loads from `least` to `most` (ops/s).

    `alike`: the valid cells of each other variant under the same load.
    """
    return answer_of(question, cells, posterior(question, cells, least, most, alike), (least, most))


def answer_of(question: Question, cells: Cells, known: Posterior, loads: _Ends) -> Answer:
    """Return the answer that a posterior gives. `loads`: the lowest and the highest load of the range."""
    bounds = log(loads[0]), log(loads[1])
    decided_by = _decided_by(cells, known)
    spare = _ends(known, (1 - question.confidence) * (_SPARE if decided_by == "margins" else 1))
    stopped = _stopped(question, len(cells), spare, bounds)
    low, high = spare
    if stopped == "narrow":
        low, high = _as_wide_as(question.log_width, spare)
    elif stopped in ("goes on", "most cells"):
        low, high = _ends(known, (1 - question.confidence) * _WIDER)
    return Answer(
        load_ops_s=_ops(known.quantile(0.5), bounds),
        low_ops_s=_ops(min(low, bounds[1]), bounds),  # above the range: at least its highest load
        high_ops_s=_ops(max(high, bounds[0]), bounds),
        decided_by=decided_by,
        stopped=stopped,
        cells=len(cells),
    )


def _ends(known: Posterior, outside: float) -> _Ends:
    """Return both ends of the interval as log loads. `outside`: the share of the posterior beyond them."""
    return known.quantile(outside / 2) - _RESOLUTION, known.quantile(1 - outside / 2) + _RESOLUTION


def _as_wide_as(width: float, ends: _Ends) -> _Ends:
    """Return an interval no narrower than that: cells that agree by chance make it so, and nobody asked for it."""
    missing = max(0.0, width - (ends[1] - ends[0])) / 2
    return ends[0] - missing, ends[1] + missing


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


def _decided_by(cells: Cells, known: Posterior) -> DecidedBy:
    if not cells:
        return "nothing"
    has_margins = any(cell.evidence.margin is not None for cell in cells)
    return "margins" if has_margins and known.by_outcomes < 0.5 else "outcomes"


def _ops(log_load: float, bounds: _Ends) -> float | None:
    """Return the load in ops/s, to four digits so that it is the same on every machine; None beyond the range."""
    return four_digits(exp(log_load)) if bounds[0] <= log_load <= bounds[1] else None
