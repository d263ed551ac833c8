"""cassandra-stress, `-log hdrfile=FILE`: one log with a tag for each operation and measure."""

from collections.abc import Iterator, Mapping, Sequence

from plimsoll.analysis.formats.interval_logs import IntervalLogs, Meaning
from plimsoll.analysis.formats.reading import RunFile
from plimsoll.analysis.hdrlog import HistogramLog
from plimsoll.analysis.layout import Unit
from plimsoll.analysis.operations import Measure, Series

_SUFFIXES: dict[str, Measure] = {"rt": "response time", "st": "service time", "wt": "wait time"}


class CassandraStress(IntervalLogs):
    """Tags `<operation>-rt`, `-st`, `-wt` in ns. Without `-rate fixed=` it writes no response times."""

    name = "cassandra-stress"
    title = "cassandra-stress HDR log"
    unit: Unit | None = "ns"

    def recognises(self, file: RunFile) -> bool:
        """By its first comment, or by tags of its form."""
        tags = (line[4:].partition(",")[0] for line in file.head.splitlines() if line.startswith("Tag="))
        return super().recognises(file) and ("for Cassandra Stress" in file.head or any(map(_suffix, tags)))

    def _meaning(self, log: HistogramLog, tag: str, kinds: Mapping[str, str]) -> Meaning:
        suffix = _suffix(tag)
        return (_SUFFIXES[suffix], tag.removesuffix(f"-{suffix}")) if suffix else super()._meaning(log, tag, kinds)

    def _refuse(self, series: Sequence[Series]) -> None:
        """All measures stand in one log, so none of them was given by mistake."""

    def _remarks(self, series: Sequence[Series]) -> Iterator[str]:
        yield "cassandra-stress times operations that failed or were tried again like others: errors count as latencies"
        if not any(one.measure == "response time" for one in series):
            yield "no response times: cassandra-stress writes them with `-rate fixed=` only"


def _suffix(tag: str) -> str:
    _, dash, suffix = tag.rpartition("-")
    return suffix if dash and suffix in _SUFFIXES else ""
