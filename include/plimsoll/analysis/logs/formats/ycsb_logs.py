"""YCSB, `hdrhistogram.fileoutput=true`: one file per operation, `READ.hdr`, and `Intended-READ.hdr` if asked for."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath

from plimsoll.analysis.logs.formats.interval_logs import IntervalLogs, Meaning, is_stub, stub_note, without_first_stub
from plimsoll.analysis.logs.formats.reading import RunFile, failures_of
from plimsoll.analysis.logs.formats.selection import Measure, Series, total
from plimsoll.analysis.logs.formats.tlp_stress import LOGGING_FOR, logged_name
from plimsoll.analysis.logs.hdr.hdrlog import HistogramLog
from plimsoll.analysis.logs.hdr.histogram_layout import Unit
from plimsoll.analysis.logs.hdr.record_line import Record
from plimsoll.analysis.logs.operations import Failures
from plimsoll.domain.keys.log_words import COORDINATED_OMISSION
from plimsoll.domain.text.wording import plural

MADE_OF_OTHERS = "READ-MODIFY-WRITE"
_OPERATIONS = ("READ", "UPDATE", "INSERT", "SCAN", "DELETE")
_CHECK = "VERIFY"
INTENDED = "Intended-"
_NO_OPERATIONS = (MADE_OF_OTHERS, _CHECK, "CLEANUP", "SCAN-LATENCY-PER-RECORD")
_OF_THE_JVM = ("THREAD_COUNT", "USED_MEM_MB", "SYS_LOAD_AVG", "GCS", "GCS_TIME")
_NOTES: Mapping[str, str] = {
    "service": "YCSB's times are taken for service times, as `measurement.interval=op` (its default) makes them; run "
    "with `measurement.interval=both` it writes `Intended-` ones, which hold response times",
    "target": "YCSB's intended times count from a schedule only where it ran with a `-target`; without one they are "
    "service times",
    "check": "VERIFY is left out: the client's own check of what it read, and no operation of the database",
    "both": "READ-MODIFY-WRITE is left out: its READ and its UPDATE are counted by themselves",
}


class YcsbLogs(IntervalLogs):
    """Times in µs, in histograms that resize themselves; one record per status line, every 10 s by default."""

    name = "ycsb-hdr"
    title = "YCSB HDR log"
    tool = "YCSB"
    unit: Unit | None = "us"

    def recognises(self, file: RunFile) -> bool:
        """Recognise the log by its first comment, which tlp-stress took over with another name in it."""
        first = file.head[:200]
        return super().recognises(file) and bool(LOGGING_FOR.search(first)) and logged_name(first) is None

    def _series(self, log: HistogramLog, kinds: Mapping[str, str]) -> Iterator[Series]:
        for one in super()._series(log, kinds):
            records = _without_second_last_stub(without_first_stub(one.records))
            yield one._replace(records=records, folder=str(PurePath(log.name).parent))

    def _meaning(self, log: HistogramLog, tag: str, kinds: Mapping[str, str]) -> Meaning | None:  # noqa: ARG002 - by name
        return meaning(_name(log))

    def _own_name(self, log: HistogramLog, tag: str) -> str:  # noqa: ARG002 - YCSB writes no tags
        return _name(log)

    def _refuse(self, series: Sequence[Series]) -> None:
        """Refuse nothing: YCSB writes both measures into one folder, so a user who gives the folder gives both."""

    def _failures(self, every: Sequence[Series], series: Sequence[Series]) -> list[Failures] | None:  # noqa: ARG002 - no tags
        """Return the counts of `READ-FAILED`, or of `Intended-READ-FAILED` where that is alone: both count the same."""
        failed = [one._replace(records=one.log.records) for one in every if one.measure == "time of failures"]
        names = {(one.folder, _name(one.log)) for one in failed}
        counted = [
            one
            for one in failed
            if (one.folder, _name(one.log).removeprefix(INTENDED)) not in names - {(one.folder, _name(one.log))}
        ]
        return [failures_of(one, failed_kind(_name(one.log))) for one in counted] or None

    def _remarks(self, series: Sequence[Series]) -> Iterator[str]:
        for log in {id(one.log): one.log for one in series}.values():
            if len(without_first_stub(log.records)) < len(log.records):
                yield stub_note(log, log.records)
            if len(_without_second_last_stub(log.records)) < len(log.records):
                counted = plural(total(log.records[-1:], log.name) or 0, "value")
                yield f"{log.name}: ends with two stubs; the last, written after the run, is left out, {counted}"
        yield from remarks([_name(one.log) for one in series])


def meaning(name: str) -> Meaning | None:
    """Return what a measurement of YCSB covers; None of a measurement that YCSB does not make.

    `READ-FAILED`, or `READ-` with another result, holds the times of failures, which `READ` does not contain.
    """
    bare = name.removeprefix("Hdr").removeprefix(INTENDED)
    if bare in _NO_OPERATIONS or bare in _OF_THE_JVM:
        return "other figures", bare
    operation, dash, _ = bare.partition("-")
    if operation not in _OPERATIONS:
        return None
    measure: Measure = "response time" if INTENDED in name else "service time"
    return ("time of failures" if dash else measure), operation


def failed_kind(name: str) -> str:
    """Return the kind of the failures that a measurement such as `READ-FAILED` or `READ-NOT_FOUND` holds."""
    return name.removeprefix("Hdr").removeprefix(INTENDED).partition("-")[2]


def remarks(names: Sequence[str]) -> Iterator[str]:
    """Yield remarks on the pitfalls of measurements with those names."""
    intended = {found[1] for name in names if INTENDED in name and (found := meaning(name))}
    if intended:
        yield _NOTES["target"]
    if any(found[0] == "service time" and found[1] not in intended for name in names if (found := meaning(name))):
        yield _NOTES["service"]
    if any(name.endswith(MADE_OF_OTHERS) for name in names):
        yield _NOTES["both"]
    if any(name.endswith(_CHECK) for name in names):
        yield _NOTES["check"]


def omission(judged: Sequence[str]) -> Iterator[str]:
    """Yield the remark on those of the judged measurements whose times count from the send."""
    by_send = [name for name in judged if INTENDED not in name]
    if by_send:
        whose = f"{', '.join(by_send)}: " if len(by_send) < len(judged) else ""
        yield f"{whose}judged on service time: a stall hides the operations that were due in it {COORDINATED_OMISSION}"


def _without_second_last_stub(records: tuple[Record, ...]) -> tuple[Record, ...]:
    """Leave out the last record but one if it is a stub: YCSB adds a record for the rest after its last status line."""
    return records[:-1] if len(records) > 3 and is_stub(records[-2], records[-3]) else records


def _name(log: HistogramLog) -> str:
    found = (LOGGING_FOR.search(comment) for comment in log.comments)
    return next((match["name"] for match in found if match), log.name)
