"""What is asked of a threshold, and answered; and what a cell tells of it: its load, its outcome, and by how much."""

from dataclasses import dataclass
from math import isfinite, log, log1p
from typing import Literal

from plimsoll.domain.attempt.result import ValidOutcome, Verdict
from plimsoll.domain.campaign.part import Part
from plimsoll.domain.keys.service_level import LevelVerdict

_LEAST_RATIO = 1e-6
"""What a ratio of 0 counts as, which has no logarithm."""
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


@dataclass(frozen=True, order=True)
class Evidence:
    """What the likelihood uses of one cell. Two cells with the same evidence say the same, each for itself."""

    log_load: float
    outcome: ValidOutcome
    is_censored: bool
    margin: float | None


@dataclass(frozen=True)
class CellObservation:
    """One valid cell. Margins are natural logs of a percentile over its bound: above 0 is missed, 0.1 is 10 % above."""

    load_ops_s: float
    outcome: ValidOutcome
    margin: float | None = None
    """The margin of the worst judged interval; None where no percentile is known."""
    is_censored: bool = False
    """Whether the load ended early, or missed by failed operations or a hair: the margin is then at least `margin`."""
    intervals: tuple[float, ...] = ()
    """The margin of each judged interval, where known."""

    def __post_init__(self) -> None:
        if not (isfinite(self.load_ops_s) and self.load_ops_s > 0):
            raise ValueError(f"a load is above 0 ops/s, not {self.load_ops_s}")
        if not all(map(isfinite, (*self.intervals, self.margin or 0.0))):
            raise ValueError(f"a margin at {self.load_ops_s:g} ops/s is not a finite number")
        if self.is_censored and self.outcome == "met":
            raise ValueError(f"a cell at {self.load_ops_s:g} ops/s can't be met with a margin that is cut short")

    @property
    def evidence(self) -> Evidence:
        """Return what counts. The margin counts only if it agrees with the outcome.

        A cell may miss for another reason than a percentile, such as errors; its margin then says nothing. One of 0
        agrees with both, as ratios are rounded.
        """
        agrees = self.margin is not None and (self.margin >= 0 if self.outcome == "missed" else self.margin <= 0)
        return Evidence(log(self.load_ops_s), self.outcome, self.is_censored, self.margin if agrees else None)


def observation_of(verdict: Verdict, part: Part) -> CellObservation | None:
    """Return what an attempt's verdict tells, by the level that is worst over its bound; None where it is invalid."""
    if verdict.valid_outcome is None:
        return None
    known = [(worst, level.ratios) for level in verdict.levels if (worst := _worst(level)) is not None]
    worst, ratios = max(known, default=(None, ()))
    return CellObservation(
        load_ops_s=verdict.cell.load_ops_s,
        outcome=verdict.valid_outcome,
        margin=None if worst is None else _margin(worst),
        is_censored=verdict.valid_outcome == "missed" and _is_floor(verdict, part, worst),
        intervals=tuple(map(_margin, ratios)),
    )


def _worst(level: LevelVerdict) -> float | None:
    """Return the worst judged interval over the bound; None where it is not known."""
    if level.ratios:
        return max(level.ratios)
    return None if level.worst_ms is None else level.worst_ms / level.service_level.bound_ms


def _margin(ratio: float) -> float:
    return log(max(ratio, _LEAST_RATIO))


def _is_floor(verdict: Verdict, part: Part, worst: float | None) -> bool:
    """Tell whether the worst interval of a miss, over its bound, is the least that it can be.

    So it is where it does not explain the miss: rounded to the bound, or failed operations decided it in a verdict of
    an earlier version, which does not tell. And so it is where fewer intervals were judged than were due.
    """
    unexplained = worst is not None and worst <= 1
    if unexplained or verdict.worst_is_floor or verdict.stopped:
        return True
    # How many an action lasts nobody knows before
    known = ((result, result.service_level) for result in verdict.levels)
    whole = ((result, level) for result, level in known if level.during is None and level.windows == "aligned")
    return any(result.judged < part.timing.judged // level.interval for result, level in whole)
