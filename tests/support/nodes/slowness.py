"""What slow nodes and load generators cause: it may happen in every test of a real load, since others run beside it."""

import re
from collections.abc import Callable, Mapping

from tests.support.suite.tries import tries

from plimsoll.analysis.attempt.judgement import Judgement
from plimsoll.domain.attempt.load_summary import LoadSummary

_SLOW = frozenset({"read_timeout", "write_timeout", "client_timeout"})
"""Errors of requests that had no answer in time. A node of this machine may stall for longer than it allows."""

_STALL = re.compile(
    r": a record of |: a gap of |: two records overlap |intervals? of .+ holds? no |intervals of .+ are covered by "
)
"""Reasons against a log whose writer stalled for a moment, or whose nodes answered nothing meanwhile."""

SHORT = 5
"""Tries of a load of seconds, which a machine that is busy for a minute may spoil each time."""

Measured = tuple[LoadSummary, Judgement]


def not_slow(errors: Mapping[str, int]) -> dict[str, int]:
    """Return the errors, by kind, that no slowness explains."""
    return {kind: count for kind, count in errors.items() if count and kind not in _SLOW}


def undisturbed(measure: Callable[[int], Measured]) -> Measured:
    """Return the first of a few loads that slowness did not disturb, else the last one.

    `measure` puts on a load and gets its number. Another load follows only one that went to its end, if operations
    failed or its log has the gaps of a stall, and nothing else is wrong with it. It is for cassandra-stress, which
    does not tell why operations failed, so that slowness can't be told from other causes. A cause in the product is
    there in every load.
    """
    for number in tries(SHORT):
        summary, judgement = measure(number)
        if not _is_disturbed(summary, judgement):
            break
    return summary, judgement


def _is_disturbed(summary: LoadSummary, judgement: Judgement) -> bool:
    """Tell whether slowness explains all that is wrong with a load, and something is."""
    explained = all(_STALL.search(reason) for reason in judgement.reasons)
    return summary.complete and explained and bool(summary.failed or judgement.reasons)
