"""NoSQLBench, `--log-histograms FILE:PATTERN:INTERVAL`: one log with a tag for each metric of each activity."""

import re
from collections.abc import Iterator, Mapping, Sequence

from plimsoll.analysis.formats.interval_logs import IntervalLogs, stub_note, without_first_stub
from plimsoll.analysis.formats.reading import RunFile
from plimsoll.analysis.hdrlog import HistogramLog
from plimsoll.analysis.histogram_layout import Unit
from plimsoll.analysis.operations import Measure, Series

_METRICS: tuple[tuple[str, Measure], ...] = (
    (r"cycles[._]responsetime", "response time"),
    (r"result[-_]success", "service time"),
    (r"result", "service time"),
    (r"cycles[._]servicetime", "cycle time"),
    (r"errortimers[._].+", "time of failures"),
)
"""Best first: of one activity only the first of them that is there is judged."""


class NoSqlBench(IntervalLogs):
    """Times in ns, in histograms that resize themselves. Metrics other than times (`tries`, sizes) are ignored."""

    name = "nosqlbench"
    title = "NoSQLBench histogram log"
    unit: Unit | None = "ns"

    def recognises(self, file: RunFile) -> bool:
        """By the first comment of the log."""
        return super().recognises(file) and bool(re.match(r"# ?logging histograms for session", file.head))

    def _series(self, log: HistogramLog, kinds: Mapping[str, str]) -> Iterator[Series]:
        tags = log.by_tag()
        best = {activity: min(ranks) for activity, ranks in _ranks(tags).items()}
        for tag, records in tags.items():
            activity, rank = _metric(tag)
            judged = rank is not None and (rank == best[activity] or _METRICS[rank][1] == "time of failures")
            measure: Measure = _METRICS[rank][1] if judged and rank is not None else "other figures"
            yield Series(log, measure, kinds.get(activity.lower(), ""), without_first_stub(records))

    def _refuse(self, series: Sequence[Series]) -> None:
        """Refuse nothing: one log holds all metrics, so the user did not add one of them by mistake."""

    def _remarks(self, series: Sequence[Series]) -> Iterator[str]:
        for log in {id(one.log): one.log for one in series}.values():
            for tag, records in log.by_tag().items():
                if _metric(tag)[1] is not None and len(without_first_stub(records)) < len(records):
                    yield f"{stub_note(log, records)} ({tag})"
                if re.search(r"[._]result$", tag) and not _has_success(log, tag):
                    yield f"{log.name}: {tag} counts failed operations too: errors are counted as latencies"


def _ranks(tags: Mapping[str, object]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for tag in tags:
        activity, rank = _metric(tag)
        if rank is not None:
            found.setdefault(activity, []).append(rank)
    return found


def _metric(tag: str) -> tuple[str, int | None]:
    """The activity of a tag, and the index of its metric among the metrics that are times of operations."""
    for rank, (metric, _) in enumerate(_METRICS):
        match = re.fullmatch(rf"(?P<activity>.+?)[._]{metric}", tag)
        if match:
            return match["activity"], rank
    return tag, None


def _has_success(log: HistogramLog, tag: str) -> bool:
    return any(one.startswith(tag) and one != tag for one in log.by_tag())
