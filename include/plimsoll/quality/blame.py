"""Whose doing it was: tells a database that can't keep up (a result) from a load generator that can't (no result).

A load generator that has a cap of queries in flight falls behind its schedule for one of two reasons. It is *blocked*:
as many queries are in flight as may be, so it waits for the database. Or it is *late*: there was room for another
query, but the generator was slow to send it. Its schedule lag counts only the second kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from plimsoll.analysis.judging import RATE_TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.domain.definition import Definition
    from plimsoll.domain.load_summary import LoadSummary
    from plimsoll.domain.service_level import ServiceLevel

HeldBackBy = Literal["nobody", "database", "load generator", "unknown"]

ERROR_LIMIT = 0.001
"""Share of operations that may fail: the complement of the published percentile."""

CPU_LIMIT = 0.9
"""Share of its host's processors beyond which a load generator counts as at its own limit."""

_NEVER_SENT = frozenset({"overflow", "unfinished"})
_DATABASES_OWN = frozenset(
    {"read_timeout", "write_timeout", "unavailable", "overloaded", "client_timeout"} | _NEVER_SENT
)


def error_share(summary: LoadSummary) -> float:
    """Failed operations among all of the judged time."""
    return _share(summary.failed, summary)


def foreign_error_share(summary: LoadSummary) -> float:
    """Operations that failed otherwise than by the database's answer or its lack: broken connections, bad queries."""
    return _share(sum(count for kind, count in _errors(summary).items() if kind not in _DATABASES_OWN), summary)


def held_back_by(
    definition: Definition, summary: LoadSummary, *, achieved_share: float, cpu_share: float | None
) -> HeldBackBy:
    """Who kept the load generator from sending what it was asked to.

    `achieved_share`: achieved over attempted rate; `cpu_share`: the generator's CPU over its host's, None if not known.
    "unknown": operations are missing though the generator was neither late nor blocked.
    """
    if _sent_all(summary, achieved_share):
        return "nobody"
    if _is_at_its_limit(definition, summary, cpu_share):
        return "load generator"
    return "database" if was_blocked(definition, summary) else "unknown"


def was_blocked(definition: Definition, summary: LoadSummary) -> bool:
    """Whether the generator had as many queries in flight as it may: then it waited for the database."""
    generator = definition.load_generator
    cap = generator.threads * generator.concurrency
    # Threads reach their own caps at different times, so the sum rarely stands at the very cap.
    return summary.in_flight_max is not None and summary.in_flight_max >= 0.9 * cap


def lag_limit_ms(definition: Definition) -> float:
    """Lateness of the generator at which its response times are its own, ms: the tightest bound."""
    return min(level.bound_ms for level in definition.service_levels)


def hiccup_limit_ms(level: ServiceLevel) -> float:
    """The shortest standstill of the generator that makes an interval miss the service level by itself, ms.

    Operations due in the first `hiccup - bound` of it are answered beyond the bound. They are as many as may be when
    that is the interval's share above the percentile.
    """
    interval_ms = level.interval.total_seconds() * 1000
    return level.bound_ms + (1 - level.percentile / 100) * interval_ms


def _sent_all(summary: LoadSummary, achieved_share: float) -> bool:
    """Failed operations were sent, too, unless they are of a kind that never was."""
    never_sent = sum(count for kind, count in _errors(summary).items() if kind in _NEVER_SENT)
    answered = sum(summary.operations.values())
    tries_an_answer = (answered + summary.failed - never_sent) / answered if answered else 0.0
    sent = achieved_share * tries_an_answer
    return sent >= 1 - RATE_TOLERANCE and _share(never_sent, summary) < ERROR_LIMIT


def _is_at_its_limit(definition: Definition, summary: LoadSummary, cpu_share: float | None) -> bool:
    late = summary.schedule_lag_p99_ms is not None and summary.schedule_lag_p99_ms >= lag_limit_ms(definition)
    return late or (cpu_share is not None and cpu_share >= CPU_LIMIT)


def _errors(summary: LoadSummary) -> Mapping[str, int]:
    return {kind.replace(" ", "_"): count for kind, count in summary.errors.items()}


def _share(count: int, summary: LoadSummary) -> float:
    return count / summary.total if summary.total else 0.0
