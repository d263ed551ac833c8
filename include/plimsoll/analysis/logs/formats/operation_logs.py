"""Logs with a line for each operation: of any program, by the columns that a user names, and of well-known tools.

The operations of a run's files are counted by file, name and second: then they are tracks and failures like any other.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from itertools import chain
from typing import NamedTuple

import numpy as np

from plimsoll.analysis.logs.formats.interval_logs import Meaning
from plimsoll.analysis.logs.formats.operation_log.parsing import NAMED, Parser
from plimsoll.analysis.logs.formats.operation_log.rows import first_keys
from plimsoll.analysis.logs.formats.operation_log.second_counts import (
    MOST_SECONDS,
    CountedFile,
    SecondCounts,
    seconds_of,
)
from plimsoll.analysis.logs.formats.operation_log.values import EPOCH_FROM_S
from plimsoll.analysis.logs.formats.reading import Reading, ReadOptions, RunFile, failures_at
from plimsoll.analysis.logs.formats.selection import Measure, Series, refuse_unknown_tags, select
from plimsoll.analysis.logs.formats.tools import FAILED, Tool
from plimsoll.analysis.logs.formats.units import FoundUnit
from plimsoll.analysis.logs.hdr.hdrlog import HistogramLog
from plimsoll.analysis.logs.operations import Failures, totals
from plimsoll.analysis.logs.unpacking import unpacked
from plimsoll.domain.keys.log_words import EXAMPLE, KINDS, implied, pairs, parse_columns
from plimsoll.domain.text.errors import LogError

_MeaningOf = Callable[[str], Meaning]
_ANY_PROGRAM = Tool("text", "log of operations", {})


class TextLog:
    """Times of operations in columns that the user names, or that the first line names as `--columns` does."""

    name = _ANY_PROGRAM.name
    title = _ANY_PROGRAM.title

    def recognises(self, file: RunFile) -> bool:
        return bool(implied(first_keys(file)))

    def read(self, files: Sequence[RunFile], options: ReadOptions) -> Reading:
        """Count the operations of all files, second by second of their ends."""
        notes: list[str] = []
        columns = [parse_columns(options.columns or _implied(file)) for file in files]
        parsers = [
            Parser(file, own, options.unit, _ANY_PROGRAM, options.tags, notes, is_strict=True)
            for file, own in zip(files, columns, strict=True)
        ]
        measures = {own.is_response for own in columns}
        if len(measures) > 1:
            what = "are of response times (from the intended start) and of service times (from the send)"
            where = ", ".join(file.name for file in files)
            raise LogError(what, where=where, mend="give the files of one measure alone")
        measure: Measure = "response time" if True in measures else "service time"
        operations = _counted(parsers, lambda name: (measure, name), options.kinds)
        if any("time" in own.moments for own in columns):
            notes.append("`time` is taken for the send of an operation: an intended start is named `due`")
        tells = all(own.ok or own.error for own in columns) and all(parser.tells_failures for parser in parsers)
        return _reading(self.title, operations, parsers, notes, tells=tells)


class ToolLog:
    """The log of a tool that is known."""

    def __init__(self, tool: Tool) -> None:
        self._tool = tool
        self.name, self.title = tool.name, tool.title

    def recognises(self, file: RunFile) -> bool:
        tool = self._tool
        if tool.file_names and not re.search(tool.file_names, file.name):
            return False
        return _form(tool, file.head) is not None or bool(tool.begins and re.match(tool.begins, file.head))

    def read(self, files: Sequence[RunFile], options: ReadOptions) -> Reading:
        """Count the operations of all files, second by second of their ends."""
        tool, notes = self._tool, list[str]()
        forms = [self._form(file) for file in files]
        self._refuse_two_measures(files, forms)
        is_searched = tool.refusal or tool.remarks_on or tool.unsent or tool.is_by_operation
        whole = [(file.name, *unpacked(file.data, file.name)) for file in files if is_searched]
        for name, data, is_cut in whole:
            if tool.is_by_operation and (is_cut or not data.endswith(b"\n")):
                what = f"is cut short, and {tool.title} tell one operation after another: others are missing"
                raise LogError(what, where=name, mend="give the whole file")
            # By `--tags` a user has answered what the refusal asks
            if tool.refusal is not None and not options.tags and (refusal := tool.refusal(data)):
                raise LogError(refusal[0], where=name, mend=refusal[1])
            notes += tool.remarks_on(data) if tool.remarks_on else ()
        columns = [parse_columns(pairs([tool.forms[form]])) for form in forms]
        parsers = [
            Parser(file, own, options.unit, tool, options.tags, notes) for file, own in zip(files, columns, strict=True)
        ]
        operations = _counted(parsers, lambda name: self._meaning(name, options), options.kinds)
        operations = operations._replace(failures=(*operations.failures, *self._unsent(whole)))
        return _reading(
            tool.title,
            operations,
            parsers,
            [*notes, *tool.remarks],
            tells=tool.tells_failures and all(parser.tells_failures for parser in parsers),
        )

    def _unsent(self, whole: Sequence[tuple[str, bytes, bool]]) -> Iterator[Failures]:
        for name, data, _ in whole if self._tool.unsent else ():
            times_s = (int(line[1]) / 1000 for line in re.finditer(self._tool.unsent, data))
            yield from failures_at(name, "not sent", ((at_s, 1) for at_s in times_s))

    def _refuse_two_measures(self, files: Sequence[RunFile], forms: Sequence[str]) -> None:
        """Raise LogError on files in several forms that a run has at once, or with names of several measures.

        Of one run they hold the same operations: k6 writes CSV and JSON, fio `_lat` and `_clat`.
        """
        matches = (re.search(self._tool.file_names, file.name) for file in files)
        measures = {match[0] if match else "" for match in matches}
        if len(measures) > 1 or (self._tool.writes_several_forms and len({*forms}) > 1):
            what = "are of several forms or measures, so they may hold the same operations twice"
            mend = "give the files of one form and one measure alone"
            raise LogError(what, where=", ".join(file.name for file in files), mend=mend)

    def _form(self, file: RunFile) -> str:
        # The first request may stand far below, such as behind thousands of Gatling's lines on users who start
        form = _form(self._tool, file.head) or _form(self._tool, file.text)
        if form is None:
            raise LogError(f"holds no line of {self.title}", where=file.name, mend="give the file as the tool wrote it")
        return form

    def _meaning(self, name: str, options: ReadOptions) -> Meaning:
        meaning = self._tool.meaning(name)
        if meaning is None and name.lower() not in options.kinds:
            mend = "say what it is: `--operation NAME=reads` or `--operation NAME=writes`"
            raise LogError(f"{self.title}: {name[:40]!r} is not known to be an operation", mend=mend)
        return meaning or ("service time", name)


def _form(tool: Tool, text: str) -> str | None:
    return next((form for form in tool.forms if re.search(form, text)), None)


def _implied(file: RunFile) -> Mapping[str, str]:
    if columns := implied(first_keys(file)):
        return columns
    raise LogError("does not say what its columns hold", where=file.name, mend=f"say it: {EXAMPLE}")


class _Counted(NamedTuple):
    """The operations of a run. `start_s`: when the first began, since 1970 where the rows say that."""

    series: tuple[Series, ...]
    failures: tuple[Failures, ...]
    start_s: float


def _counted(parsers: Sequence[Parser], meaning: _MeaningOf, kinds: Mapping[str, str]) -> _Counted:
    """Count the operations of the files of one run; `meaning` says what a name measures, and of which operation.

    Raises LogError on rows that can't be read, and on times that are those of no sound measurement.
    """
    # The seconds of all files count from one origin, which must be known before anything is counted
    begun = [(parser, chunks, next(chunks, None)) for parser in parsers for chunks in [parser.chunks()]]
    for parser, _, first in begun:
        if first is None:
            raise LogError("holds no operation that is judged", where=parser.file.name, mend=parser.tool.mend)
    origin_s = min(float(first.starts_s.min()) for _, _, first in begun if first)
    files = [CountedFile(parser.file, origin_s) for parser in parsers]
    for file, (_, chunks, first) in zip(files, begun, strict=True):
        for chunk in chain([first] if first else [], chunks):
            file.add(chunk)
        for order in file.orders.values():
            order.require(file.name)
        file.activity.require_no_silence()
    there = dict.fromkeys(chain(*(file.by_name for file in files), *(sorted(parser.seen) for parser in parsers)))
    refuse_unknown_tags(parsers[0].tags, there, ", ".join(file.name for file in files), *NAMED)
    kinds = {**KINDS, **kinds}
    return _Counted(tuple(_series(files, meaning, kinds)), tuple(_failures(files, meaning, kinds)), origin_s)


def _series(files: Sequence[CountedFile], meaning: _MeaningOf, kinds: Mapping[str, str]) -> Iterator[Series]:
    """Yield the records of each name in each file.

    They cover the whole run, unless the file begins late or ends early by more than chance: then they say so.
    """
    origin_s, end_s = files[0].activity.origin_s, max(file.activity.end_s for file in files)
    first_s = min(file.activity.first_s for file in files)
    logs = sum(len(file.by_name) for file in files)
    if (end_s - first_s) * logs > MOST_SECONDS:
        what = f"hold {end_s - first_s:,.0f} s of {logs} operations or files: more than {MOST_SECONDS:,} s together"
        mend = "give a log of a shorter run, or the files of all threads as one, sorted by time"
        if logs > len(files):
            mend += "; or judge fewer operations: `--tags NAME`, or `--columns` without `operation`"
        raise LogError(what, where=", ".join(file.name for file in files), mend=mend)
    # `select` compares comments: by this hash it tells a file that is given twice from one with equal counts
    hashed = [sha256(unpacked(file.file.data, file.name)[0]).hexdigest() if len(files) > 1 else "" for file in files]
    for file, own_hash in zip(files, hashed, strict=True):
        activity, judged = file.activity, [name for name in file.by_name if meaning(name)[0] != FAILED]
        begins_s = activity.first_s if activity.first_s - first_s > activity.chance_s else first_s
        ends_s = activity.end_s if end_s - activity.end_s > activity.chance_s else end_s
        first, last = seconds_of(np.array([begins_s, ends_s]), origin_s).tolist()
        log = HistogramLog(file.name, (), begins_s, (own_hash,))
        # A file in which nothing was answered covers its time all the same.
        for name in judged or list(dict.fromkeys(["", *file.by_name]))[:1]:
            counts = file.by_name.get(name) or SecondCounts(origin_s)
            tag = name if len(judged) > 1 else ""
            measure, operation = meaning(name) if judged else ("service time", "")
            records = tuple(counts.records(tag, first, last, ends_s))
            yield Series(log, measure, kinds.get(operation.lower(), operation), records, operation)


def _failures(files: Sequence[CountedFile], meaning: _MeaningOf, kinds: Mapping[str, str]) -> Iterator[Failures]:
    for file in files:
        failed: dict[tuple[str, str], Counter[int]] = defaultdict(Counter)
        waited_s: dict[tuple[str, str, int], float] = {}
        for name, counts in file.by_name.items():
            operation = meaning(name)[1]
            for (second, kind), count in counts.failed.items():
                own = kinds.get(operation.lower(), operation), kind
                failed[own][second] += count
                waited_s[*own, second] = max(waited_s.get((*own, second), -np.inf), counts.waited_s[second, kind])
        for (operation, kind), by_second in failed.items():
            seconds = np.array(sorted(by_second))
            numbers = np.array([by_second[second] for second in seconds.tolist()], dtype=np.int64)
            # The middle of their second, so that rounding does not move them beyond its record.
            ends_s = np.array([waited_s[operation, kind, second] for second in seconds.tolist()])
            at_s = file.activity.origin_s + seconds + 0.5
            yield Failures(file.name, operation, kind, at_s, numbers, ends_s=ends_s)


def _reading(
    title: str, operations: _Counted, parsers: Sequence[Parser], notes: Sequence[str], *, tells: bool
) -> Reading:
    tracks, remarks, left_out = select(operations.series)
    errors = totals(operations.failures)
    units = ", ".join(dict.fromkeys(parser.latency_unit for parser in parsers if parser.latency_unit))
    return Reading(
        title=title,
        tracks=tracks,
        unit=FoundUnit("us", f"counted in us, {f'of times in {units}' if units else 'from starts and ends'}"),
        left_out=left_out,
        notes=(*dict.fromkeys(notes), *remarks),
        errors=errors if errors or tells else None,
        failures=operations.failures,
        started_at=datetime.fromtimestamp(operations.start_s, UTC) if operations.start_s > EPOCH_FROM_S else None,
    )
