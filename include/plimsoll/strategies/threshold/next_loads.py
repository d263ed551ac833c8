"""The loads of the next round: at quantiles of what is known, so that each cell halves something.

The first cell runs a little above the median. Then follow quarters, eighths and so on (van der Corput's sequence) of
the upper nine tenths: a load that is met with a chance of 90 % shows its margin better from above, where cells meet and
miss. A choice of the least expected entropy, as in QUEST+, trusts its model more, and takes over a hundred times the
work.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log

from plimsoll.strategies.threshold.answer import answer_of
from plimsoll.strategies.threshold.posterior import Cells, posterior
from plimsoll.strategies.threshold.question import Question

_LOWEST = 0.1
"""The share of the posterior below the lowest loads that may be chosen."""


@dataclass(frozen=True)
class Loads:
    """The loads that may run (ops/s): those of a grid, or multiples of a step."""

    least: int
    most: int
    grid: tuple[int, ...] = ()
    rounded_to: int = 1

    def __post_init__(self) -> None:
        """Raise ValueError for a range without loads."""
        if not 0 < self.least <= self.most or self.rounded_to < 1:
            raise ValueError(f"no range of loads: from {self.least} to {self.most} in steps of {self.rounded_to} ops/s")

    @classmethod
    def of_grid(cls, loads: Sequence[int]) -> "Loads":
        """Return the loads of a grid."""
        if not loads:
            raise ValueError("a grid has a load or more")
        return cls(min(loads), max(loads), tuple(sorted(set(loads))))

    def nearest(self, log_load: float) -> int:
        """Return the load that may run and is nearest on the log scale."""
        if self.grid:
            return min(self.grid, key=lambda load: abs(log(load) - log_load))
        inside = min(max(exp(log_load), self.least), self.most)
        rounded = round(inside / self.rounded_to) * self.rounded_to
        return rounded if self.least <= rounded <= self.most else round(inside)


def next_loads(
    question: Question, cells: Cells, loads: Loads, at_once: int = 1, alike: Sequence[Cells] = ()
) -> tuple[int, ...]:
    """Return the loads (ops/s) of the next round, at most `at_once`; none once the answer is good enough.

    `alike`: the cells of each other variant under the same load. The same question and observations always give the
    same loads, in whatever order the cells ran. A load may come twice: another repeat of it.
    """
    known = posterior(question, cells, loads.least, loads.most, alike)
    if answer_of(question, cells, known, (loads.least, loads.most)).stopped != "goes on":
        return ()
    count = min(at_once, question.at_most - len(cells))
    shares = [_LOWEST + (1 - _LOWEST) * halving(len(cells) + number) for number in range(1, count + 1)]
    return tuple(loads.nearest(known.quantile(share)) for share in shares)


def halving(number: int) -> float:
    """Return the place in (0, 1) of van der Corput's sequence: 1/2, 1/4, 3/4, 1/8, 5/8 … for 1, 2, 3, 4, 5 …"""
    digits = f"{number:b}"
    return int(digits[::-1], 2) / float(1 << len(digits))
