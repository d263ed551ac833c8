"""What a cell tells of the threshold: its load, its outcome, and by how much it met or missed."""

from dataclasses import dataclass
from math import isfinite, log

from plimsoll.domain.result import ValidOutcome


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
    """Whether the load ended early or was hardly answered: the margin is then at least `margin`."""
    intervals: tuple[float, ...] = ()
    """The margin of each judged interval, where known."""

    def __post_init__(self) -> None:
        """Raise ValueError for values that can't be true of one cell."""
        if not (isfinite(self.load_ops_s) and self.load_ops_s > 0):
            raise ValueError(f"a load is above 0 ops/s, not {self.load_ops_s}")
        if not all(map(isfinite, (*self.intervals, self.margin or 0.0))):
            raise ValueError(f"a margin at {self.load_ops_s:g} ops/s is not a finite number")
        if self.is_censored and self.outcome == "met":
            raise ValueError(f"a cell at {self.load_ops_s:g} ops/s can't be met with a margin that is cut short")

    @property
    def evidence(self) -> Evidence:
        """Return what counts. The margin counts only if it agrees with the outcome.

        A cell may miss for another reason than a percentile, such as errors; its margin then says nothing.
        """
        agrees = self.margin is not None and (self.margin > 0) == (self.outcome == "missed")
        return Evidence(log(self.load_ops_s), self.outcome, self.is_censored, self.margin if agrees else None)
