"""Detect the format of files by their content, and read all files of one run together."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from plimsoll.analysis import grouped
from plimsoll.analysis.logs.formats.consoles import CassandraStressConsole, Sysbench
from plimsoll.analysis.logs.formats.interval_logs import IntervalLogs
from plimsoll.analysis.logs.formats.latte import LatteJson, LatteLog
from plimsoll.analysis.logs.formats.operation_logs import TextLog, ToolLog
from plimsoll.analysis.logs.formats.pgbench import PgBench, PgBenchAggregated
from plimsoll.analysis.logs.formats.reading import Format, Reading, ReadOptions, RunFile
from plimsoll.analysis.logs.formats.refused import PercentileText, refuse_known
from plimsoll.analysis.logs.formats.tagged_logs import CassandraStress, CqlStress, NoSqlBench, ScyllaBench
from plimsoll.analysis.logs.formats.tlp_stress import TlpCsv
from plimsoll.analysis.logs.formats.tools import TOOLS
from plimsoll.analysis.logs.formats.ycsb_logs import YcsbLogs
from plimsoll.analysis.logs.formats.ycsb_status import YcsbStatus
from plimsoll.analysis.logs.unpacking import require_bounded
from plimsoll.domain.keys.log_words import EXAMPLE
from plimsoll.domain.keys.service_level import ALL_OPERATIONS
from plimsoll.domain.text.errors import LogError

FORMATS: tuple[Format, ...] = (
    # Before cassandra-stress, whose first comment its logs have, too
    ScyllaBench(),
    CassandraStress(),
    CqlStress(),
    LatteLog(),
    NoSqlBench(),
    YcsbLogs(),
    IntervalLogs(),
    LatteJson(),
    TlpCsv(),
    *(ToolLog(tool) for tool in TOOLS),
    YcsbStatus(),
    PgBenchAggregated(),
    PgBench(),
    CassandraStressConsole(),
    Sysbench(),
    PercentileText(),
    TextLog(),
)
"""Single tools' logs before the general form."""
_BY_NAME = {reader.name: reader for reader in FORMATS}

_WITH_TAGS = (IntervalLogs, ToolLog, TextLog)
_SHOWN = 60


def read_run(files: Sequence[RunFile], options: ReadOptions, forced: str | None = None) -> Reading:
    """Read the files of one run, in the formats that their content shows, or in the format named `forced`.

    Of several formats only one may hold times; the others add what they know (a CSV beside histogram logs adds errors).
    Raises LogError where a file has no known format, where two formats both hold times, where tags are asked for and no
    format has any, and where the files together are larger than one run may be.
    """
    cut = require_bounded((file.name, file.data) for file in files)
    if options.columns:
        if forced not in (None, TextLog.name):
            what = f"`--columns` names those of any log of operations, and not of {_BY_NAME[forced].title}"
            raise LogError(what, mend="leave one of `--columns` and `--format` out")
        forced = TextLog.name
    by_format = grouped((forced or _format(file).name, file) for file in files)
    readers = [_BY_NAME[name] for name in by_format]
    if options.tags and not any(isinstance(reader, _WITH_TAGS) for reader in readers):
        what = f"{' and '.join(reader.title for reader in readers)}: has no tags, so `--tags` names nothing in it"
        raise LogError(what, mend="leave `--tags` out (of an import or a command, `tags:`)")
    reading = _together([_read(reader, by_format[reader.name], options) for reader in readers])
    return _beside_total(replace(reading, notes=tuple(dict.fromkeys((*cut, *reading.notes)))))


def _beside_total(reading: Reading) -> Reading:
    """Return the reading with another name for an operation of the total's name, which stands for all operations."""
    parts: dict[str, Any] = {
        name: tuple(
            replace(part, operation=f"operation {ALL_OPERATIONS}") if part.operation == ALL_OPERATIONS else part
            for part in getattr(reading, name)
        )
        for name in ("tracks", "samples", "failures")
    }
    return replace(reading, **parts)


def _read(reader: Format, files: Sequence[RunFile], options: ReadOptions) -> Reading:
    """Return the files' content. Raises LogError on figures of no run, such as numbers of a thousand digits."""
    names, mend = ", ".join(file.name for file in files), "give the files as the tool wrote them"
    try:
        reading = reader.read(files, options)
    except (ArithmeticError, TypeError, ValueError) as error:
        what = f"holds a figure that can't be read as {reader.title} ({error})"
        raise LogError(what, where=names, mend=mend) from error
    for sample in reading.samples:
        figures = (sample.count, *sample.values_ms.values())
        if not all(0 <= figure <= 2**53 for figure in figures):  # up to it numbers are exact in floating point
            what = f"tells {sample.series or sample.operation} with figures that can't be: {figures}"[:200]
            raise LogError(what, where=names, mend=mend)
    return reading


def _format(file: RunFile) -> Format:
    for reader in FORMATS:
        if reader.recognises(file):
            return reader
    refuse_known(file)
    line = next((line.strip() for line in file.head.splitlines() if line.strip()), "")
    shown = repr(line[:_SHOWN] + ("…" if len(line) > _SHOWN else ""))
    raise LogError(
        f"is of no format that is known here: it begins with {shown}",
        where=file.name,
        mend=f"a log with a line for each operation is read by its columns: {EXAMPLE}; else give one of: "
        f"{'; '.join(reader.title for reader in FORMATS)}. `--format` forces one",
    )


def _together(readings: Sequence[Reading]) -> Reading:
    timed = (
        [reading for reading in readings if reading.tracks]
        or [reading for reading in readings if reading.samples]
        or readings[:1]
    )
    if len(timed) > 1:
        titles = " and ".join(reading.title for reading in timed)
        raise LogError(f"several formats that hold times: {titles}", mend="judge one run of one tool at a time")
    others = [reading for reading in readings if reading is not timed[0]]
    return _with_failures_of_its_time(_enriched(timed[0], others))


def _with_failures_of_its_time(reading: Reading) -> Reading:
    """Return the reading without the times of failures that are of another time than the measurements.

    The files of an earlier run are so, or the clocks differ. The number of such failures still counts.
    """
    spans_s = [(float(track.starts[0]), float(track.ends[-1])) for track in reading.tracks]
    spans_s += [(sample.start_s, sample.start_s + sample.length_s) for sample in reading.samples]
    if not spans_s:
        return reading
    # A first status or stub, which some tools' files do not time, is left out; what failed in it came before the run
    record_s = max([*(track.record_s for track in reading.tracks), *(sample.length_s for sample in reading.samples)])
    first_s = min(begin_s for begin_s, _ in spans_s) - record_s
    # Operations may go on failing after the last answer. Failures of another run would add intervals without an answer
    last_s = max(end_s for _, end_s in spans_s) + 60.0
    failures = [failure for failure in reading.failures if failure.total]
    kept = [failure.between(first_s, last_s) for failure in failures]
    remark = "tells failures of another time than the other files: give the files of one run alone, if it is of another"
    pairs = zip(failures, kept, strict=True)
    odd = [f"{failure.name}: {remark}" for failure, inside in pairs if inside.total < failure.total]
    return replace(reading, failures=tuple(failure for failure in kept if failure.total), notes=(*reading.notes, *odd))


def _enriched(timed: Reading, others: Sequence[Reading]) -> Reading:
    readings = (timed, *others)
    beside = (other.title for other in others if other.samples)
    known = [reading for reading in readings if reading.errors is not None]
    # Files of one run, such as a log and a CSV, tell the same failures: one of them is taken, so that none counts twice
    telling = next((reading for reading in known if reading.errors), known[0] if known else timed)
    first: dict[str, Any] = {
        name: next((value for reading in readings if (value := getattr(reading, name)) is not None), None)
        for name in ("attempted_ops_s", "own_lag_p99_ms", "started_at")
    }
    return replace(
        timed,
        title=" with ".join(reading.title for reading in readings),
        left_out=tuple(left for reading in readings for left in reading.left_out),
        samples=() if timed.tracks else timed.samples,
        whole_run=tuple(entry for reading in readings for entry in reading.whole_run),
        notes=(
            *(note for reading in readings for note in reading.notes),
            *(f"{title}: its percentiles are not judged beside histograms" for title in beside),
        ),
        errors=telling.errors,
        failures=telling.failures,
        **first,
    )
