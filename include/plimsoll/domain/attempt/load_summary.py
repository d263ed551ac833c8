"""A load generator's report of its own run, in the same form for every generator. Quality checks read nothing else.

The start of a load: how clocks of hosts and controller differ, the common start of several load hosts, and the
background work of the database, left by populating, whose end it waits for.
"""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Annotated

from pydantic import AwareDatetime, Field

from plimsoll.domain.text.base import Model

CPU_LIMIT = 0.9
"""Share of its host's processors beyond which a load generator counts as at its own limit."""


class BrokenRule(Model):
    """The rule of `stop_when` that ended a run, and how it was broken."""

    seconds: Annotated[float, Field(description="When it was broken, s from the run's start")]
    rule: Annotated[int, Field(description="Place of the rule in `stop_when`, from 0")]
    why: Annotated[str, Field(description="How it was broken, in words")]
    host: Annotated[str | None, Field(description="The load host whose share broke it; null: this one")] = None
    silent: Annotated[bool, Field(description="Nothing was answered in all of the rule's time")] = False

    @property
    def words(self) -> str:
        return f"{self.host}: {self.why}" if self.host else self.why


def first_broken(by_host: Mapping[str, BrokenRule | None]) -> BrokenRule | None:
    """Return the rule that was broken first, with the load host whose share broke it; None where none was.

    Hosts that were told of it ended later, though a program that began late, or stood still, may count fewer seconds.
    """
    broken = [(host, rule) for host, rule in by_host.items() if rule is not None]
    if not broken:
        return None
    host, first = min(broken, key=lambda one: (one[1].host is not None, one[1].seconds))
    return first.model_copy(update={"host": first.host or host})


class LoadSummary(Model):
    """The figures of one run. Unless said otherwise they cover the judged time: the timed run less its warm-up."""

    complete: Annotated[bool, Field(description="The whole schedule was worked through")]
    reason: Annotated[str, Field(description="Why the run is not complete; empty when it is")] = ""
    generator: Annotated[str, Field(description="Name and version of the generator")] = ""
    started_at: Annotated[AwareDatetime | None, Field(description="First intended start of the timed run")] = None
    duration_s: Annotated[float, Field(ge=0, description="Timed run as far as it went, warm-up included, s")] = 0.0
    warmup_s: Annotated[float, Field(ge=0, description="Warm-up as far as it went, s")] = 0.0
    attempted_ops_s: Annotated[float | None, Field(description="Rate asked for, ops/s")] = None
    achieved_ops_s: Annotated[float | None, Field(description="Operations that were answered, ops/s")] = None
    rows_s: Annotated[
        float | None, Field(description="Rows that answers had, or that were written, rows/s; null: not reported")
    ] = None
    answered: Annotated[
        int | None, Field(description="Answered operations of the whole timed run, warm-up included")
    ] = None
    operations: Annotated[dict[str, int], Field(description="Answered operations by kind, such as `reads`")] = {}
    shares: Annotated[
        dict[str, float], Field(description="Requested share of each operation; empty: not reported")
    ] = {}
    errors: Annotated[dict[str, int], Field(description="Failed operations by kind of error; kinds of 0 left out")] = {}
    cpu_cores: Annotated[float | None, Field(description="CPU time of the generator over wall time: cores busy")] = None
    schedule_lag_p99_ms: Annotated[
        float | None,
        Field(description="From when an operation was due and could be sent to its send, 99th percentile, ms"),
    ] = None
    schedule_lag_max_ms: float | None = None
    hiccup_max_ms: Annotated[
        float | None, Field(description="Longest time for which the generator's host or JVM stalled, ms")
    ] = None
    in_flight_max: Annotated[int | None, Field(description="Most operations that were in flight at once")] = None
    backlog_max: Annotated[
        int | None, Field(description="Most operations that were due at once and waited for others to be answered")
    ] = None

    decided_s: Annotated[
        float | None,
        Field(description="When the run was ended because an interval had missed, s from its start; null: it was not"),
    ] = None
    gave_up: Annotated[
        str, Field(description="How the program ended before its time, so that what was due then has no answer")
    ] = ""
    stopped: Annotated[BrokenRule | None, Field(description="The rule that ended the run; null: none did")] = None
    compactions_left: Annotated[
        int | None,
        Field(description="That populating left, and that were not done when the generator stopped waiting for them"),
    ] = None

    failures: Annotated[
        tuple[str, ...], Field(description="The first message of each kind of failure `other`, with its statement")
    ] = ()
    remarks: Annotated[tuple[str, ...], Field(description="What the database warned of, or did not tell")] = ()
    from_start: Annotated[
        "LoadSummary | None",
        Field(description="The same of the whole run, where a rule ended it after its warm-up; null otherwise"),
    ] = None

    def judged_after(self, warmup: timedelta) -> "LoadSummary":
        """Return the summary of a run that is judged after so long: of the whole run where none is left out."""
        return self if warmup else self.from_start or self

    @property
    def ended_s(self) -> float | None:
        """Tell when the run ended before its time, though it is complete, s from its start; None where it did not."""
        return self.stopped.seconds if self.stopped else self.decided_s

    @property
    def failed(self) -> int:
        return sum(self.errors.values())

    @property
    def total(self) -> int:
        """Return the number of operations, answered or failed."""
        return sum(self.operations.values()) + self.failed

    @property
    def has_several_rows(self) -> bool:
        """Tell whether operations read or wrote more rows than there were operations, as batches and scans do."""
        return bool(self.rows_s and self.achieved_ops_s and self.rows_s > 1.01 * self.achieved_ops_s)


class LeftoverWork(Model):
    """The outcome of waiting for that background work."""

    settled: Annotated[bool, Field(description="Nothing was left to do when the timed run began")]
    left: Annotated[dict[str, int], Field(description="Compactions that still ran or waited, by node")] = {}
    waited_s: float = 0.0
    problem: Annotated[str, Field(description="Why the nodes could not tell; empty where they did")] = ""


class ClockReading(Model):
    """One comparison of a host's clock with the controller's."""

    offset_ms: Annotated[float, Field(description="Host's clock less the controller's, ms")]
    error_ms: Annotated[float, Field(ge=0, description="The offset is wrong by at most so much, ms")] = 0.0


class LoadStart(Model):
    """The common start of an attempt's load hosts, and how their clocks stood at that time."""

    start: Annotated[AwareDatetime, Field(description="Of the timed run, by the first load host's clock")]
    clocks: Annotated[Mapping[str, ClockReading], Field(description="By load host, the first one first")]
    leftover_work: Annotated[
        LeftoverWork | None,
        Field(description="What populating left to do, where the nodes themselves were asked for it"),
    ] = None
    data_bytes: Annotated[
        Mapping[str, int], Field(description="Where a size was asked for: what the rows took on disk, by node")
    ] = {}
    clocks_after: Annotated[Mapping[str, ClockReading], Field(description="The same once the load was over")] = {}

    @property
    def ahead_ms(self) -> dict[str, float]:
        """Tell how far each load host's clock is ahead of the first load host's, ms."""
        return ahead_of_first(self.clocks)

    @property
    def error_ms(self) -> float:
        """Return the greatest difference between two load hosts' starts, ms, given errors of clock readings."""
        first, *others = self.clocks.values()
        return max((first.error_ms + other.error_ms for other in others), default=0.0)

    @property
    def drift_ms(self) -> float | None:
        """Tell how far any clock moved against the first load host's while the load ran, ms.

        None where the clocks were not compared again after the load.
        """
        if set(self.clocks_after) != set(self.clocks):
            return None
        before, after = ahead_of_first(self.clocks), ahead_of_first(self.clocks_after)
        return max(abs(after[host] - before[host]) for host in before)


CLOCK_SHARE = 0.01
"""The share of the shortest judged interval within which several load hosts must start together."""


def most_apart_ms(intervals: Iterable[timedelta]) -> float:
    """Tell how far apart the starts of two load hosts may be, ms. With intervals of 10 s it is 100 ms."""
    return CLOCK_SHARE * min(intervals).total_seconds() * 1000


def ahead_of_first(clocks: Mapping[str, ClockReading]) -> dict[str, float]:
    """Tell how far each clock is ahead of the first one in the mapping, ms."""
    first = next(iter(clocks.values()))
    return {host: reading.offset_ms - first.offset_ms for host, reading in clocks.items()}
