"""NoSQLBench, `--log-histograms FILE:PATTERN:INTERVAL`: one log with a tag for each metric of each activity."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from plimsoll.analysis.logs.formats.interval_logs import IntervalLogs, stub_note, without_first_stub
from plimsoll.analysis.logs.formats.reading import RunFile
from plimsoll.analysis.logs.formats.selection import Measure, Series
from plimsoll.analysis.logs.hdr.hdrlog import HistogramLog
from plimsoll.analysis.logs.hdr.histogram_layout import Unit

_METRICS: tuple[tuple[str, Measure], ...] = (
    (r"cycles[._]responsetime", "response time"),
    (r"result[-_]success", "service time"),
    (r"result", "service time"),
    (r"cycles[._]servicetime", "cycle time"),
    (r"errortimers[._].+", "time of failures"),
)
"""NoSQLBench's name of a metric → its measure. `result` counts failed operations too, `result-success` does not."""


class NoSqlBench(IntervalLogs):
    """Times in ns, in histograms that resize themselves. Metrics other than times (`tries`, sizes) are left out."""

    name = "nosqlbench"
    title = "NoSQLBench histogram log"
    tool = "NoSQLBench"
    unit: Unit | None = "ns"

    def recognises(self, file: RunFile) -> bool:
        """Recognise the log by its first comment."""
        return super().recognises(file) and bool(re.match(r"# ?logging histograms for session", file.head))

    def _series(self, log: HistogramLog, kinds: Mapping[str, str]) -> Iterator[Series]:
        tags = log.by_tag()
        activities = {found[0] for tag in tags if (found := _metric(tag))}
        for tag, records in tags.items():
            activity, measure = _metric(tag) or _other(tag, activities)
            if _has_success(log, tag):
                measure = "other figures"
            kept = without_first_stub(records)
            kind = kinds.get((activity or tag).lower(), "")
            yield Series(log, measure, kind, kept, activity or self._own_name(log, tag), is_known=activity is not None)

    def _refuse(self, series: Sequence[Series]) -> None:
        """Refuse nothing: one log holds all metrics, so the user did not add one of them by mistake."""

    def _remarks(self, series: Sequence[Series]) -> Iterator[str]:
        for log in {id(one.log): one.log for one in series}.values():
            for tag, records in log.by_tag().items():
                if _metric(tag) and len(without_first_stub(records)) < len(records):
                    yield f"{stub_note(log, records)} ({tag})"
                if re.search(r"[._]result$", tag) and not _has_success(log, tag):
                    yield f"{log.name}: {tag} counts failed operations too: errors are counted as latencies"


def _metric(tag: str) -> tuple[str, Measure] | None:
    """Return the activity and the measure of a tag with times of operations; None of another tag."""
    matches = ((re.fullmatch(rf"(?P<activity>.+?)[._]{metric}", tag), measure) for metric, measure in _METRICS)
    return next(((match["activity"], measure) for match, measure in matches if match), None)


def _other(tag: str, activities: Collection[str]) -> tuple[str | None, Measure]:
    """Return the activity whose further figures a tag holds; None where there is none, so that it may hold
    operations.
    """
    activity = next((one for one in activities if re.match(rf"{re.escape(one)}[._]", tag)), None)
    return activity, "other figures" if activity else "service time"


def _has_success(log: HistogramLog, tag: str) -> bool:
    return any(re.fullmatch(rf"{re.escape(tag)}[-_]success", one) for one in log.by_tag())
