"""Logs of a whole run whose tags say what is measured: cassandra-stress', `-log hdrfile=FILE`, and cql-stress', with a
tag for each operation and measure; scylla-bench's, `-hdr-latency-file FILE`, with the tags `co-fixed` and `raw`; and
NoSQLBench's, `--log-histograms FILE:PATTERN:INTERVAL`, with a tag for each metric of each activity.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from plimsoll.analysis.logs.formats.interval_logs import IntervalLogs, Meaning, stub_note, without_first_stub
from plimsoll.analysis.logs.formats.reading import RunFile, failures_between, failures_of
from plimsoll.analysis.logs.formats.selection import Measure, Series, total
from plimsoll.analysis.logs.formats.units import ASK_FOR_UNIT, FoundUnit
from plimsoll.analysis.logs.hdr.hdrlog import HistogramLog
from plimsoll.analysis.logs.hdr.histograms import EMPTY
from plimsoll.analysis.logs.hdr.record_line import Record
from plimsoll.analysis.logs.operations import ODD_LENGTH, Failures, Track, median
from plimsoll.domain.text.errors import LogError
from plimsoll.domain.text.wording import plural

_MOST_RECORDS = 1_000_000
_MISFIT = 0.05
"""The share of a record by which records that are left out may differ from whole ones."""
FIRST_COMMENT = "#Logging op latencies for Cassandra Stress"
_SUFFIXES: dict[str, Measure] = {"rt": "response time", "st": "service time", "wt": "wait time"}
_TAGS: dict[str, Measure] = {"co-fixed": "response time", "raw": "service time"}
_RECORD = re.compile(r"^Tag=(co-fixed|raw),", re.MULTILINE)


class CassandraStress(IntervalLogs):
    """Tags `<operation>-rt`, `-st` and `-wt`, in ns. Without `-rate fixed=` the log has no response times."""

    name = "cassandra-stress"
    title = "cassandra-stress HDR log"
    tool = "cassandra-stress"
    on_failures = (
        "cassandra-stress times operations that failed or were tried again like others: errors count as latencies"
    )
    unit = "ns"

    def recognises(self, file: RunFile) -> bool:
        return super().recognises(file) and FIRST_COMMENT in file.head

    def _sound(self, log: HistogramLog) -> HistogramLog:
        """Return the log without last records that are too long, which it notes.

        The tool's reporter ticks by the clock; when the run ends, it writes one last record of all that it had not come
        to write. On a busy host it runs behind by seconds: what ended in them can't be told apart, so they are no
        interval.
        """
        usual_s = median([record.length_s for record in log.records])
        most_s, last_s = usual_s * (1 + ODD_LENGTH), max(record.start_s for record in log.records)
        late = [record for record in log.records if record.length_s > most_s and record.start_s == last_s]
        if not late:
            return log
        kept = tuple(record for record in log.records if record.length_s <= most_s or record.start_s < last_s)
        late_s, counted = max(record.length_s for record in late), plural(total(late, log.name) or 0, "value")
        reason = f"the run's end came while its last {late_s:.3f} s were not written yet"
        return replace(log, records=kept, notes=(*log.notes, f"{log.name}: {reason}: they are left out, {counted}"))

    def _series(self, log: HistogramLog, kinds: Mapping[str, str]) -> Iterator[Series]:
        begin_s = min(record.start_s for record in log.records)
        end_s = max(record.start_s + record.length_s for record in log.records)
        for series in super()._series(log, kinds):
            yield series._replace(records=with_empty_ones(series.records, begin_s, end_s))

    def _meaning(self, log: HistogramLog, tag: str, kinds: Mapping[str, str]) -> Meaning | None:  # noqa: ARG002 - by tag
        operation, dash, suffix = tag.rpartition("-")
        return (_SUFFIXES[suffix], operation) if dash and suffix in _SUFFIXES else None

    def _remarks(self, series: Sequence[Series]) -> Iterator[str]:
        yield self.on_failures
        if not any(tagged.measure == "response time" for tagged in series):
            yield f"no response times: {self.tool} writes them with `-rate fixed=` only"


class CqlStress(CassandraStress):
    """ScyllaDB's program of the same options: it gives a record's end as its start, and times no failed operation."""

    name = "cql-stress"
    title = "cql-stress HDR log"
    tool = "cql-stress"
    on_failures = "cql-stress times no operation that failed, and only its console counts them"

    def recognises(self, file: RunFile) -> bool:
        return IntervalLogs.recognises(self, file) and "#[Logged with Cql-stress" in file.head

    def _sound(self, log: HistogramLog) -> HistogramLog:
        moved = tuple(record._replace(start_s=record.start_s - record.length_s) for record in log.records)
        return super()._sound(replace(log, records=moved))


def with_empty_ones(records: Sequence[Record], begin_s: float, end_s: float) -> tuple[Record, ...]:
    """Add empty records for intervals in which no operation ended, since cassandra-stress leaves these out.

    The tool writes a record per tick, from the log's begin to its end (s since the epoch), so a gap of whole records
    means intervals without operations. Any other gap stays a gap. Raises LogError where the times are so far apart that
    no run can have taken so long.
    """
    length_s = median([record.length_s for record in records])
    if 0 < _MOST_RECORDS * length_s < end_s - begin_s:
        what = f"spans {end_s - begin_s:,.0f} s in records of {length_s:g} s, more than {_MOST_RECORDS:,} records"
        raise LogError(what, mend="see whether the clock of the load generator's host was set while it ran")
    filled, last_s = list[Record](), begin_s
    for record in records:
        filled += [*_empty_ones(record, last_s, record.start_s, length_s), record]
        last_s = record.start_s + record.length_s
    whole_s = (end_s - last_s + _MISFIT * length_s) // length_s * length_s
    return (*filled, *_empty_ones(records[-1], last_s, last_s + whole_s, length_s))


def _empty_ones(beside: Record, from_s: float, until_s: float, length_s: float) -> Iterator[Record]:
    missing = round((until_s - from_s) / length_s) if length_s > 0 else 0
    if abs(until_s - from_s - missing * length_s) <= _MISFIT * length_s:
        for number in range(missing):
            start_s = from_s + number * length_s
            yield beside._replace(start_s=start_s, length_s=length_s, payload=EMPTY, interval_max=None)


class ScyllaBench(IntervalLogs):
    """Times by `-hdr-latency-units` (ns if not given), which the log does not say; Interval_Max is the value / 10^6.

    `co-fixed` counts from the schedule of `-max-rate`, without which it equals `raw`.
    """

    name = "scylla-bench"
    title = "scylla-bench HDR log"
    tool = "scylla-bench"

    def recognises(self, file: RunFile) -> bool:
        comments = (FIRST_COMMENT, "#Logging op latencies for scylla-bench")  # the second: in ScyllaDB's cql-stress
        has_comment = any(comment in file.head for comment in comments)
        return super().recognises(file) and has_comment and bool(_RECORD.search(file.head))

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
        if any(tagged.measure == "response time" for tagged in series):
            yield "scylla-bench's `co-fixed` counts from a schedule only where it ran with a `-max-rate`"
        yield "scylla-bench times of its failures those that took long, like answers; only its console counts them"


_RESULT, _SUCCESS, _CYCLES = r"result", r"result[-_]success", r"cycles[._]responsetime"
_ERRORS = r"errortimers[._].+"
_METRICS: tuple[tuple[str, Measure], ...] = (
    (_CYCLES, "response time"),
    (_SUCCESS, "service time"),
    (_RESULT, "service time"),
    (r"cycles[._]servicetime", "cycle time"),
    (_ERRORS, "time of failures"),
)
"""NoSQLBench's name of a metric → its measure. `result` counts every try, `result-success` those that succeeded."""
_ACTIVITY = r"((?P<activity>.+?)[._])??"
_FURTHER = r"read_input|strides(_(service|response)time)?|bind|execute|tries|verifier|errorhistos_.+"


class NoSqlBench(IntervalLogs):
    """Times in ns, in histograms that resize themselves. Metrics other than times (`tries`, sizes) are left out.

    Since 5.17.6 a tag is the metric's name alone (`result_success`), without the activity's (`kv_main.result-success`).
    """

    name = "nosqlbench"
    title = "NoSQLBench histogram log"
    tool = "NoSQLBench"
    unit = "ns"

    def recognises(self, file: RunFile) -> bool:
        return super().recognises(file) and bool(re.match(r"# ?logging histograms for session", file.head))

    def _series(self, log: HistogramLog, kinds: Mapping[str, str]) -> Iterator[Series]:
        tags = log.by_tag()
        activities = {metric[0] for tag in tags if (metric := _metric(tag))}
        for tag, records in tags.items():
            activity, measure = _metric(tag) or _other(tag, activities)
            if activity == "":
                _refuse_several_activities(log, tag, records)
            if _has_success(log, tag):
                measure = "other figures"
            kept = without_first_stub(records)
            kind = kinds.get((activity or tag).lower(), "")
            own_name = self._own_name(log, tag) if activity is None else activity
            yield Series(log, measure, kind, kept, own_name, is_known=activity is not None)

    def _failures(self, all_series: Sequence[Series], series: Sequence[Series]) -> list[Failures] | None:
        """Return what was tried and did not succeed of each activity, else what its error timers count."""
        failures: list[Failures] = []
        tells_failures = False
        for log, name in dict.fromkeys((tagged.log.name, tagged.own_name) for tagged in all_series):
            own = {tagged.tag: tagged for tagged in all_series if (tagged.log.name, tagged.own_name) == (log, name)}
            tried, succeeded, cycles = (
                next((tagged for tag, tagged in own.items() if _is(tag, metric)), None)
                for metric in (_RESULT, _SUCCESS, _CYCLES)
            )
            timers = {tag: tagged for tag, tagged in own.items() if _is(tag, _ERRORS)}
            if succeeded and (counted := tried or cycles):
                tells_failures = True
                judged = [tag for tag, tagged in own.items() if tagged in series]
                among_times = not any(_is(tag, _SUCCESS) for tag in judged) or any(_is(tag, _CYCLES) for tag in judged)
                failures.append(failures_between(counted, succeeded, "failed tries", among_times=among_times))
            elif timers:
                tells_failures = True
                kinds = {tag: re.split(r"errortimers[._]", tag)[1] for tag in timers}
                # `ALL` counts each error a second time, whatever its kind
                failures += [failures_of(tagged, kinds[tag]) for tag, tagged in timers.items() if kinds[tag] != "ALL"]
        return [failure for failure in failures if failure.total] if tells_failures else None

    def _remarks(self, series: Sequence[Series]) -> Iterator[str]:
        for log in {id(tagged.log): tagged.log for tagged in series}.values():
            for tag, records in log.by_tag().items():
                if _metric(tag) and len(without_first_stub(records)) < len(records):
                    yield f"{stub_note(log, records)} ({tag})"
                if _is(tag, _RESULT) and not _has_success(log, tag):
                    yield f"{log.name}: {tag} counts failed operations too: errors are counted as latencies"


def _metric(tag: str) -> tuple[str, Measure] | None:
    """Return the activity (empty: not named) and the measure of a metric's tag; None of another tag."""
    matches = ((re.fullmatch(rf"{_ACTIVITY}{metric}", tag), measure) for metric, measure in _METRICS)
    return next(((match["activity"] or "", measure) for match, measure in matches if match), None)


def _is(tag: str, metric: str) -> bool:
    return bool(re.fullmatch(rf"{_ACTIVITY}{metric}", tag))


def _other(tag: str, activities: Collection[str]) -> tuple[str | None, Measure]:
    """Return the activity whose further figures a tag holds; None where there is none, so it may hold operations."""
    if "" in activities and re.fullmatch(_FURTHER, tag):
        return "", "other figures"
    activity = next((name for name in activities if name and re.match(rf"{re.escape(name)}[._]", tag)), None)
    return activity, "other figures" if activity else "service time"


def _refuse_several_activities(log: HistogramLog, tag: str, records: Sequence[Record]) -> None:
    """Raise LogError where one tag has the records of several activities."""
    beside = sum(later.start_s < record.start_s + record.length_s / 2 for record, later in pairwise(records))
    if beside > len(records) / 4:
        what = f"has several activities' records with the tag {tag}, which since NoSQLBench 5.17.6 does not name them"
        raise LogError(what, where=log.name, mend="log one activity at a time: run `nb5 WORKLOAD SCENARIO.STEP` of it")


def _has_success(log: HistogramLog, tag: str) -> bool:
    return any(re.fullmatch(rf"{re.escape(tag)}[-_]success", other) for other in log.by_tag())
