"""Read HdrHistogram interval logs of any version into records. Only the lines are read; histograms stay encoded."""

import math
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from plimsoll.analysis.payload import is_complete
from plimsoll.analysis.unpacking import unpacked
from plimsoll.domain.errors import LogError

_HEADER = re.compile(rb"#\[(StartTime|BaseTime): *([0-9.]+)")
_HASH, _QUOTE = b'#"'
_YEAR_S = 365 * 24 * 3600.0
_LONGEST_HEAD = 400
MOST_LINES = 5_000_000
"""Of a log: a record a second of twenty operations for nearly three days; each takes some hundred bytes of memory."""
_MEND = "give the interval log as HistogramLogWriter (or `--hdr`) wrote it, plain or gz"


class Record(NamedTuple):
    """One histogram: its start (s since the epoch, if the log gives that), its length (s), payload and line.

    `told_max`: Interval_Max, the highest value as the log states it, usually in ms; None where it is missing or
    unreadable.
    """

    tag: str
    start_s: float
    length_s: float
    payload: memoryview
    line: int
    told_max: float | None = None


@dataclass(frozen=True)
class HistogramLog:
    """An interval log. `notes` name defects that did not prevent reading it; `comments` are all of its `#` lines."""

    name: str
    records: tuple[Record, ...]
    started_at_s: float | None
    comments: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def by_tag(self) -> dict[str, tuple[Record, ...]]:
        """The records of each tag in the order written. Records without a tag are under the empty text."""
        tags: dict[str, list[Record]] = {}
        for record in self.records:
            tags.setdefault(record.tag, []).append(record)
        return {tag: tuple(records) for tag, records in tags.items()}


class _Line(NamedTuple):
    """The position of a line. Payloads are most of a log, so they are referenced and never copied."""

    number: int
    start: int
    end: int
    complete: bool


def read_log(data: bytes, name: str) -> HistogramLog:
    """Read a whole log, plain or gz; `name` is for messages.

    An incomplete last line is left out and noted. Raises LogError on any other line that does not belong in a log, on a
    second StartTime or BaseTime, and when there is no record.
    """
    text, cut_short = unpacked(data, name)
    comments, lines = _divided(text, name)
    times = _times(comments, name)
    records = tuple(_records(text, lines, times, name))
    if not records:
        raise LogError("holds no interval record", where=name, mend=_MEND)
    return HistogramLog(
        name=name,
        records=records,
        started_at_s=times.get(b"StartTime"),
        comments=tuple(comment.text[1:].decode(errors="replace").strip() for comment in comments),
        notes=tuple(_notes(name, cut_short, last_dropped=records[-1].line < lines[-1].number)),
    )


class _Comment(NamedTuple):
    number: int
    text: bytes


def _divided(text: bytes, name: str) -> tuple[list[_Comment], list[_Line]]:
    """The comments, and the lines that should hold records."""
    comments: list[_Comment] = []
    lines: list[_Line] = []
    for line in _lines(text, name):
        first = text[line.start]
        if first == _HASH:
            comments.append(_Comment(line.number, text[line.start : line.end]))
        elif first != _QUOTE:
            lines.append(line)
    return comments, lines


def _lines(text: bytes, name: str) -> Iterator[_Line]:
    """The lines that are not empty."""
    start, number = 0, 0
    while start < len(text):
        number += 1
        found = text.find(b"\n", start)
        if found >= 0 and number > MOST_LINES:
            raise LogError(f"has more than {MOST_LINES:,} lines", where=name, mend="give the log of one run")
        end = found if found >= 0 else len(text)
        stripped = end - 1 if text[end - 1 : end] == b"\r" else end
        if stripped > start:
            yield _Line(number, start, stripped, complete=found >= 0)
        start = end + 1


def _times(comments: list[_Comment], name: str) -> dict[bytes, float]:
    times: dict[bytes, float] = {}
    for comment in comments:
        match = _HEADER.match(comment.text)
        if match and times.setdefault(match[1], at := _time_s(match, comment, name)) != at:
            what = f"a second {match[1].decode()}: two logs in one file"
            raise LogError(what, where=f"{name}, line {comment.number}", mend="judge each run's log by itself")
    return times


def _time_s(match: re.Match[bytes], comment: _Comment, name: str) -> float:
    try:
        return float(match[2])
    except ValueError:
        what = f"{match[1].decode()} is no number: {match[2].decode()}"
        raise LogError(what, where=f"{name}, line {comment.number}", mend=_MEND) from None


def _base_s(times: dict[bytes, float], first_s: float) -> float:
    """The offset to add to the lines' times. Without BaseTime the rule of Java's HistogramLogReader applies."""
    start_s = times.get(b"StartTime")
    if b"BaseTime" in times:
        return times[b"BaseTime"]
    return start_s if start_s is not None and first_s < start_s - _YEAR_S else 0.0


def _records(text: bytes, lines: list[_Line], times: dict[bytes, float], name: str) -> Iterator[Record]:
    view = memoryview(text)
    base_s = _base_s(times, _first_s(text, lines))
    for line in lines:
        try:
            record = _record(text, view, line, base_s)
        except ValueError as error:
            if line.complete:
                where = f"{name}, line {line.number}"
                raise LogError("is not a line of a histogram log", where=where, mend=_MEND) from error
            return
        if line.complete or is_complete(record.payload):
            yield record


def _first_s(text: bytes, lines: list[_Line]) -> float:
    """The time that the first record gives; of what is no record, any time will do."""
    with suppress(ValueError, IndexError):
        return _record(text, memoryview(text), lines[0], 0.0).start_s
    return 0.0


def _record(text: bytes, view: memoryview, line: _Line, base_s: float) -> Record:
    head = text[line.start : min(line.end, line.start + _LONGEST_HEAD)]
    tag, _, fields = head.partition(b",") if head.startswith(b"Tag=") else (b"Tag=", b"", head)
    start, length, highest, payload = fields.split(b",", 3)
    start_s, length_s = float(start), float(length)
    if not (math.isfinite(start_s) and math.isfinite(length_s)):
        raise ValueError("times must be finite")
    return Record(
        tag[4:].decode(),
        start_s + base_s,
        length_s,
        view[line.start + len(head) - len(payload) : line.end],
        line.number,
        _number(highest),
    )


def _number(text: bytes) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _notes(name: str, cut_short: bool, *, last_dropped: bool) -> Iterator[str]:
    if cut_short:
        yield f"{name}: the gz ends before its end; what could be read of it counts"
    if last_dropped:
        yield f"{name}: the last line is cut short (was its writer killed?); the records before it count"
