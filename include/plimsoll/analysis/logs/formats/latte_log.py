"""latte: `latte hdr` has the tags `requests` and `cycles`; ScyllaDB's latte also writes a tag for each function."""

import re
from collections.abc import Iterator, Mapping, Sequence

from plimsoll.analysis.logs.formats.interval_logs import IntervalLogs, Meaning
from plimsoll.analysis.logs.formats.reading import RunFile
from plimsoll.analysis.logs.formats.selection import Measure, Series
from plimsoll.analysis.logs.hdr.hdrlog import HistogramLog
from plimsoll.analysis.logs.hdr.histogram_layout import Unit
from plimsoll.domain.errors import LogError

SKIPS = "latte skips operations that were due in a stall instead of sending them late: fewer were sent than asked for"
_TAG = re.compile(r"(?P<prefix>.*\.)?(?P<kind>requests|cycles)|fn--(?P<function>.+)")
"""`--tag` puts a prefix before them."""


class LatteLog(IntervalLogs):
    """Service times in ns, reads and writes together; `latte.json` has them separately."""

    name = "latte-hdr"
    title = "latte HDR log"
    tool = "latte"
    unit: Unit | None = "ns"

    def recognises(self, file: RunFile) -> bool:
        """Recognise the log by its first comment."""
        return super().recognises(file) and "#[Logged with Latte" in file.head

    def _series(self, log: HistogramLog, kinds: Mapping[str, str]) -> Iterator[Series]:
        """Yield the series of a log; those of one prefix are measures of the same operations."""
        for one in super()._series(log, kinds):
            found = _TAG.fullmatch(one.records[0].tag)
            yield one._replace(own_name=found["prefix"]) if found and found["prefix"] else one

    def _meaning(self, log: HistogramLog, tag: str, kinds: Mapping[str, str]) -> Meaning | None:  # noqa: ARG002 - by tag
        found = _TAG.fullmatch(tag)
        if found is None:
            return None
        measure: Measure = "service time" if found["kind"] == "requests" else "cycle time"
        prefix = (found["prefix"] or "").rstrip(".")
        return measure, found["function"] or (prefix if prefix.lower() in kinds else "")

    def _refuse(self, series: Sequence[Series]) -> None:
        """Raise LogError where times of single functions stand beside those of all functions, as of two files."""
        functions = [one for one in series if one.records[0].tag.startswith("fn--")]
        others = [one for one in series if one.is_known and one not in functions]
        if functions and others:
            what = f"holds times of a function, and {others[0].name} those of all functions"
            raise LogError(what, where=functions[0].name, mend="give one of them, or name the tags, `--tags NAME`")

    def _remarks(self, series: Sequence[Series]) -> Iterator[str]:  # noqa: ARG002 - whatever is in the log
        yield SKIPS
        yield "latte times calls that failed like others: errors count as latencies, and only its report counts them"
