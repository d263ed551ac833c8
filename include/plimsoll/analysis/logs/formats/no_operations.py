"""Interval logs of programs that write something else than the times of operations over time."""

import re
from collections.abc import Iterable

from plimsoll.analysis.logs.hdr.hdrlog import HistogramLog
from plimsoll.domain.errors import LogError

NOT_MEMTIER = (
    "load it by a program that writes every operation, such as go-ycsb's `redis` with `-p measurementtype=csv`, or "
    "histograms over time"
)
_PROGRAMS = (
    (
        re.compile(r"\[Logged with jHiccup"),
        "is jHiccup's: how long a JVM or its machine stood still, and no operation of a database",
        "give the logs of the load generator that ran beside it",
    ),
    (
        re.compile(r"command HDR latency histogram results\]"),
        "is memtier_benchmark's: one histogram of the whole run, which hides the intervals that missed",
        "memtier tells times by the second in `--json-out-file` alone, as percentiles that are not read here: "
        + NOT_MEMTIER,
    ),
)


def refuse_no_operations(logs: Iterable[HistogramLog]) -> None:
    """Raise LogError on a log by which no service level can be judged, according to its comments."""
    for log in logs:
        for comment, what, mend in _PROGRAMS:
            if any(comment.search(one) for one in log.comments):
                raise LogError(what, where=log.name, mend=mend)
