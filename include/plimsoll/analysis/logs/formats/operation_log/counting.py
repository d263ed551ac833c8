"""Count the operations of a run's files by file, name and second; then they are tracks and failures like any other."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import chain
from typing import NamedTuple

import numpy as np

from plimsoll.analysis.logs.formats.interval_logs import Meaning
from plimsoll.analysis.logs.formats.operation_log.parsing import NAMED, Chunk, Parser
from plimsoll.analysis.logs.formats.operation_log.second_counts import (
    MOST_SECONDS,
    Activity,
    Order,
    SecondCounts,
    seconds_of,
)
from plimsoll.analysis.logs.formats.reading import RunFile
from plimsoll.analysis.logs.formats.selection import Series, refuse_unknown_tags
from plimsoll.analysis.logs.formats.tools import FAILED
from plimsoll.analysis.logs.hdr.hdrlog import HistogramLog
from plimsoll.analysis.logs.operations import Failures
from plimsoll.analysis.logs.unpacking import unpacked
from plimsoll.domain.keys.log_words import KINDS
from plimsoll.domain.text.errors import LogError

_MOST_NAMES = 100
MeaningOf = Callable[[str], Meaning]


class Counted(NamedTuple):
    """The operations of a run. `start_s`: when the first began, since 1970 where the rows say that."""

    series: tuple[Series, ...]
    failures: tuple[Failures, ...]
    start_s: float


class _File:
    """The operations of one file, by name."""

    def __init__(self, file: RunFile, origin_s: float) -> None:
        self.file, self.name = file, file.name
        self.activity = Activity(self.name, origin_s)
        self.by_name: dict[str, SecondCounts] = {}
        self.orders: dict[str, Order] = {}

    def add(self, chunk: Chunk) -> None:
        self.activity.add(chunk.starts_s, chunk.ends_s)
        seconds = seconds_of(chunk.starts_s, self.activity.origin_s)
        names = list(dict.fromkeys(chunk.names))
        # A dict takes a quarter of the time of `np.unique`, which sorts the texts
        codes = np.array(list(map({name: code for code, name in enumerate(names)}.__getitem__, chunk.names)))
        for code, name in enumerate(names):
            own, counts = codes == code, self._counts(name)
            self.orders[name].add(chunk.starts_s[own], chunk.ends_s[own], chunk.lines[own])
            answered = own & ~chunk.is_failed
            counts.add(chunk.ends_s[answered], chunk.latencies_us[answered])
            for row in np.flatnonzero(own & chunk.is_failed).tolist():
                counts.failed[int(seconds[row]), chunk.failed[row]] += chunk.counts[row]

    def _counts(self, name: str) -> SecondCounts:
        if name not in self.by_name:
            if len(self.by_name) == _MOST_NAMES:
                what = f"has more than {_MOST_NAMES} operations, such as {name[:40]!r}"
                mend = "leave `operation` out of `--columns`: they are judged together"
                raise LogError(what, where=self.name, mend=mend)
            self.by_name[name], self.orders[name] = SecondCounts(self.activity.origin_s), Order()
        return self.by_name[name]


def counted(parsers: Sequence[Parser], meaning: MeaningOf, kinds: Mapping[str, str]) -> Counted:
    """Count the operations of the files of one run; `meaning` says what a name measures, and of which operation.

    Raises LogError on rows that can't be read, and on times that are those of no sound measurement.
    """
    # The seconds of all files count from one origin, which must be known before anything is counted
    begun = [(parser, chunks, next(chunks, None)) for parser in parsers for chunks in [parser.chunks()]]
    for parser, _, first in begun:
        if first is None:
            raise LogError("holds no operation that is judged", where=parser.file.name, mend=parser.tool.mend)
    origin_s = min(float(first.starts_s.min()) for _, _, first in begun if first)
    files = [_File(parser.file, origin_s) for parser in parsers]
    for file, (_, chunks, first) in zip(files, begun, strict=True):
        for chunk in chain([first] if first else [], chunks):
            file.add(chunk)
        for order in file.orders.values():
            order.require(file.name)
        file.activity.require_no_silence()
    there = dict.fromkeys(chain(*(file.by_name for file in files), *(sorted(parser.seen) for parser in parsers)))
    refuse_unknown_tags(parsers[0].tags, there, ", ".join(file.name for file in files), *NAMED)
    kinds = {**KINDS, **kinds}
    return Counted(tuple(_series(files, meaning, kinds)), tuple(_failures(files, meaning, kinds)), origin_s)


def _series(files: Sequence[_File], meaning: MeaningOf, kinds: Mapping[str, str]) -> Iterator[Series]:
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


def _failures(files: Sequence[_File], meaning: MeaningOf, kinds: Mapping[str, str]) -> Iterator[Failures]:
    for file in files:
        failed: dict[tuple[str, str], Counter[int]] = defaultdict(Counter)
        for name, counts in file.by_name.items():
            operation = meaning(name)[1]
            for (second, kind), count in counts.failed.items():
                failed[kinds.get(operation.lower(), operation), kind][second] += count
        for (operation, kind), by_second in failed.items():
            seconds = np.array(sorted(by_second))
            numbers = np.array([by_second[second] for second in seconds.tolist()], dtype=np.int64)
            # The middle of their second, so that rounding does not move them beyond its record.
            yield Failures(file.name, operation, kind, file.activity.origin_s + seconds + 0.5, numbers)
