"""What is asked of a threshold, and what is answered."""

from dataclasses import dataclass
from math import log1p
from typing import Literal

from plimsoll.strategies.matrix import CapacityKind

DecidedBy = Literal["margins", "outcomes", "nothing"]
"""margins: how far cells were from their bounds; outcomes: only whether they met; nothing: no cell was observed."""
Stopped = Literal["narrow", "all met", "all missed", "most cells", "goes on"]
"""narrow: the interval is as narrow as asked; all met, all missed: the load lies beyond the range; most cells: as many
cells were run as may be.
"""


@dataclass(frozen=True)
class Question:
    """The load that a cell meets with this chance, to that relative width, with that confidence."""

    chance: float = 0.9
    within: float = 0.15
    """The largest distance of either end from the middle of the interval on the log scale: 0.15 is 15 %."""
    confidence: float = 0.95
    at_most: int = 30
    """The most cells of one variant."""
    intervals: int | None = None
    """The number of judged intervals for which it is asked; None: as many as the cells have."""
    is_searched: bool = True
    """Whether cells are run until the interval is narrow. Where all were chosen before, none became so by chance."""

    @property
    def log_width(self) -> float:
        """Return the width of the interval that is narrow enough, in natural logs of the load."""
        return 2 * log1p(self.within)


@dataclass(frozen=True)
class Answer:
    """The load (ops/s) with its interval. An end is None where the range of loads does not bound it, the load where it
    lies beyond the range; all three are None while no cell was observed.
    """

    load_ops_s: float | None
    low_ops_s: float | None
    high_ops_s: float | None
    decided_by: DecidedBy
    stopped: Stopped
    cells: int


def capacity_of(
    stopped: Stopped, load_ops_s: float | None, low_ops_s: float | None, highest: int
) -> tuple[CapacityKind, int | None]:
    """Return an answer as a capacity: how firm it is, and the load (ops/s). `highest`: of the range of loads, ops/s.

    Where the load lies above the range, and not for sure, it is at least the lower end of its interval.
    """
    if stopped in ("all met", "all missed"):
        return ("at-least", highest) if stopped == "all met" else ("none", None)
    known = low_ops_s if load_ops_s is None else load_ops_s
    if known is None:
        return "unknown", None
    firm: CapacityKind = "at-least" if load_ops_s is None else "found"
    return ("provisional" if stopped == "goes on" else firm), int(known)
