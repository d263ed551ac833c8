"""sysbench, `--report-interval=S`: a line for every interval, with one percentile.

By its source (sb_timer_stop) a time begins with an operation's place in the queue that `--rate` fills, so it counts
from the schedule; without `--rate` there is no queue.
"""

import re
from collections.abc import Iterator, Sequence
from math import exp, log
from typing import NamedTuple

from plimsoll.analysis.logs.formats.reading import (
    Reading,
    ReadOptions,
    RunFile,
    Sample,
    cut_line_note,
    failures_at,
    only_one,
    totals,
)
from plimsoll.analysis.logs.formats.units import FoundUnit, rank_remarks, unit_of
from plimsoll.analysis.logs.operations import Failures
from plimsoll.domain.keys.log_words import COORDINATED_OMISSION
from plimsoll.domain.text.errors import LogError

_NUMBER = r"\d+(?:\.\d+)?"
_LINE = re.compile(
    rf"^\[ (?P<end>{_NUMBER})s \] thds: \d+ (?:tps|eps): (?P<rate>{_NUMBER})(?: qps: [^\n]*?)? "
    rf"lat \(ms,(?P<percentile>\d+)%\): (?P<ms>{_NUMBER})"
    rf"(?: err/s: (?P<errors>{_NUMBER}) reconn/s: (?P<reconnects>{_NUMBER}))?\r?$"
)
_QUEUE = re.compile(rf"^\[ {_NUMBER}s \] queue length: (\d+), concurrency: \d+\r?$")
_BEGIN = re.compile(rf"^\[ {_NUMBER}s \] ")
_UNIT = FoundUnit("ms", "sysbench writes ms")
_HALF_SLOT = exp(log(1e8) / 1023 / 2)
"""Half of a slot of sysbench's histogram, from 1 µs to 100 s in 1,024 slots: a value may be 0.9 % higher or lower."""
_ROUNDED_MS = 0.005
_WAITING_S = 1.0
"""The wait in the last queue from which its operations were not answered: every run ends with a few in it."""
_MEND = "give sysbench's whole output"
_OMISSION = f"judged on service time: a stall hides the operations that were due in it {COORDINATED_OMISSION}"


class _Row(NamedTuple):
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
        file = only_one(files, "outputs")
        unit_of(options.unit, _UNIT, file.name)
        notes: list[str] = []
        rows = list(_rows(file, notes))
        has_schedule = any(row.queued is not None for row in rows)
        if not rows:
            what = "has no line of an interval: the whole run hides intervals that missed"
            mend = "run sysbench with `--report-interval=10`, and `--percentile=99`"
            raise LogError(what, where=file.name, mend=mend)
        failures = tuple(_failures(file.name, rows))
        return Reading(
            title=self.title,
            unit=_UNIT.unit,
            unit_why=_UNIT.why,
            samples=tuple(map(_sample, rows)),
            notes=(
                *notes,
                *([] if has_schedule else [_OMISSION]),
                "sysbench tells one percentile of an interval (`--percentile`), to 0.9 %: others stay open",
                *rank_remarks("sysbench", rows[0].percentile, [row.operations for row in rows]),
            ),
            errors=totals(failures),
            failures=failures,
        )


def _rows(file: RunFile, notes: list[str]) -> Iterator[_Row]:
    """Yield the intervals. What still waits in the queue after the last one was due and has no answer."""
    before_s, row = 0.0, None
    lines = file.text.splitlines(keepends=True)
    for number, line in enumerate(lines, 1):
        text, where = line.rstrip("\r\n"), f"{file.name}, line {number}"
        if match := _LINE.match(text):
            if row is not None:
                yield row
            end_s = float(match["end"])
            if end_s <= before_s:
                what = "the seconds do not go on: several runs in one output"
                raise LogError(what, where=where, mend="give the output of one run alone")
            row, before_s = _row(match, before_s, end_s), end_s
        elif (queue := _QUEUE.match(text)) and row is not None:
            row = row._replace(queued=int(queue[1]))
        elif _BEGIN.match(text) and " thds: " in text:
            if number < len(lines) or line.endswith("\n"):
                raise LogError(f"is a damaged line of an interval: {text[:60]!r}", where=where, mend=_MEND)
            notes.append(cut_line_note(file.name, number))
    if row is not None:
        rate = row.operations / (row.end_s - row.start_s)
        waits = row.queued if row.queued and row.queued >= _WAITING_S * rate else 0
        yield row._replace(failed={**row.failed, "left in sysbench's queue": waits}) if waits else row


def _row(match: re.Match[str], start_s: float, end_s: float) -> _Row:
    seconds = end_s - start_s
    failed = {kind: round(float(match[kind] or 0) * seconds) for kind in ("errors", "reconnects")}
    count = round(float(match["rate"]) * seconds)
    occurred = {kind: number for kind, number in failed.items() if number}
    return _Row(start_s, end_s, count, int(match["percentile"]), float(match["ms"]), occurred)


def _sample(row: _Row) -> Sample:
    # `--percentile=0` switches percentiles off
    length_s, known = row.end_s - row.start_s, row.percentile and row.operations
    values = {float(row.percentile): row.ms} if known else {}
    off_ms = dict.fromkeys(values, row.ms * (_HALF_SLOT - 1) + _ROUNDED_MS)
    return Sample(row.start_s, length_s, "", row.operations, values, off_ms=off_ms)


def _failures(name: str, rows: Sequence[_Row]) -> Iterator[Failures]:
    for kind in dict.fromkeys(kind for row in rows for kind in row.failed):
        yield from failures_at(name, kind, (((row.start_s + row.end_s) / 2, row.failed.get(kind, 0)) for row in rows))
