"""scylla-bench, `-hdr-latency-file FILE`: one log with the tags `co-fixed` and `raw`."""

import re
from collections.abc import Iterator, Mapping, Sequence

from plimsoll.analysis.logs.formats.cassandra_stress import FIRST_COMMENT
from plimsoll.analysis.logs.formats.interval_logs import IntervalLogs, Meaning
from plimsoll.analysis.logs.formats.reading import RunFile
from plimsoll.analysis.logs.formats.selection import Measure, Series
from plimsoll.analysis.logs.formats.units import ASK_FOR_UNIT, FoundUnit
from plimsoll.analysis.logs.hdr.hdrlog import HistogramLog
from plimsoll.analysis.logs.operations import Track
from plimsoll.domain.errors import LogError

_TAGS: dict[str, Measure] = {"co-fixed": "response time", "raw": "service time"}
_RECORD = re.compile(r"^Tag=(co-fixed|raw),", re.MULTILINE)


class ScyllaBench(IntervalLogs):
    """Times by `-hdr-latency-units` (ns if not given), which the log does not say; Interval_Max is the value / 10^6.

    `co-fixed` counts from the schedule of `-max-rate`, without which it equals `raw`.
    """

    name = "scylla-bench"
    title = "scylla-bench HDR log"
    tool = "scylla-bench"

    def recognises(self, file: RunFile) -> bool:
        """Recognise the log by its tags, below the first comment that it shares with cassandra-stress."""
        comments = (FIRST_COMMENT, "#Logging op latencies for scylla-bench")  # the second: in ScyllaDB's cql-stress
        return (
            super().recognises(file) and any(one in file.head for one in comments) and bool(_RECORD.search(file.head))
        )

    def _meaning(self, log: HistogramLog, tag: str, kinds: Mapping[str, str]) -> Meaning | None:  # noqa: ARG002 - by tag
        return (_TAGS[tag], "") if tag in _TAGS else None

    def _shown(self, track: Track) -> FoundUnit:
        what = "scylla-bench writes the unit of its `-hdr-latency-units` (ns by default), which the log does not say"
        raise LogError(what, where=track.log, mend=ASK_FOR_UNIT)

    def _refuse(self, series: Sequence[Series]) -> None:
        """Raise LogError on times that are a thousand times short, as with hdrhistogram-go from 1.2 on."""
        first = series[0]
        if first.log.started_at_s is not None and first.records[0].start_s < first.log.started_at_s / 2:
            what = "has times of a thousandth of their size: scylla-bench gives seconds where its log writer takes ms"
            raise LogError(what, where=first.log.name, mend="multiply start and length of each record by 1,000")

    def _remarks(self, series: Sequence[Series]) -> Iterator[str]:
        if any(one.measure == "response time" for one in series):
            yield "scylla-bench's `co-fixed` counts from a schedule only where it ran with a `-max-rate`"
        yield "scylla-bench times of its failures those that took long, like answers; only its console counts them"
