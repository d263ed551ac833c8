"""The operations of one file, a chunk at a time, as numbers."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from plimsoll.analysis.logs.formats.operation_log.rows import Layout, Row, RowReader, layout_of
from plimsoll.analysis.logs.formats.operation_log.values import Outcomes, numbers, seconds, unit_of_moments
from plimsoll.analysis.logs.formats.reading import RunFile
from plimsoll.analysis.logs.formats.selection import refuse_unknown_tags
from plimsoll.analysis.logs.formats.tools import Tool
from plimsoll.analysis.logs.hdr.histograms import Ints, Unit
from plimsoll.analysis.logs.operations import Floats
from plimsoll.domain.keys.log_words import SECONDS_OF, Column, Columns
from plimsoll.domain.text.errors import LogError
from plimsoll.domain.text.wording import meant_or_known

# The wide histogram counts values up to one hour
_LONGEST_S = 3600.0
_EXACT, _EXACT_BETWEEN = 1e-4, 0.5
"""The share of a µs that floating point may take from a whole number of them, and from one between two times."""
NAMED = "line", "operation"
"""What has a name in such a log, and what that names."""
_UNKNOWN_UNIT = "say it: `--unit ms` (or `us`, `ns`; of an import or a command, `unit:`), or `latency=NAME:s`"


class Chunk(NamedTuple):
    """Some rows. `failed`: the kind of each row's failure, empty where it was answered; `counts`: how many operations
    each row stands for.
    """

    lines: Ints
    names: Sequence[str]
    starts_s: Floats
    ends_s: Floats
    latencies_us: Ints
    failed: Sequence[str]
    is_failed: npt.NDArray[np.bool_]
    counts: Sequence[int]


@dataclass
class Parser:
    """Reads one file.

    `unit` is that of latencies, where the columns do not tell it. `is_strict`: all of the columns must be there, not
    only those that are needed. `tags`: the names of operations that the user asks for; all where it is empty. `seen`:
    some of the operations of the rows read so far, where the user asks for some.
    """

    file: RunFile
    columns: Columns
    unit: Unit | None
    tool: Tool
    tags: Sequence[str]
    notes: list[str]
    is_strict: bool = False
    seen: set[str] = field(default_factory=set)
    _by_values: dict[frozenset[str], Outcomes] = field(default_factory=dict)
    _there: set[Column] = field(default_factory=set)
    """The columns that some line of JSON has."""

    @cached_property
    def is_row(self) -> Callable[[str], object] | None:
        return re.compile(self.tool.rows).match if self.tool.rows else None

    @cached_property
    def layout(self) -> Layout:
        return layout_of(self.file, self.columns, self.is_row)

    def chunks(self) -> Iterator[Chunk]:
        """Yield all operations, chunk by chunk; none is empty."""
        places = {column: index for index, column in enumerate(self._wanted)}
        if self.columns.operation not in places:
            refuse_unknown_tags(self.tags, (), self.file.name, *NAMED)
        units: list[str] = []
        own = self.columns
        # If these columns are there, some row has a text in them. That of errors may be empty: none may have occurred.
        empty = {column for column in (own.operation, own.only, *own.ok[:1]) if column and column in places}
        for rows in self._rows(places):
            if rows:
                units = units or self._units(rows[0])
                empty = {column for column in empty if not any(row[1][places[column]] for row in rows)}
                yield self._chunk(rows, units, places)
        if not units and any(self.seen):
            refuse_unknown_tags(self.tags, sorted(self.seen), self.file.name, *NAMED)
        # A column of CSV is in its header or nowhere; of JSON any line may have it, so only the end tells
        if empty and self.is_strict and self.layout.is_json:
            raise self._lacks(min(empty))

    @cached_property
    def latency_unit(self) -> str:
        """Return the unit of the latencies. Raises LogError where nothing tells it."""
        if self.columns.latency is None:
            return ""
        name, unit = self.columns.latency
        if unit and self.unit and unit != self.unit:
            what = f"its latencies are in {unit}, by the name or the unit of column {name}, not in {self.unit}"
            raise LogError(what, where=self.file.name, mend="leave `--unit` out (of an import, `unit:`)")
        if not unit and not self.unit:
            what = f"does not say the unit of its latencies, column {name}"
            raise LogError(what, where=self.file.name, mend=_UNKNOWN_UNIT)
        return unit or str(self.unit)

    @property
    def tells_failures(self) -> bool:
        """Return whether a column says what was answered, as far as the columns name one."""
        telling = [*self.columns.ok, *([self.columns.error] if self.columns.error else [])]
        # Any line of JSON may have it: known once all are read
        return not telling or any(map(self._there.__contains__ if self.layout.is_json else self.layout.has, telling))

    @cached_property
    def _wanted(self) -> list[Column]:
        """Return the columns to read, those of numbers first; of the others those that are there."""
        columns = self.columns
        others = (columns.operation, columns.error, columns.only, *columns.ok)
        there = [column for column in others if column and self.layout.has(column)]
        lacking = [column for column in others if column and column not in there]
        if lacking and self.is_strict:
            raise self._lacks(lacking[0])
        return list(dict.fromkeys([*columns.moments.values(), *([columns.latency] if columns.latency else []), *there]))

    def _rows(self, places: Mapping[Column, int]) -> Iterator[list[Row]]:
        columns, counted = self.columns, re.compile(self.tool.counted)
        for rows in RowReader(self.file, self.layout, self._wanted, self.is_row, self.notes, self._there).chunks():
            kept = rows
            if columns.only:
                index, values = places[columns.only], columns.only_values
                kept = [row for row in kept if row[1][index] in values]
            if columns.operation is not None and columns.operation in places:
                index = places[columns.operation]
                if self.tags:
                    new = {row[1][index] for row in kept} - self.seen
                    self.seen.update(islice(new, 100 - len(self.seen)))
                    kept = [row for row in kept if row[1][index] in self.tags or self.tool.fails(row[1][index])]
                elif self.tool.counted:
                    kept = [row for row in kept if counted.fullmatch(row[1][index])]
            yield kept

    def _lacks(self, column: Column) -> LogError:
        known = self.layout.keys
        mend = meant_or_known(column.name, known, lead="there is") if known else "name a key that its lines have"
        return LogError(f"has no column {column.name}", where=self.file.name, mend=mend)

    def _units(self, first: Row) -> list[str]:
        number, texts = first
        where = f"{self.file.name}, line {number}"
        moments = zip(self.columns.moments.items(), texts, strict=False)
        units = [unit_of_moments(column, role, text, where) for (role, column), text in moments]
        return [*units, self.latency_unit] if self.columns.latency else units

    def _chunk(self, rows: list[Row], units: list[str], places: Mapping[Column, int]) -> Chunk:
        lines, texts = zip(*rows, strict=True)
        by_column = list(zip(*texts, strict=True))
        nothing = ("",) * len(rows)

        def texts_of(column: Column | None) -> Sequence[str]:
            return by_column[places[column]] if column is not None and column in places else nothing

        columns_of_moments = zip(self.columns.moments.values(), units, strict=False)
        moments = [seconds(texts_of(column), unit) for column, unit in columns_of_moments]
        names, errors = texts_of(self.columns.operation), texts_of(self.columns.error)
        oks = [texts_of(column) for column in self.columns.ok]
        failed = self._failed(lines, names, list(zip(*oks, errors, strict=True)))
        starts_s, ends_s, took_s, counts = self._spans(moments, texts_of(self.columns.latency), units[-1], names)
        is_failed = np.array([bool(kind) for kind in failed])
        is_length = (took_s >= 0) & (took_s <= _LONGEST_S)
        # Negated, since NaN, which stands for what is no number, must be bad and compares as false
        bad = ~(np.abs(moments[0]) < 5e9) | ~(is_failed | is_length)  # up to the year 2128
        if bad.any():
            row = int(bad.argmax())
            raise self._error(lines[row], [column[row] for column in by_column[: len(units)]], took_s[row])
        # A failure may have no latency: it begins and ends at the one time that its row tells
        starts_s, ends_s = (np.where(is_length, times, moments[0]) for times in (starts_s, ends_s))
        exact = _EXACT if self.columns.latency else _EXACT_BETWEEN
        took_us = np.floor(np.where(is_failed, 0.0, took_s) * 1e6 + exact).astype(np.int64)
        return Chunk(np.array(lines), names, starts_s, ends_s, took_us, failed, is_failed, counts)

    def _spans(
        self, moments: list[Floats], texts: Sequence[str], unit: str, names: Sequence[str]
    ) -> tuple[Floats, Floats, Floats, Sequence[int]]:
        """Return starts, ends and latencies in s, and how many operations each row stands for."""
        counts = [1] * len(texts)
        if self.columns.latency is None:
            starts_s, ends_s = moments
            return starts_s, ends_s, ends_s - starts_s, counts
        took_s = numbers(texts) * SECONDS_OF[unit]
        if self.tool.has_counts:
            failing = {name for name in set(names) if self.tool.fails(name)}
            for row, name in enumerate(names):
                if name in failing:
                    counts[row], took_s[row] = max(0, int(float(texts[row]))), 0.0
        [moment_s] = moments
        if "end" in self.columns.moments:
            return moment_s - took_s, moment_s, took_s, counts
        return moment_s, moment_s + took_s, took_s, counts

    def _outcomes(self, name: str) -> Outcomes:
        columns = self.columns
        values = (self.tool.answers(name) if self.tool.answers else None) or columns.ok_values
        column = next((column.name for column in columns.ok if self.layout.has(column)), "")
        has_errors = columns.error is not None and self.layout.has(columns.error)
        return self._by_values.setdefault(values, Outcomes(values, column, has_errors=has_errors))

    def _failed(self, lines: Sequence[int], names: Sequence[str], outcomes: Sequence[tuple[str, ...]]) -> list[str]:
        of_names = {name: self._outcomes(name) for name in set(names)}
        failed: list[str] = []
        try:
            failed += (of_names[name][texts] for name, texts in zip(names, outcomes, strict=True))
        except LogError as error:
            where = f"{self.file.name}, line {lines[len(failed)]}"
            raise LogError(error.what, where=where, mend=error.mend) from error
        by_name = {name: self.tool.fails(name) for name in set(names)}
        if any(by_name.values()):
            failed = [by_name[name] or kind for name, kind in zip(names, failed, strict=True)]
        return failed

    def _error(self, line: int, texts: Sequence[str], took_s: float) -> LogError:
        where = f"{self.file.name}, line {line}"
        shown = ", ".join(f"{text[:40]!r}" for text in texts)
        if took_s > _LONGEST_S:
            return LogError(f"a latency of {took_s:,.0f} s", where=where, mend="check the unit of latencies")
        what = "a latency below zero" if took_s < 0 else "holds no time, or no latency"
        return LogError(f"{what}: {shown}", where=where, mend="give the log as it was written")
