"""The input and the result of judging a run."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from plimsoll.analysis.attempt.intervals import IntervalTable
from plimsoll.analysis.attempt.unanswered import ERROR_LIMIT, Unanswered
from plimsoll.analysis.logs.formats.reading import WholeRun
from plimsoll.analysis.logs.formats.selection import LeftOut
from plimsoll.analysis.logs.hdr.histograms import Ints, Unit
from plimsoll.domain.keys.service_level import LevelVerdict, Percentiles
from plimsoll.domain.text.errors import LogError
from plimsoll.domain.text.wording import plural

RATE_TOLERANCE = 0.01
"""A rate at most this share below the attempted one counts as achieved."""


@dataclass(frozen=True)
class MissedInterval:
    """An interval in which the run missed, s from its start.

    `late_ms`: how much time was lost in it: the response time at the service level's percentile, the whole interval
    where nothing was answered, or how far the interval's operations fell behind. `stall_ms`: the shortest
    stall that makes such an interval miss by itself. `is_silent`: whether nothing was answered in it.
    """

    start_s: float
    end_s: float
    late_ms: float
    stall_ms: float
    is_silent: bool = False


@dataclass(frozen=True)
class JudgedInterval:
    """A judged interval of one service level, s from the run's start.

    `value_ms` is None where nothing was answered, as `is_stall` tells, or where percentiles over time do not tell it;
    `met` is None where these leave it open. `is_floor`: `value_ms` is the least that it can be, as the percentile is a
    failed operation. `total`: its operations, failed ones included; `below`: how many are certainly below the bound.
    """

    start_s: float
    end_s: float
    value_ms: float | None
    met: bool | None
    is_floor: bool = False
    is_stall: bool = False
    total: int = 0
    below: int = 0


@dataclass(frozen=True)
class Run:
    """The facts about a timed run besides its logs. None: not known, so not checked.

    `duration` includes the warm-up. `started_at`, the start of the timed run, and `operations`, the number of its
    answered operations with warm-up, are the load generator's own report. `due`: for how long operations were due
    without a pause, from the timed run's start; `aborted`: the load generator gave up before that, so that nothing was
    answered after its logs' end; `stopped`: a stop rule ended it, so that it has missed. `rate_tolerance`: share by
    which the rate may differ from the attempted one.
    """

    warmup: timedelta
    duration: timedelta | None = None
    attempted_ops_s: float | None = None
    started_at: datetime | None = None
    operations: int | None = None
    due: timedelta | None = None
    aborted: bool = False
    stopped: bool = False
    rate_tolerance: float = RATE_TOLERANCE

    @property
    def due_s(self) -> float | None:
        return None if self.due is None else self.due.total_seconds()


@dataclass(frozen=True)
class Judgement:
    """The result of judging a run.

    `reasons` say why the measurement is unsound; without any it is valid as far as its logs tell. `notes` are remarks
    that change nothing.

    `levels` are in the order of the service levels, and empty where no intervals could be formed. `maxima`,
    `operations`, `achieved_ops_s`, `stalls_s` and the table belong to the first service level's judged intervals.
    `rate_achieved` is None where no rate was asked for. `stalls_s` are the starts of intervals in which nothing was
    answered though operations were under way; such intervals miss. `missed`: the missed intervals of all service
    levels. `by_level`: the judged aligned intervals of each service level.

    `errors` are the failed operations of the whole run by kind, None where the files don't tell; `judged_errors` those
    of the judged time, None where not all of their times are known; `failed_share` their share of the judged time's
    operations, or of the whole run's where times are missing. `counts` are the merged counts of the judged intervals by
    operation, in `unit`; empty where the files hold no histograms.

    `format` is the title of the `Reading`. All else is as the `Reading` has it, and empty where the files could not be
    read.
    """

    intervals: IntervalTable = field(default_factory=IntervalTable)
    levels: tuple[LevelVerdict, ...] = ()
    maxima: Percentiles | None = None
    maxima_by_operation: Mapping[str, Percentiles] = field(default_factory=dict)
    operations: int = 0
    achieved_ops_s: float | None = None
    rate_achieved: bool | None = None
    stalls_s: tuple[float, ...] = ()
    missed: tuple[MissedInterval, ...] = ()
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    format: str = ""
    whole_run: tuple[WholeRun, ...] = ()
    errors: Mapping[str, int] | None = None
    judged_errors: Mapping[str, int] | None = None
    failed_share: float = 0.0
    own_lag_p99_ms: float | None = None
    counts: Mapping[str, Ints] = field(default_factory=dict, compare=False, repr=False)
    unit: Unit = "us"
    unit_why: str = ""
    left_out: tuple[LeftOut, ...] = ()
    started_at: datetime | None = None
    by_level: tuple[tuple[JudgedInterval, ...], ...] = field(default=(), compare=False, repr=False)
    unanswered: Unanswered = field(default_factory=Unanswered, compare=False, repr=False)

    @property
    def unit_taken(self) -> str:
        """Return the unit that the files' values are read in, and why; empty where the files could not be read."""
        return f"{self.unit}: {self.unit_why}" if self.unit_why else ""

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return the notes, and the records that were left out without their counts, so that many cells agree."""
        measures = sorted({left.measure for left in self.left_out})
        return (*self.notes, f"left out: {' and '.join(measures)}") if measures else self.notes

    @property
    def failures_remark(self) -> str:
        """Say how many operations failed according to the files, and what that means; empty where none did."""
        if self.errors is None:
            return "the files do not tell how many operations failed"
        if not (failed := sum(self.errors.values())):
            return ""
        if not self.levels:
            return f"{plural(failed, 'operation')} of the whole run failed"
        counted = any(level.service_level.counts_failures for level in self.levels)
        how = "each counts as slower than the bound" if counted else "FAILED OPERATIONS ARE APART, and not judged"
        return f"{plural(failed, 'operation')} of the whole run failed: {how}"

    @property
    def valid(self) -> bool:
        return not self.reasons

    @property
    def met(self) -> bool | None:
        """Tell whether every service level was met, and few operations failed; None for an invalid measurement."""
        return all(level.met for level in self.levels) and not self.too_many_failed if self.valid else None

    @property
    def too_many_failed(self) -> bool:
        """Tell whether so many operations failed that this alone is a miss, unless failures are kept apart."""
        return self.failed_share >= ERROR_LIMIT and any(level.service_level.counts_failures for level in self.levels)


def unreadable(error: LogError) -> Judgement:
    mend = f" ({error.mend})" if error.mend else ""
    return Judgement(reasons=(f"{error.headline}{mend}",))


def rate_fault(judgement: Judgement, attempted: float, tolerance: float) -> Iterator[str]:
    """Yield the reason why a sound judgement is not about the attempted rate, ops/s, if there is one.

    A load that was missed may have fallen short: what was answered was too slow already. It may also have been
    exceeded by what came due in warm-up and was answered late: over the whole run no more was answered than was due.
    """
    achieved = judgement.achieved_ops_s
    if achieved is None or not judgement.valid:
        return
    share = achieved / attempted
    if 1 - tolerance <= share <= 1 + tolerance:
        return
    # From the first interval of warm-up to the last that is judged
    rows = (*judgement.intervals.select("warm-up"), *judgement.intervals.select("judged"))
    seconds, answered = sum(row.duration_s for row in rows), sum(row.count for row in rows)
    whole_ops_s = answered / seconds if seconds else None
    if not judgement.met and (share < 1 or not answered_more(whole_ops_s, attempted, tolerance)):
        return
    yield (
        f"{achieved:,.6g} ops/s were answered where {attempted:,.6g} ops/s were due ({share:.1%}, allowed: "
        f"{1 - tolerance:.1%} to {1 + tolerance:.1%}), so the outcome is not about that load: give the files of that "
        "load, or name the load that was run, or let what was achieved be judged (`rate: achieved`)"
    )


def answered_more(achieved_ops_s: float | None, attempted_ops_s: float, tolerance: float = RATE_TOLERANCE) -> bool:
    """Tell whether more was answered than the attempted rate allows for, beyond the tolerance.

    False where the achieved rate is not known.
    """
    return achieved_ops_s is not None and achieved_ops_s / attempted_ops_s > 1 + tolerance
