"""Decide who caused a miss: a database that can't keep up (a result) or a load generator that can't (no result).

A load generator with a limit of queries in flight falls behind its schedule for one of two reasons. It is *blocked*: as
many queries are in flight as the limit allows, so it waits for the database. Or it is *late*: there was room for
another query, but the generator was slow to send it. Its schedule lag counts only the second kind. The same lateness is
part of every response time: `analysis.disturbance` decides whether it explains a miss.
"""

import re

from plimsoll.analysis.attempt.judgement import RATE_TOLERANCE
from plimsoll.analysis.attempt.unanswered import ERROR_LIMIT
from plimsoll.domain.attempt.load_summary import CPU_LIMIT, LoadSummary
from plimsoll.domain.campaign.part import Part
from plimsoll.domain.keys.loads import rate_tolerance

NO_CAUSE = "no cause that can be named"
"""The beginning of the answer where nothing that is known held the load generator back."""

_OWN_SHARE = 0.1
"""Share of the time lost on the schedule from which on the generator's own lateness counts as its cause."""

_NEVER_SENT = frozenset({"overflow", "unfinished"})
_FOREIGN = re.compile(
    r"\b(SyntaxError|InvalidQueryException|UnauthorizedException|CodecNotFoundException|AccessDeniedException"
    r"|TableNotFoundException|NoSuchColumnFamilyException|UnknownHostException|BindException|OutOfMemoryError)\b"
    r"|Too many open files|Cannot assign requested address"
)
"""What shows that a failure is not the database's doing but the statement's, or that of the generator's machine."""


def error_share(summary: LoadSummary) -> float:
    """Return the share of failed operations among all operations of the judged time."""
    return _share(summary.failed, summary)


def foreign_error_share(summary: LoadSummary) -> float:
    """Return the share of operations of which is shown that they failed for a reason other than the database.

    By default a failure is the database's doing, whoever counted it. Only failures of kind `other` come with messages,
    so these show it, if all of them do.
    """
    shown = bool(summary.failures) and all(map(_FOREIGN.search, summary.failures))
    return _share(summary.errors.get("other", 0), summary) if shown else 0.0


def held_back_by(  # noqa: PLR0913  # what is known of a load
    part: Part,
    summary: LoadSummary,
    *,
    attempted: float,
    achieved_share: float,
    cpu_share: float | None,
    was_slow: bool,
) -> str:
    """Tell who kept the load generator from sending the requested operations.

    `attempted`: operations that were due in the judged time; `achieved_share`: answered operations over attempted ones;
    `cpu_share`: the generator's CPU over its host's, None if not known; `was_slow`: answers missed the service level.
    The answer is `nobody`, `database`, `load generator`, or begins with NO_CAUSE: operations are missing though the
    generator was neither late nor blocked, as far as is known.
    """
    sent, never_sent = _sent(summary, achieved_share * attempted) / attempted, _share(_never_sent(summary), summary)
    if sent >= 1 - tolerance_of(part, attempted) and never_sent < ERROR_LIMIT:
        return "nobody"
    lost_ms = max(1 - sent, never_sent) * part.timing.judged.total_seconds() * 1000
    # It was late if it fell behind by as much as its schedule lost in the end, while it was not blocked
    lag_ms = summary.schedule_lag_p99_ms
    was_late = lag_ms is not None and lag_ms >= _OWN_SHARE * lost_ms
    if was_late or (cpu_share is not None and cpu_share >= CPU_LIMIT):
        return "load generator"
    # Threads reach their own caps at different times, so the sum rarely stands at the very cap
    most = 0.9 * part.load_generator.most_in_flight
    was_blocked = summary.in_flight_max is not None and summary.in_flight_max >= most
    # What a stop rule cut off has no answer, whether or not the generator could send more. Answers that were too slow
    # already at a lower rate need no explanation of the rate.
    if summary.stopped or was_slow or was_blocked:
        return "database"
    return _no_cause(summary, cpu_share)


def _no_cause(summary: LoadSummary, cpu_share: float | None) -> str:
    """Say what was looked at, what was not measured, and what to try."""
    figures = {
        "its processors": cpu_share,
        "its lateness": summary.schedule_lag_p99_ms,
        "the number of its operations in flight": summary.in_flight_max,
    }
    below = [name for name, figure in figures.items() if figure is not None]
    unknown = [name for name, figure in figures.items() if figure is None]
    known = [f"below the limit: {', '.join(below)}"] if below else []
    known += [f"not measured: {', '.join(unknown)}"] if unknown else []
    return (
        f"{NO_CAUSE} ({'; '.join(known)}). Look at its console among the files of the load host, and at the network "
        "between it and the nodes; then run the cell again"
    )


def tolerance_of(part: Part, operations: float) -> float:
    """Return the share by which a load of so many operations may differ from the rate.

    A command may draw its schedule at random; Plimsoll's own programs send by the clock.
    """
    return rate_tolerance(operations) if part.load_generator.command else RATE_TOLERANCE


def _sent(summary: LoadSummary, in_time: float) -> float:
    """Return the number of operations sent within the judged time; `in_time` of them were answered within it.

    Failed operations were sent, too, except for kinds of errors that occur before sending. Operations under way at the
    end of the judged time count up to the greatest number in flight. The remaining ones may be a backlog that was sent
    only later.
    """
    later = max(0.0, sum(summary.operations.values()) - in_time)
    return in_time + min(later, summary.in_flight_max or 0) + summary.failed - _never_sent(summary)


def _never_sent(summary: LoadSummary) -> int:
    return sum(summary.errors.get(kind, 0) for kind in _NEVER_SENT)


def _share(count: int, summary: LoadSummary) -> float:
    return count / summary.total if summary.total else 0.0
