"""cassandra-stress' console: a line for every interval, with percentiles of all its operations."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, pairwise
from math import isfinite
from statistics import median
from typing import NamedTuple

from plimsoll.analysis.logs.continuity import ODD_LENGTH
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
from plimsoll.domain.keys.log_words import COORDINATED_OMISSION
from plimsoll.domain.text.errors import LogError

_HEAD = re.compile(r"^type,?\s+total ops\s*,.*\btime\b.*$", re.MULTILINE)
_TOTAL = "total"
_PERCENTILES = {"med": 50.0, ".95": 95.0, ".99": 99.0, ".999": 99.9, "max": 100.0}
_ROUNDED_MS = 0.05
"""Times have one decimal."""
_MOST_EMPTY = 10_000
_UNIT = FoundUnit("ms", "cassandra-stress' console is in ms")
_MEND = "give cassandra-stress' whole output; `-log hdrfile=X` writes histograms, by which every percentile is judged"


_REMARKS = (
    "cassandra-stress times operations that failed or were tried again like others: errors count as latencies",
    "its console does not say whether times count from the schedule, as with `-rate fixed=`, or from the send "
    f"{COORDINATED_OMISSION}",
)


class _Row(NamedTuple):
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
        file = only_one(files, "outputs")
        unit_of(options.unit, _UNIT, file.name)
        notes: list[str] = []
        rows = list(_rows(file, notes))
        if not rows:
            raise LogError("has no line of an interval", where=file.name, mend=_MEND)
        of_rows = list(_samples(file.name, rows))
        # In the middle of a row's own time, as its end is the begin of the next interval
        middles_s = [own[-1].start_s + own[-1].length_s / 2 for own in of_rows]
        at_s = zip(middles_s, (row.failed for row in rows), strict=True)
        failures = tuple(failures_at(file.name, "errors", at_s, among_times=True))
        samples = tuple(chain.from_iterable(of_rows))
        counted = [sample.count for sample in samples]
        return Reading(
            title=self.title,
            unit=_UNIT.unit,
            unit_why=_UNIT.why,
            samples=samples,
            notes=(
                *notes,
                *_REMARKS,
                *(
                    note
                    for percentile in (95, 99, 99.9)
                    for note in rank_remarks("cassandra-stress", percentile, counted)
                ),
            ),
            errors=totals(failures),
            failures=failures,
        )


def _rows(file: RunFile, notes: list[str]) -> Iterator[_Row]:
    names: list[str] = []
    lines = file.text.splitlines(keepends=True)
    before_s = 0.0
    for number, line in enumerate(lines, 1):
        where = f"{file.name}, line {number}"
        if _HEAD.match(line):
            names = ["type", *(name.strip() for name in line.removeprefix("type").lstrip(", ").split(","))]
        elif names and line.partition(",")[0].strip() == _TOTAL:
            try:
                row = _row(dict(zip(names, (cell.strip() for cell in line.split(",")), strict=True)))
            except (KeyError, ValueError) as error:
                if number == len(lines) and not line.endswith("\n"):
                    notes.append(cut_line_note(file.name, number))
                    return
                raise LogError("is a damaged line of an interval", where=where, mend=_MEND) from error
            if not row.end_s > before_s:
                what = "the seconds do not go on: several runs in one output"
                mend = "give the output of one run alone, with `-rate threads=` of one number"
                raise LogError(what, where=where, mend=mend)
            before_s = row.end_s
            yield row


def _row(cells: Mapping[str, str]) -> _Row:
    values = {percentile: float(cells[name]) for name, percentile in _PERCENTILES.items() if name in cells}
    if not all(map(isfinite, (float(cells["time"]), *values.values()))):
        raise ValueError("figures must be finite")
    return _Row(float(cells["time"]), int(cells["total ops"]), int(cells.get("errors", "0")), values)


def _samples(name: str, rows: Sequence[_Row]) -> Iterator[list[Sample]]:
    """Yield the samples of each line, its own as the last.

    A line is left out where nothing ended: the next one is of the usual time before it, and what comes before is empty.
    """
    usual_s = median(row.end_s - before.end_s for before, row in pairwise(rows)) if len(rows) > 1 else rows[0].end_s
    begin = _Row(0.0, 0, 0, {})
    for before, row in pairwise((begin, *rows)):
        start_s = before.end_s
        # Up to a damaged time there would be millions of empty samples
        if row.end_s - start_s > _MOST_EMPTY * usual_s:
            raise LogError(f"a line comes {row.end_s - start_s:,.0f} s after the one before", where=name, mend=_MEND)
        empty = list[Sample]()
        while row.end_s - start_s > usual_s * (1 + ODD_LENGTH):
            empty.append(Sample(start_s, usual_s, "", 0, {}))
            start_s += usual_s
        count = row.total - before.total
        values = row.values_ms if count else {}
        off_ms = dict.fromkeys(values, _ROUNDED_MS)
        yield [*empty, Sample(start_s, row.end_s - start_s, "", count, values, off_ms=off_ms)]
