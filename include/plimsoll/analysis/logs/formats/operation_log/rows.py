"""The rows of a log of operations, a chunk at a time: lines of CSV, with or without a header, or of JSON."""

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from io import BytesIO, StringIO, TextIOWrapper
from itertools import islice
from operator import itemgetter
from typing import Any, NamedTuple

from plimsoll.analysis.logs.formats.operation_log.values import is_moment
from plimsoll.analysis.logs.formats.reading import RunFile, cut_line_note
from plimsoll.analysis.logs.unpacking import unpacked
from plimsoll.domain.keys.log_words import Column, Columns
from plimsoll.domain.text.errors import LogError
from plimsoll.domain.text.wording import plural

_LONGEST_LINE = 1 << 20
_DELIMITERS = ",\t;| "
_SHOWN = 60
_MEND = "give the log as it was written; `--columns` says which of its columns holds what"

Row = tuple[int, Sequence[str]]
"""The number of a line, and the texts of the columns."""


class Layout(NamedTuple):
    """How the lines of a file are divided. `keys`: what stands in the first line of CSV, a header or not."""

    is_json: bool
    delimiter: str = ""
    keys: Sequence[str] = ()
    has_header: bool = False

    def has(self, column: Column) -> bool:
        """Tell whether a line has the column; of JSON, any line may."""
        return self.is_json or place(column, self.keys) is not None


def layout_of(file: RunFile, columns: Columns, is_row: Callable[[str], object] | None) -> Layout:
    """Return how a file's lines are divided, by which its columns are found: as its first row shows.

    Raises LogError where the needed columns are not there.
    """
    line = _first(file.head, is_row) or _first(file.text if is_row else "", is_row)
    if line.lstrip().startswith("{"):
        return Layout(is_json=True)
    divided = {delimiter: _divided(line, delimiter) for delimiter in columns.delimiter or _DELIMITERS}
    for delimiter, keys in divided.items():
        places = [place(column, keys) for column in columns.needed]
        if None not in places:
            named = any(column.name in keys and not column.name.isdecimal() for column in columns.needed)
            return Layout(False, delimiter, keys, named or not is_moment(keys[places[0] or 0]))
    there = max(divided.values(), key=len)
    missing = ", ".join(column.name for column in columns.needed if place(column, there) is None)
    shown = ", ".join(there)[: 4 * _SHOWN]
    raise LogError(f"has no column {missing} in its first line: {shown}", where=f"{file.name}, line 1", mend=_MEND)


@dataclass(frozen=True)
class RowReader:
    """Reads the wanted columns, at least two, of a file's rows.

    `is_row` tells the lines that are rows, where a file has others too. A last line that is cut short is left out, and
    `notes` gets a remark. `there` gets the wanted columns that some line of JSON has, if only with an empty value.
    """

    file: RunFile
    layout: Layout
    wanted: Sequence[Column]
    is_row: Callable[[str], object] | None
    notes: list[str]
    there: set[Column]

    def chunks(self) -> Iterator[list[Row]]:
        """Yield the texts of the wanted columns, many rows at once. Raises LogError where one misses."""
        data, _ = unpacked(self.file.data, self.file.name)
        # As the csv module asks for it: a quoted text may hold line ends, such as JMeter's messages
        stream = TextIOWrapper(BytesIO(data), "utf-8", errors="replace", newline="")
        read = self._json_rows if self.layout.is_json else self._csv_rows
        rows = read(self._lines(stream), whole=data.endswith(b"\n"))
        while chunk := list(islice(rows, 1 << 15)):  # so many are in memory at once
            yield chunk

    def _lines(self, stream: TextIOWrapper) -> Iterator[tuple[int, str]]:
        for number, line in enumerate(iter(partial(stream.readline, _LONGEST_LINE), ""), 1):
            if len(line) >= _LONGEST_LINE:
                what = f"is longer than {_LONGEST_LINE:,} characters"
                raise LogError(what, where=f"{self.file.name}, line {number}", mend=_MEND)
            if self.is_row is None or self.is_row(line):
                yield number, line

    def _csv_rows(self, lines: Iterator[tuple[int, str]], *, whole: bool) -> Iterator[Row]:
        """Yield the rows. Each is held until the next one shows that it is not the last."""
        number = 0

        # The reader's own count of lines would leave out those that are no rows
        def texts() -> Iterator[str]:
            nonlocal number
            for number, text in lines:  # noqa: B007 - the reader's caller asks for it
                yield text

        delimiter, keys = self.layout.delimiter, self.layout.keys
        self._refuse_twice_named()
        # Of a single column `itemgetter` would return no tuple: hence at least two
        pick = itemgetter(*(place(column, keys) for column in self.wanted))
        # Between tabs and spaces quotation marks are plain text, as in Gatling's messages
        quote = None if delimiter in "\t " else '"'
        # Columns that are aligned by several spaces have no empty ones between them
        source = (" ".join(text.split()) for text in texts()) if delimiter == " " else texts()
        held: Row | None = None
        is_header = self.layout.has_header
        try:
            for row in csv.reader(source, delimiter=delimiter, quotechar=quote, skipinitialspace=True):
                if is_header or not row:
                    is_header = is_header and not row
                    continue
                self._require_described(number, len(row))
                if held is not None:
                    yield held[0], pick(held[1])
                held = number, row
            if held is not None and whole:
                yield held[0], pick(held[1])
        except csv.Error as error:
            where = f"{self.file.name}, line {number}"
            raise LogError(f"can't be read as CSV ({error})", where=where, mend=_MEND) from error
        except IndexError as error:
            raise self._garbage(held[0] if held else number, delimiter.join(held[1] if held else ())) from error
        if held is not None and not whole:
            self.notes.append(cut_line_note(self.file.name, held[0]))

    def _refuse_twice_named(self) -> None:
        for name in (column.name for column in self.wanted if not column.name.isdecimal()):
            if self.layout.keys.count(name) > 1:
                mend = "say which is meant by its number, from 1"
                raise LogError(f"has several columns {name}", where=f"{self.file.name}, line 1", mend=mend)

    def _json_rows(self, lines: Iterator[tuple[int, str]], *, whole: bool) -> Iterator[Row]:
        paths = [(column.name, column.name.split(".")) for column in self.wanted]
        held: tuple[int, str] | None = None
        for number, line in lines:
            if not line.strip():
                continue
            if held is not None:
                raise self._garbage(*held)
            try:
                content = json.loads(line)
            except (ValueError, RecursionError):
                held = number, line
                continue
            if not isinstance(content, dict):
                raise self._garbage(number, line)
            self.there.update(
                column for column in self.wanted if column not in self.there and _has(content, column.name)
            )
            yield number, [_text(content, *path) for path in paths]
        if held is not None:
            if whole:
                raise self._garbage(*held)
            self.notes.append(cut_line_note(self.file.name, held[0]))

    def _require_described(self, number: int, fields: int) -> None:
        """Raise LogError where a header has fewer fields: which of the row's belongs to which column is unknown."""
        if self.layout.has_header and fields > len(self.layout.keys):
            what = f"has {plural(fields, 'field')}, the header {len(self.layout.keys)}"
            mend = "quote texts that hold the delimiter, as CSV does, or write the log with another one"
            raise LogError(what, where=f"{self.file.name}, line {number}", mend=mend)

    def _garbage(self, number: int, line: str) -> LogError:
        shown = line.strip()
        shown = repr(shown[:_SHOWN] + ("…" if len(shown) > _SHOWN else ""))
        where = f"{self.file.name}, line {number}"
        return LogError(f"is no line of a log of operations: {shown}", where=where, mend=_MEND)


def _has(content: object, name: str) -> bool:
    """Tell whether an object of JSON has a key of that name, or as its first words say, those inside of others."""
    first, _, rest = name.partition(".")
    return isinstance(content, dict) and (name in content or (bool(rest) and _has(content.get(first), rest)))


def first_keys(file: RunFile) -> Sequence[str]:
    """Return the names in the first line: of a header, or the keys of JSON. Empty where it has none."""
    line = _first(file.head, None).strip()
    if line.startswith("{"):
        try:
            return list(json.loads(line))
        except (ValueError, RecursionError):
            return ()
    return max((_divided(line, delimiter) for delimiter in _DELIMITERS), key=len)


def place(column: Column, keys: Sequence[str]) -> int | None:
    """Return the place of a column: by its number, or by its name in the first line. None where it is not there."""
    if column.name.isdecimal():
        return int(column.name) - 1 if 0 < int(column.name) <= len(keys) else None
    return keys.index(column.name) if column.name in keys else None


def _text(content: dict[str, Any], key: str, path: Sequence[str]) -> str:
    value: Any = content.get(key)
    if value is None and len(path) > 1:
        value = content
        for part in path:
            value = value.get(part) if isinstance(value, dict) else None
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)


def _first(text: str, is_row: Callable[[str], object] | None) -> str:
    lines = (line for line in StringIO(text) if line.strip() and (is_row is None or is_row(line)))
    return next(lines, "").rstrip("\r\n")


def _divided(line: str, delimiter: str) -> list[str]:
    if delimiter == " ":
        return line.split()
    try:
        names = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
    except csv.Error:  # no CSV: it has no such columns
        names = []
    return [name.strip() for name in names]
