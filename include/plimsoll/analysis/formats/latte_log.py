"""latte: `latte hdr` has the tags `requests` and `cycles`; ScyllaDB's latte also writes a tag for each function."""

import re
from collections.abc import Iterator, Mapping, Sequence

from plimsoll.analysis.formats.interval_logs import IntervalLogs, Meaning
from plimsoll.analysis.formats.reading import RunFile
from plimsoll.analysis.formats.selection import Measure, Series
from plimsoll.analysis.hdrlog import HistogramLog
from plimsoll.analysis.histogram_layout import Unit

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
        """By the first comment of the log."""
        return super().recognises(file) and "#[Logged with Latte" in file.head

    def _meaning(self, log: HistogramLog, tag: str, kinds: Mapping[str, str]) -> Meaning | None:  # noqa: ARG002 - by tag
        found = _TAG.fullmatch(tag)
        if found is None:
            return None
        measure: Measure = "service time" if found["kind"] == "requests" else "cycle time"
        prefix = (found["prefix"] or "").rstrip(".")
        return measure, found["function"] or (prefix if prefix.lower() in kinds else "")

    def _remarks(self, series: Sequence[Series]) -> Iterator[str]:  # noqa: ARG002 - whatever is in the log
        yield SKIPS
