"""What slow nodes and load generators cause: it may happen in every test of a real load, since others run beside it."""

from collections.abc import Callable, Mapping

from plimsoll.analysis.judgement import Judgement
from plimsoll.domain.load_summary import LoadSummary

RUNS = 3
_SLOW = frozenset({"read_timeout", "write_timeout", "client_timeout"})
"""Errors of requests that had no answer in time. A node of this machine may stand still for longer than it allows."""

Measured = tuple[LoadSummary, Judgement]


def not_slow(errors: Mapping[str, int]) -> dict[str, int]:
    """The errors, by kind, that no slowness explains."""
    return {kind: count for kind, count in errors.items() if count and kind not in _SLOW}


def undisturbed(measure: Callable[[int], Measured]) -> Measured:
    """The first of a few loads in which no operation failed and whose log is sound, else the last one.

    `measure` puts on a load and gets its number. It is for cassandra-stress, which does not tell why operations failed,
    so that slowness can't be told from other causes. A cause in the product is there in every load.
    """
    for number in range(1, RUNS + 1):
        summary, judgement = measure(number)
        if judgement.valid and not summary.failed:
            break
    return summary, judgement
