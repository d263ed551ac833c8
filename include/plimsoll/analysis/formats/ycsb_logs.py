"""YCSB, `hdrhistogram.fileoutput=true`: one file per operation, `READ.hdr`, and `Intended-READ.hdr` if asked for."""

import re
from collections.abc import Iterator, Mapping, Sequence

from plimsoll.analysis.formats.interval_logs import IntervalLogs, Meaning, is_stub, stub_note, without_first_stub
from plimsoll.analysis.formats.reading import RunFile
from plimsoll.analysis.hdrlog import HistogramLog, Record
from plimsoll.analysis.histogram_layout import Unit
from plimsoll.analysis.operations import Measure, Series

MADE_OF_OTHERS = "READ-MODIFY-WRITE"
_LOGGING_FOR = re.compile(r"\[Logging for: (?P<name>[^\]]+)\]")
_NO_OPERATIONS = ("CLEANUP", "THREAD_COUNT", "USED_MEM_MB", "SYS_LOAD_AVG", "GCS", "GCS_TIME")
_NOTES: Mapping[str, str] = {
    "service": "YCSB's times are taken for service times, as `measurement.interval=op` (its default) makes them; run "
    "with `measurement.interval=both` it writes `Intended-` ones, which hold response times",
    "target": "YCSB's intended times count from a schedule only where it ran with a `-target`; without one they are "
    "service times",
    "both": "READ-MODIFY-WRITE is left aside: its READ and its UPDATE are counted by themselves",
}


class YcsbLogs(IntervalLogs):
    """Times in µs, in histograms that resize themselves; one record per status line, every 10 s by default."""

    name = "ycsb-hdr"
    title = "YCSB HDR log"
    unit: Unit | None = "us"

    def recognises(self, file: RunFile) -> bool:
        """By the first comment of the log."""
        return super().recognises(file) and bool(_LOGGING_FOR.search(file.head[:200]))

    def _series(self, log: HistogramLog, kinds: Mapping[str, str]) -> Iterator[Series]:
        for one in super()._series(log, kinds):
            yield one._replace(records=_without_second_last_stub(without_first_stub(one.records)))

    def _meaning(self, log: HistogramLog, *_: object) -> Meaning:
        return meaning(_name(log))

    def _refuse(self, series: Sequence[Series]) -> None:
        """Refuse nothing: YCSB writes both measures into one folder, so a user who gives the folder gives both."""

    def _remarks(self, series: Sequence[Series]) -> Iterator[str]:
        for log in {id(one.log): one.log for one in series}.values():
            if len(without_first_stub(log.records)) < len(log.records):
                yield stub_note(log, log.records)
            if len(_without_second_last_stub(log.records)) < len(log.records):
                yield f"{log.name}: ends with two stubs; the very last, written when the run was over, is left out"
        yield from remarks([_name(one.log) for one in series])


def meaning(name: str) -> Meaning:
    """What a measurement of YCSB covers. `READ-FAILED` holds the times of failures, which `READ` does not contain."""
    bare = name.removeprefix("Hdr").removeprefix("Intended-")
    measure: Measure = "response time" if "Intended-" in name else "service time"
    if bare in _NO_OPERATIONS or bare == MADE_OF_OTHERS:
        return "other figures", bare
    operation, dash, error = bare.partition("-")
    return ("time of failures", operation) if dash and error.isupper() else (measure, bare)


def remarks(names: Sequence[str]) -> Iterator[str]:
    """Remarks on the pitfalls of measurements with those names."""
    yield _NOTES["target"] if any("Intended-" in name for name in names) else _NOTES["service"]
    if any(name.endswith(MADE_OF_OTHERS) for name in names):
        yield _NOTES["both"]


def _without_second_last_stub(records: tuple[Record, ...]) -> tuple[Record, ...]:
    """Leave out the last record but one if it is a stub: YCSB adds a record for the rest after its last status line."""
    return records[:-1] if len(records) > 3 and is_stub(records[-2], records[-3]) else records


def _name(log: HistogramLog) -> str:
    found = (_LOGGING_FOR.search(comment) for comment in log.comments)
    return next((match["name"] for match in found if match), "")
