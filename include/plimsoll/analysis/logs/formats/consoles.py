"""Consoles that print a line for every interval: cassandra-stress', with percentiles of all its operations, and
sysbench's, `--report-interval=S`, with one percentile.

By sysbench's source (sb_timer_stop) a time begins with an operation's place in the queue that `--rate` fills, so it
counts from the schedule; without `--rate` there is no queue.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from math import exp, isfinite, log
from statistics import median
from typing import NamedTuple

from plimsoll.analysis.logs.formats.reading import (
    Reading,
    ReadOptions,
    RunFile,
    Sample,
    cut_line_note,
    failures_at,
    of_samples,
    only_one,
)
from plimsoll.analysis.logs.formats.units import FoundUnit, rank_remarks, unit_of
from plimsoll.analysis.logs.operations import ODD_LENGTH
from plimsoll.domain.keys.log_words import COORDINATED_OMISSION
from plimsoll.domain.text.errors import LogError


def _note_cut(error: LogError, file: RunFile, number: int, lines: Sequence[str], notes: list[str]) -> None:
    """Note that a damaged line is the last one and cut short. Raises the error where it is neither."""
    if number < len(lines) or lines[-1].endswith("\n"):
        raise error
    notes.append(cut_line_note(file.name, number))


def _gave_up(file: RunFile, words: str) -> str:
    """Return why the tool ended before its time, by the line that begins with these words; empty where none does."""
    told = re.search(rf"(?m)^{words}.*", file.text)
    return f"{file.name}: the tool gave up, and what was due then is not known: {told[0].strip()[:100]}" if told else ""


def _require_later(end_s: float, before_s: float, where: str, mend: str) -> None:
    if not end_s > before_s:
        raise LogError("the seconds do not go on: several runs in one output", where=where, mend=mend)


_HEAD = re.compile(r"^type,?\s+total ops\s*,.*\btime\b.*$", re.MULTILINE)
_PERCENTILES = {"med": 50.0, ".95": 95.0, ".99": 99.0, ".999": 99.9, "max": 100.0}
_CASSANDRA = FoundUnit("ms", "cassandra-stress' console is in ms")
_MEND = "give cassandra-stress' whole output; `-log hdrfile=X` writes histograms, by which every percentile is judged"
_REMARKS = (
    "cassandra-stress times operations that failed or were tried again like others: errors count as latencies",
    "its console does not say whether times count from the schedule, as with `-rate fixed=`, or from the send "
    f"{COORDINATED_OMISSION}",
)


class _Total(NamedTuple):
    """A line of all operations: `total` since the run's begin, the other figures of the time since the line before."""

    end_s: float
    total: int
    failed: int
    values_ms: Mapping[float, float]


class CassandraStressConsole:
    """Its percentiles are response times with `-rate fixed=`, which it does not say, else service times."""

    name = "cassandra-stress-console"
    title = "cassandra-stress console output"

    def recognises(self, file: RunFile) -> bool:
        return bool(_HEAD.search(file.head))

    def read(self, files: Sequence[RunFile], options: ReadOptions) -> Reading:
        """Return a sample for each line, and an empty one for each interval that has no line since nothing ended."""
        file, notes = only_one(files, "outputs"), list[str]()
        unit_of(options.unit, _CASSANDRA, file.name)
        rows = list(_totals(file, notes))
        if not rows:
            raise LogError("has no line of an interval", where=file.name, mend=_MEND)
        of_rows = list(_samples(file.name, rows))
        # In the middle of a row's own time, as its end is the begin of the next interval
        middles_s = [own[-1].start_s + own[-1].length_s / 2 for own in of_rows]
        at_s = zip(middles_s, (row.failed for row in rows), strict=True)
        samples = list(chain.from_iterable(of_rows))
        notes += _REMARKS
        for percentile in (95, 99, 99.9):
            notes += rank_remarks("cassandra-stress", percentile, [sample.count for sample in samples])
        failures = failures_at(file.name, "errors", at_s, among_times=True)
        # An operation that failed at all its tries ends the run, but with `-errors ignore`: StressAction
        reading = of_samples(self.title, _CASSANDRA, samples, failures, notes)
        return replace(reading, gave_up=_gave_up(file, r"FAILURE\b"))


def _totals(file: RunFile, notes: list[str]) -> Iterator[_Total]:
    names: list[str] = []
    lines = file.text.splitlines(keepends=True)
    before_s = 0.0
    for number, line in enumerate(lines, 1):
        where = f"{file.name}, line {number}"
        if _HEAD.match(line):
            names = ["type", *(name.strip() for name in line.removeprefix("type").lstrip(", ").split(","))]
        elif names and line.partition(",")[0].strip() == "total":
            try:
                row = _total(dict(zip(names, (cell.strip() for cell in line.split(",")), strict=True)))
            except (KeyError, ValueError):
                damaged = LogError("is a damaged line of an interval", where=where, mend=_MEND)
                _note_cut(damaged, file, number, lines, notes)
                return
            mend = "give the output of one run alone, with `-rate threads=` of one number"
            _require_later(row.end_s, before_s, where, mend)
            before_s = row.end_s
            yield row


def _samples(name: str, rows: Sequence[_Total]) -> Iterator[list[Sample]]:
    """Yield the samples of each line, its own as the last.

    A line is left out where nothing ended: the next one is of the usual time before it, and what comes before is empty.
    """
    usual_s = median(row.end_s - before.end_s for before, row in pairwise(rows)) if rows[1:] else rows[0].end_s
    for before, row in pairwise((_Total(0.0, 0, 0, {}), *rows)):
        start_s = before.end_s
        # Up to a damaged time there would be millions of empty samples
        if row.end_s - start_s > 10_000 * usual_s:
            what = f"a line comes {row.end_s - start_s:,.0f} s after the one before"
            raise LogError(what, where=name, mend=_MEND)
        empty = list[Sample]()
        while row.end_s - start_s > usual_s * (1 + ODD_LENGTH):
            empty.append(Sample(start_s, usual_s, "", 0, {}))
            start_s += usual_s
        count = row.total - before.total
        values = row.values_ms if count else {}
        off_ms = dict.fromkeys(values, 0.05)  # times have one decimal
        yield [*empty, Sample(start_s, row.end_s - start_s, "", count, values, off_ms=off_ms)]


def _total(cells: Mapping[str, str]) -> _Total:
    values = {percentile: float(cells[name]) for name, percentile in _PERCENTILES.items() if name in cells}
    if not all(map(isfinite, (float(cells["time"]), *values.values()))):
        raise ValueError("figures must be finite")
    return _Total(float(cells["time"]), int(cells["total ops"]), int(cells.get("errors", "0")), values)


_NUMBER = r"\d+(?:\.\d+)?"
_LINE = re.compile(
    rf"^\[ (?P<end>{_NUMBER})s \] thds: \d+ (?:tps|eps): (?P<rate>{_NUMBER})(?: qps: [^\n]*?)? "
    rf"lat \(ms,(?P<percentile>\d+)%\): (?P<ms>{_NUMBER})"
    rf"(?: err/s: (?P<errors>{_NUMBER}) reconn/s: (?P<reconnects>{_NUMBER}))?\r?$"
)
_OLD = re.compile(rf"(?m)^\[ *{_NUMBER}s\] threads: ")
_QUEUE = re.compile(rf"^\[ {_NUMBER}s \] queue length: (\d+), concurrency: \d+\r?$")
_BEGIN = re.compile(rf"^\[ {_NUMBER}s \] ")
_HALF_SLOT = exp(log(1e8) / 1023 / 2)
"""Half of a slot of sysbench's histogram, from 1 µs to 100 s in 1,024 slots: a value may be 0.9 % higher or lower."""
_ROUNDED_MS = 0.005
_WAITING_S = 1.0
"""The wait in the last queue from which its operations were not answered: every run ends with a few in it."""
_SYSBENCH = FoundUnit("ms", "sysbench writes ms")
_OMISSION = f"judged on service time: a stall hides the operations that were due in it {COORDINATED_OMISSION}"


class _Interval(NamedTuple):
    start_s: float
    end_s: float
    operations: int
    percentile: int
    ms: float
    failed: dict[str, int]
    queued: int | None = None


class Sysbench:
    """One percentile an interval: of response times with `--rate`, of service times without."""

    name = "sysbench"
    title = "sysbench console output"

    def recognises(self, file: RunFile) -> bool:
        return file.head.startswith("sysbench ") or any(_LINE.match(line) for line in file.head.splitlines()[:100])

    def read(self, files: Sequence[RunFile], options: ReadOptions) -> Reading:
        file, notes = only_one(files, "outputs"), list[str]()
        unit_of(options.unit, _SYSBENCH, file.name)
        rows = list(_intervals(file, notes))
        if not rows and _OLD.search(file.text):
            raise LogError("is of sysbench 0.5, which is not read", where=file.name, mend="take sysbench 1.0")
        if not rows:
            what = "has no line of an interval: the whole run hides intervals that missed"
            mend = "run sysbench with `--report-interval=10`, and `--percentile=99`"
            raise LogError(what, where=file.name, mend=mend)
        notes += [] if any(row.queued is not None for row in rows) else [_OMISSION]
        notes.append("sysbench tells one percentile of an interval (`--percentile`), to 0.9 %: others stay open")
        notes += rank_remarks("sysbench", rows[0].percentile, [row.operations for row in rows])
        failures = [
            failures_at(file.name, kind, [((row.start_s + row.end_s) / 2, row.failed.get(kind, 0)) for row in rows])
            for kind in dict.fromkeys(kind for row in rows for kind in row.failed)
        ]
        reading = of_samples(self.title, _SYSBENCH, map(_sample, rows), chain.from_iterable(failures), notes)
        return replace(reading, gave_up=_gave_up(file, "FATAL: "))


def _intervals(file: RunFile, notes: list[str]) -> Iterator[_Interval]:
    """Yield the intervals. What still waits in the queue after the last one was due and has no answer."""
    before_s, row = 0.0, None
    lines = file.text.splitlines(keepends=True)
    for number, line in enumerate(lines, 1):
        text, where = line.rstrip("\r\n"), f"{file.name}, line {number}"
        if match := _LINE.match(text):
            if row is not None:
                yield row
            end_s = float(match["end"])
            _require_later(end_s, before_s, where, "give the output of one run alone")
            row, before_s = _interval(match, before_s, end_s), end_s
        elif (queue := _QUEUE.match(text)) and row is not None:
            row = row._replace(queued=int(queue[1]))
        elif _BEGIN.match(text) and " thds: " in text:
            what = f"is a damaged line of an interval: {text[:60]!r}"
            _note_cut(LogError(what, where=where, mend="give sysbench's whole output"), file, number, lines, notes)
    if row is not None:
        rate = row.operations / (row.end_s - row.start_s)
        waits = row.queued if row.queued and row.queued >= _WAITING_S * rate else 0
        yield row._replace(failed={**row.failed, "left in sysbench's queue": waits}) if waits else row


def _interval(match: re.Match[str], start_s: float, end_s: float) -> _Interval:
    seconds = end_s - start_s
    failed = {kind: round(float(match[kind] or 0) * seconds) for kind in ("errors", "reconnects")}
    count = round(float(match["rate"]) * seconds)
    occurred = {kind: number for kind, number in failed.items() if number}
    return _Interval(start_s, end_s, count, int(match["percentile"]), float(match["ms"]), occurred)


def _sample(row: _Interval) -> Sample:
    # `--percentile=0` switches percentiles off
    length_s, known = row.end_s - row.start_s, row.percentile and row.operations
    values = {float(row.percentile): row.ms} if known else {}
    off_ms = dict.fromkeys(values, row.ms * (_HALF_SLOT - 1) + _ROUNDED_MS)
    return Sample(row.start_s, length_s, "", row.operations, values, off_ms=off_ms)
