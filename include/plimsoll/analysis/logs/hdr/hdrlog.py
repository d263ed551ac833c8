"""Read HdrHistogram interval logs of any version into records. Only the lines are read; histograms stay encoded.

The second column may hold end times instead of lengths. hdrhistogram-go wrote them until 1.1.2, and so did scylla-bench
with it; HdrHistogram_c writes them by `hdr_log_write`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from plimsoll.analysis import grouped
from plimsoll.analysis.logs.hdr.record_line import DecimalCommasError, Record, is_complete, is_cut, parse_record
from plimsoll.analysis.logs.unpacking import cut_short_note, unpacked
from plimsoll.domain.text.errors import LogError

_HEADER = re.compile(rb"#\[(StartTime|Base[Tt]ime): *([0-9.]+)")
"""hdrhistogram-go before 1.3 writes `Basetime`."""
_HASH, _QUOTE = b'#"'
YEAR_S = 365 * 24 * 3600.0
MOST_LINES = 5_000_000
"""The greatest number of lines of a log: a record a second of twenty operations for nearly three days. Each takes some
hundred bytes of memory.
"""
_MEND = "give the interval log as HistogramLogWriter (or `--hdr`) wrote it, plain or gz"
_MISFIT = 0.05
"""The share of the time between two records by which an end may lie beside the next record's start."""


@dataclass(frozen=True)
class HistogramLog:
    """An interval log. `notes` name defects that did not prevent reading it; `comments` are all of its `#` lines."""

    name: str
    records: tuple[Record, ...]
    started_at_s: float | None
    comments: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def by_tag(self) -> dict[str, tuple[Record, ...]]:
        """Return the records of each tag in the order written. Records without a tag are under the empty text."""
        return grouped((record.tag, record) for record in self.records)


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
    every = list(_lines(text, name))
    comments = {line.number: text[line.start : line.end] for line in every if text[line.start] == _HASH}
    # A quotation mark begins the line of column names, `"StartTimestamp",…`
    lines = [line for line in every if text[line.start] not in (_HASH, _QUOTE)]
    times = _times(comments, name)
    # Without BaseTime the rule of Java's HistogramLogReader applies
    start_s = times.get(b"StartTime", 0.0)
    base_s = times.get(b"BaseTime", start_s if _first_s(text, lines) < start_s - YEAR_S else 0.0)
    records = tuple(_records(text, lines, base_s, name))
    if not records:
        raise NoRecordsError("holds no interval record", where=name, mend=_MEND)
    notes = [cut_short_note(name)] if cut_short else []
    if records[-1].line < lines[-1].number:
        why = "the last line is cut short (was its writer killed?)"
        notes.append(f"{name}, line {lines[-1].number}: {why}; the records before it count")
    by_ends = with_lengths(records, base_s)
    if by_ends:
        notes.append(f"{name}: the second column holds end times where lengths belong; lengths are computed from them")
    return HistogramLog(
        name=name,
        records=by_ends or records,
        started_at_s=times.get(b"StartTime"),
        comments=tuple(comment[1:].decode(errors="replace").strip() for comment in comments.values()),
        notes=tuple(notes),
    )


class NoRecordsError(LogError):
    """A log without a record. Of a log of failures that says that there were none."""


def _lines(text: bytes, name: str) -> Iterator[_Line]:
    """Yield the lines that are not empty."""
    start, number = 0, 0
    while start < len(text):
        number += 1
        newline = text.find(b"\n", start)
        if newline >= 0 and number > MOST_LINES:
            raise LogError(f"has more than {MOST_LINES:,} lines", where=name, mend="give the log of one run")
        end = newline if newline >= 0 else len(text)
        stripped = end - 1 if text[end - 1 : end] == b"\r" else end
        if stripped > start:
            yield _Line(number, start, stripped, complete=newline >= 0)
        start = end + 1


def _times(comments: Mapping[int, bytes], name: str) -> dict[bytes, float]:
    times: dict[bytes, float] = {}
    for number, comment in comments.items():
        if match := _HEADER.match(comment):
            kind, where = match[1].replace(b"Basetime", b"BaseTime"), f"{name}, line {number}"
            try:
                at_s = float(match[2])
            except ValueError:
                what = f"{match[1].decode()} is no number: {match[2].decode()}"
                raise LogError(what, where=where, mend=_MEND) from None
            if times.setdefault(kind, at_s) != at_s:
                what = f"a second {kind.decode()}: two logs in one file"
                raise LogError(what, where=where, mend="judge each run's log by itself")
    return times


def _records(text: bytes, lines: list[_Line], base_s: float, name: str) -> Iterator[Record]:
    for line in lines:
        where = f"{name}, line {line.number}"
        try:
            record = parse_record(text, line.start, line.end, line.number, base_s)
        except DecimalCommasError as error:
            what = "has decimal commas, which can't be distinguished from the commas between the columns"
            mend = "write the log with decimal points: in Java by `Locale.US`, in C with `LC_NUMERIC=C`"
            raise LogError(what, where=where, mend=mend) from error
        except ValueError as error:
            if line.complete or not is_cut(text[line.start : line.end]):
                raise LogError("is not a line of a histogram log", where=where, mend=_MEND) from error
            return
        if line.complete or is_complete(record.payload):
            yield record
        elif not is_cut(text[line.start : line.end]):
            what = "the last line has its whole length, but its histogram can't be decoded"
            raise LogError(what, where=where, mend="copy the log again")


def _first_s(text: bytes, lines: list[_Line]) -> float:
    """Return the time that the first record gives; of what is no record, any time will do."""
    with suppress(ValueError, IndexError):
        return parse_record(text, lines[0].start, lines[0].end, lines[0].number, 0.0).start_s
    return 0.0


def with_lengths(records: Sequence[Record], base_s: float) -> tuple[Record, ...] | None:
    """Return the records with lengths, where their second column holds end times; None where it holds lengths.

    `base_s`: what was added to the starts that the lines give. Ends are told by the next record of the tag, which
    begins there; of a length this can't be true, except where a record begins at 0.
    """
    tags = grouped((record.tag, record) for record in records)
    judged = [of_tag for of_tag in tags.values() if len(of_tag) >= 3]
    if not judged or not all(_ends(of_tag, base_s) for of_tag in judged):
        return None
    return tuple(record._replace(length_s=record.length_s - (record.start_s - base_s)) for record in records)


def _ends(records: Iterable[Record], base_s: float) -> bool:
    starts, seconds = np.array([(record.start_s - base_s, record.length_s) for record in records]).T
    steps = np.diff(starts)
    fitting = np.abs(seconds[:-1] - starts[1:]) <= _MISFIT * np.abs(steps)
    as_lengths = np.abs(seconds[:-1] - steps) <= _MISFIT * np.abs(steps)
    # Records may be missing, and then an end is not the next one's start
    return bool(fitting.mean() >= 0.9 and not as_lengths.all())
