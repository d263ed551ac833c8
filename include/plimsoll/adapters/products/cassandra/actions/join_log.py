"""The parts of a join, read in the log of the node that joined. Pure.

The texts were read in the logs of nodes of 3.11.19 and 4.0.1.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise

from plimsoll.adapters.products.cassandra.events import CassandraLog
from plimsoll.adapters.products.cassandra.node_files import JOB
from plimsoll.domain.action import ActionPart
from plimsoll.domain.log_events import LogLine

_ENDS = (
    ("start, gossip and fixed waits", re.compile(r"Starting to bootstrap")),
    ("streaming", re.compile(r"All sessions completed")),
    ("opening to clients", re.compile(r"Starting listening for CQL clients")),
)
"""Each part with the line that ends it, in their order."""


def join_parts(text: str) -> tuple[ActionPart, ...]:
    """Return the parts whose lines the log has, each from the end of the one before, the first from the log's begin."""
    found = CassandraLog().lines(JOB, text, UTC)  # only differences count
    if not found:
        return ()
    ends = [(name, at) for name, pattern in _ENDS if (at := _last(found, pattern))]
    times = [("", found[0].at), *ends]
    return tuple(_parts(times))


def _last(found: Sequence[LogLine], pattern: re.Pattern[str]) -> datetime | None:
    return next((line.at for line in reversed(found) if pattern.search(line.text)), None)


def _parts(times: list[tuple[str, datetime]]) -> Iterator[ActionPart]:
    for (_, before), (name, at) in pairwise(times):
        yield ActionPart(name=name, seconds=round((at - before).total_seconds(), 1))
