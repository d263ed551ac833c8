"""latte, `latte hdr`: one log with the tags `requests` and `cycles`."""

from collections.abc import Iterator, Mapping, Sequence

from plimsoll.analysis.formats.interval_logs import IntervalLogs, Meaning
from plimsoll.analysis.formats.reading import RunFile
from plimsoll.analysis.hdrlog import HistogramLog
from plimsoll.analysis.histogram_layout import Unit
from plimsoll.analysis.operations import Measure, Series

SKIPS = "latte skips operations that were due in a stall instead of sending them late: fewer were sent than asked for"
_TAGS: dict[str, Measure] = {"requests": "service time", "cycles": "cycle time"}


class LatteLog(IntervalLogs):
    """Service times in ns, reads and writes together; `latte.json` has them separately."""

    name = "latte-hdr"
    title = "latte HDR log"
    unit: Unit | None = "ns"

    def recognises(self, file: RunFile) -> bool:
        """By the first comment of the log, or by its tags."""
        marked = "#[Logged with Latte" in file.head or any(f"Tag={tag}," in file.head for tag in _TAGS)
        return super().recognises(file) and marked

    def _meaning(self, log: HistogramLog, tag: str, kinds: Mapping[str, str]) -> Meaning:
        return (_TAGS[tag], "") if tag in _TAGS else super()._meaning(log, tag, kinds)

    def _remarks(self, series: Sequence[Series]) -> Iterator[str]:  # noqa: ARG002 - whatever is in the log
        yield SKIPS
