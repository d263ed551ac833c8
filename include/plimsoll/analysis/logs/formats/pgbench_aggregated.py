"""pgbench, `--log --aggregate-interval=S`: a line for every interval, with the least and the greatest time in it."""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from plimsoll.analysis.logs.formats.failures import failures_at, totals
from plimsoll.analysis.logs.formats.reading import Reading, ReadOptions, RunFile, Sample, cut_line_note
from plimsoll.analysis.logs.formats.units import FoundUnit, unit_of
from plimsoll.analysis.logs.operations import Failures
from plimsoll.domain.errors import LogError
from plimsoll.domain.log_words import COORDINATED_OMISSION

_LINE = re.compile(r"1\d{9}( \d+){5}(( \d+){4}( \d+)?)?(( \d+){4})?\r?")
_OF_TIMES, _WITH_LAG, _WITH_SKIPPED, _WHOLE = 6, 10, 11, 15
"""Columns: up to release 14 those of the lag with `--rate`, then of skips with `--latency-limit`; since 15 all."""
_FAILED = {10: "skipped", 13: "serialization", 14: "deadlock"}
_UNIT = FoundUnit("us", "pgbench writes µs")
_US_PER_MS = 1000
_MEND = "give the log as pgbench wrote it; without `--aggregate-interval` it has every transaction"


class _Row(NamedTuple):
    start_s: int
    figures: Sequence[int]

    @property
    def skipped(self) -> int:
        return self.figures[_WITH_LAG] if len(self.figures) > _WITH_LAG else 0

    @property
    def answered(self) -> int:
        """Return the number of transactions that were answered; up to release 14 skipped ones are among them."""
        return self.figures[1] - (self.skipped if len(self.figures) < _WHOLE else 0)


class PgBenchAggregated:
    """The least and the greatest time decide an interval wherever they are on one side of the bound."""

    name = "pgbench-aggregated"
    title = "pgbench log of intervals"

    def recognises(self, file: RunFile) -> bool:
        """Recognise the log by its first line."""
        return bool(_LINE.fullmatch(file.head.partition("\n")[0]))

    def read(self, files: Sequence[RunFile], options: ReadOptions) -> Reading:
        """Return a sample for each interval of each thread's log."""
        unit_of(options.unit, _UNIT, files[0].name)
        notes: list[str] = []
        logs = {file.name: list(_rows(file, notes)) for file in files}
        rows = [row for of_file in logs.values() for row in of_file]
        failures = tuple(failures for name, of_file in logs.items() for failures in _failures(name, of_file))
        return Reading(
            title=self.title,
            unit=_UNIT.unit,
            unit_why=_UNIT.why,
            samples=tuple(sample for name, of_file in logs.items() for sample in _samples(name, of_file)),
            notes=(*notes, *_remarks(rows)),
            errors=totals(failures),
            failures=failures,
            started_at=datetime.fromtimestamp(min(row.start_s for row in rows), UTC),
        )


def _rows(file: RunFile, notes: list[str]) -> Iterator[_Row]:
    width = 0
    lines = file.text.splitlines(keepends=True)
    for number, line in enumerate(lines, 1):
        where = f"{file.name}, line {number}"
        if number == len(lines) and number > 1 and not line.endswith("\n"):
            notes.append(cut_line_note(file.name, number))
            return
        figures = [int(word) for word in line.split()] if _LINE.fullmatch(line.rstrip("\n")) else []
        if not figures or len(figures) != (width or len(figures)):
            raise LogError("is no line of pgbench's log of intervals", where=where, mend=_MEND)
        width = len(figures)
        yield _Row(figures[0], figures)


def _length_s(rows: Sequence[_Row]) -> float:
    """Return the length of the intervals; a log of one line does not tell it."""
    return float(median(later.start_s - row.start_s for row, later in pairwise(rows))) if len(rows) > 1 else 1.0


def _samples(name: str, rows: Sequence[_Row]) -> Iterator[Sample]:
    length_s = _length_s(rows)
    for row in rows:
        least, most = (figure / _US_PER_MS for figure in row.figures[4:_OF_TIMES])
        values = {0.0: least, 100.0: most} if row.answered else {}
        yield Sample(row.start_s, length_s, "", row.answered, values, name)


def _failures(name: str, rows: Sequence[_Row]) -> Iterator[Failures]:
    middle_s = _length_s(rows) / 2
    for column, kind in _FAILED.items():
        known = (row for row in rows if len(row.figures) > column)
        yield from failures_at(name, kind, ((row.start_s + middle_s, row.figures[column]) for row in known))


def _remarks(rows: Sequence[_Row]) -> Iterator[str]:
    has_lag = any(sum(row.figures[_OF_TIMES:_WITH_LAG]) for row in rows)
    if not has_lag:
        yield f"judged on service time: a stall hides the operations that were due in it {COORDINATED_OMISSION}"
    yield "pgbench tells the least and the greatest time of an interval: with the bound between them it stays open"
