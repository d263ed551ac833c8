"""pgbench, `--log --aggregate-interval=S`: a line for every interval, with the least and the greatest time in it.

When pgbench's transactions were due: by a schedule (`--rate`), or as soon as their client was free.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from statistics import median
from typing import NamedTuple

import numpy as np

from plimsoll.analysis.logs.formats.pgbench_lines import FAILED, Flags, Lines
from plimsoll.analysis.logs.formats.reading import (
    Reading,
    ReadOptions,
    RunFile,
    Sample,
    cut_line_note,
    failures_at,
    of_samples,
)
from plimsoll.analysis.logs.formats.units import FoundUnit, unit_of
from plimsoll.analysis.logs.operations import Failures, Floats
from plimsoll.domain.keys.log_words import COORDINATED_OMISSION
from plimsoll.domain.text.errors import LogError

_LINE = re.compile(r"1\d{9}( \d+){5}(( \d+){4}( \d+)?)?(( \d+){4})?\r?")
_OF_TIMES, _WITH_LAG, _WITH_SKIPPED, _WHOLE = 6, 10, 11, 15
"""Columns: up to release 14 those of the lag with `--rate`, then of skips with `--latency-limit`; since 15 all."""
_FAILED = {10: "skipped", 13: "serialization", 14: "deadlock"}
_UNIT = FoundUnit("us", "pgbench writes µs")
_OPEN = "pgbench tells the least and the greatest time of an interval: with the bound between them it stays open"
_OMISSION = f"judged on service time: a stall hides the operations that were due in it {COORDINATED_OMISSION}"
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
        return bool(_LINE.fullmatch(file.head.partition("\n")[0]))

    def read(self, files: Sequence[RunFile], options: ReadOptions) -> Reading:
        """Return a sample for each interval of each thread's log."""
        unit_of(options.unit, _UNIT, files[0].name)
        notes: list[str] = []
        logs = {file.name: list(_rows(file, notes)) for file in files}
        rows = [row for of_file in logs.values() for row in of_file]
        failed = (failures for name, of_file in logs.items() for failures in _failures(name, of_file))
        samples = (sample for name, of_file in logs.items() for sample in _samples(name, of_file))
        notes += [] if any(sum(row.figures[_OF_TIMES:_WITH_LAG]) for row in rows) else [_OMISSION]
        started_at = datetime.fromtimestamp(min(row.start_s for row in rows), UTC)
        return replace(of_samples(self.title, _UNIT, samples, failed, [*notes, _OPEN]), started_at=started_at)


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
        least, most = (figure / 1000 for figure in row.figures[4:_OF_TIMES])
        values = {0.0: least, 100.0: most} if row.answered else {}
        yield Sample(row.start_s, length_s, "", row.answered, values, name)


def _failures(name: str, rows: Sequence[_Row]) -> Iterator[Failures]:
    middle_s = _length_s(rows) / 2
    for column, kind in _FAILED.items():
        known = (row for row in rows if len(row.figures) > column)
        yield from failures_at(name, kind, ((row.start_s + middle_s, row.figures[column]) for row in known))


_FEW, _RARELY = 5, 0.1
"""Of a real run's lags 0.1 % were below this; of numbers of tries 35 %, of transactions in each other's way."""
_NO_WAIT_S = 0.001


class Due(NamedTuple):
    """Some lines, with when their transactions were due and began, s since the epoch."""

    lines: Lines
    due_s: Floats
    begun_s: Floats


class LagSigns:
    """What tells a lag behind a schedule from a number of tries, which stands in the same column."""

    def __init__(self) -> None:
        self.has_seventh = self._is_certain = self._lacks_some = self._is_early = False
        self._answered = self._small = self._waits = self._short = 0

    def add(self, lines: Lines) -> None:
        answered, has_lag = lines.is_answered, ~np.isnan(lines.lag)
        self.has_seventh |= bool(has_lag.any())
        # Only what has a schedule is skipped; and only behind a lag a number of tries is the eighth column
        self._is_certain |= bool((lines.kind == FAILED.index("skipped")).any() or not np.isnan(lines.tries).all())
        # A lag is 0 where nothing was answered, while a number of tries is not
        self._lacks_some |= bool(not has_lag.all() or (lines.lag[~answered] > 0).any())
        self._answered += int(answered.sum())
        self._small += int((lines.lag[answered] < _FEW).sum())
        waits_s = lines.at_s - lines.us / 1e6 - lines.before_s
        self._waits += int((~np.isnan(waits_s)).sum())
        self._short += int((waits_s < _NO_WAIT_S).sum())
        self._is_early |= bool((waits_s < -_NO_WAIT_S).any())

    @property
    def shows_lag(self) -> bool:
        """Tell whether the transactions have a scheduled start, from which their times then count.

        A number of tries is often a small one. Only a transaction with a schedule is skipped, or starts before its
        client's last one ended. Where none was late, clients waited for their turn.
        """
        if self._is_certain:
            return True
        if self._lacks_some or not self._answered or self._small > _RARELY * self._answered:
            return False
        return self._is_early or not self._short > self._waits / 2


def due(chunks: Iterable[Lines], *, has_lag: bool) -> Iterator[Due]:
    """Yield all lines with when their transactions were due.

    Without a schedule, that is when they began: what was not answered as soon as the one before had ended.
    """
    if has_lag:
        yield from _by_schedule(chunks)
        return
    for lines in chunks:
        free_s = np.where(np.isnan(lines.before_s), lines.at_s, lines.before_s)
        yield _due(lines, np.where(lines.is_answered, lines.at_s - lines.us / 1e6, free_s), np.zeros(len(free_s)))


def _by_schedule(chunks: Iterable[Lines]) -> Iterator[Due]:
    """Yield the lines once it is known when they were due.

    A client takes the times of a schedule in their order. So those that were not answered were due between the ones
    before and after them, and are spread evenly there. What follows a client's last answer waits for its next one.
    """
    held = fresh = None
    for lines in chunks:
        fresh = lines if fresh is None else fresh.then(lines)
        if held is None or len(fresh.client) >= len(held.client):  # so that a long wait is not looked at too often
            held, fresh = fresh if held is None else held.then(fresh), None
            waiting = _waiting(held)
            settled, held = _between_answers(held, ~waiting), held.at(waiting)
            if len(settled.due_s):
                yield settled
    rest = held if fresh is None else fresh if held is None else held.then(fresh)
    if rest is not None:
        yield _between_answers(rest, np.ones(len(rest.client), dtype=np.bool_))


def _waiting(lines: Lines) -> Flags:
    """Return which lines are their clients' last answers so far, or stand after them."""
    begins = np.diff(lines.client, prepend=-1) != 0
    begin = np.maximum.accumulate(np.where(begins, np.arange(len(begins)), 0))
    last = np.where(lines.is_answered, np.arange(len(begins)), begin)
    ends = np.append(np.flatnonzero(begins)[1:], len(begins)) - 1
    newest = np.maximum.accumulate(last)[ends]
    return np.arange(len(begins)) >= np.repeat(newest, np.diff(ends, prepend=-1))


def _between_answers(lines: Lines, wanted: Flags) -> Due:
    """Return the wanted lines; those before and after a client's lines are of others."""
    due_s = np.where(lines.is_answered, lines.at_s - lines.us / 1e6, lines.at_s)
    is_last = np.diff(lines.client, append=-1) != 0
    known = lines.is_answered | np.isnan(lines.before_s) | is_last
    places = np.arange(len(due_s))
    # What was skipped had been due by then, even if the next transaction was due much later
    due_s = np.minimum(lines.at_s, np.interp(places, places[known], due_s[known]))
    return _due(lines.at(wanted), due_s[wanted], np.nan_to_num(lines.lag[wanted]) / 1e6)


def _due(lines: Lines, due_s: Floats, lag_s: Floats) -> Due:
    """Return the lines with when their transactions began; those that failed began once their client was free."""
    # `fmax` passes over NaN: a client's first transaction has none before it
    return Due(lines, due_s, np.where(lines.is_answered, due_s + lag_s, np.fmax(due_s, lines.before_s)))
