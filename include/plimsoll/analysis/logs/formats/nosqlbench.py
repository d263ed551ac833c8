"""NoSQLBench, `--log-histograms FILE:PATTERN:INTERVAL`: one log with a tag for each metric of each activity."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise

from plimsoll.analysis.logs.formats.interval_logs import IntervalLogs, stub_note, without_first_stub
from plimsoll.analysis.logs.formats.reading import RunFile, failures_between, failures_of
from plimsoll.analysis.logs.formats.selection import Measure, Series
from plimsoll.analysis.logs.hdr.hdrlog import HistogramLog
from plimsoll.analysis.logs.hdr.record_line import Record
from plimsoll.analysis.logs.operations import Failures
from plimsoll.domain.text.errors import LogError

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
