"""What every format's reader returns: the measurements of a run, as far as its files hold them, and remarks on them.

Failures of a run come from figures with times, a log of failed operations, or two counts of which one leaves them out.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from math import inf
from typing import Protocol

import numpy as np

from plimsoll.analysis.logs.formats.selection import LeftOut, Series
from plimsoll.analysis.logs.formats.units import FoundUnit
from plimsoll.analysis.logs.hdr.histograms import Decoder, Ints, Unit
from plimsoll.analysis.logs.hdr.record_line import Record
from plimsoll.analysis.logs.operations import Failures, Floats, Track, totals
from plimsoll.analysis.logs.unpacking import beginning, unpacked
from plimsoll.domain.text.errors import LogError


@dataclass(frozen=True)
class RunFile:
    """A file on disk, plain or gz; `name` is for messages, and for formats whose file names have a meaning."""

    name: str
    data: bytes

    @cached_property
    def head(self) -> str:
        """Return the beginning of the file's text, long enough to tell its format."""
        return beginning(self.data, 1 << 16).decode(errors="replace")

    @cached_property
    def text(self) -> str:
        """Return the whole text of the file. Raises LogError when a gz is damaged."""
        return unpacked(self.data, self.name)[0].decode(errors="replace")


def cut_line_note(name: str, line: int) -> str:
    return f"{name}, line {line}: the last line is cut short (was its writer killed?); the lines before it count"


def only_one(files: Sequence[RunFile], what: str) -> RunFile:
    """Return the one file of a tool that writes a file for each run; `what`: what several are called.

    Raises LogError where there are several.
    """
    if len(files) > 1:
        where = ", ".join(file.name for file in files)
        raise LogError(f"are several {what}, each of a run of its own", where=where, mend="judge them one by one")
    return files[0]


@dataclass(frozen=True)
class ReadOptions:
    """The user's statements about the files.

    `unit`: the unit of the histograms' values. `kinds`: names of operations that are reads or writes. `tags`: the tags
    to judge in logs with tags; all of them where it is empty. `columns`: what the columns of a log of operations hold.
    """

    unit: Unit | None = None
    kinds: Mapping[str, str] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Sample:
    """The figures of one operation over a stretch of time: `values_ms` by percentile, in ms; 100 is the maximum.

    `operation`: `reads`, `writes` or the operation's own name; `series`: the tool's name of what was measured, by which
    samples of several operations of one kind are told apart. `off_ms`: how far a value may be from the true one, as its
    writer rounds.
    """

    start_s: float
    length_s: float
    operation: str
    count: int
    values_ms: Mapping[float, float]
    series: str = ""
    off_ms: Mapping[float, float] = field(default_factory=dict)


@dataclass(frozen=True)
class WholeRun:
    """The figures of one operation over a whole run, warm-up included: `values_ms` by percentile, in ms."""

    operation: str
    count: int
    values_ms: Mapping[float, float] = field(default_factory=dict)


_NOT_TOLD = FoundUnit("us", "")


@dataclass(frozen=True)
class Reading:
    """The content of one run's files.

    `tracks`: histograms over time, with values in `unit`; any service level can be judged by them. `left_out`: records
    that are not judged, such as a worse measure of the same operations. `samples`: percentiles over time; a service
    level can be judged as far as they decide it. `whole_run`: figures without time.
    `obstacles` say why files can't be judged; `notes` name each pitfall of the format that these files contain.
    `errors`: operations of the whole run that were not answered, by kind, None where the files don't tell; the same
    holds for `attempted_ops_s` and `started_at`. `failures`: those of them whose times are known. `own_lag_p99_ms`: how
    late the load generator began what was due and could begin, 99th percentile; None where the files don't tell.
    `gave_up`: why the load generator ended before its time, by its own words: what was due from then on is not known.
    """

    title: str
    tracks: tuple[Track, ...] = ()
    unit: FoundUnit = _NOT_TOLD
    left_out: tuple[LeftOut, ...] = ()
    samples: tuple[Sample, ...] = ()
    whole_run: tuple[WholeRun, ...] = ()
    obstacles: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    errors: Mapping[str, int] | None = None
    failures: tuple[Failures, ...] = ()
    attempted_ops_s: float | None = None
    own_lag_p99_ms: float | None = None
    started_at: datetime | None = None
    gave_up: str = ""


class Format(Protocol):
    """The output of one tool: how to recognise its content, and how to read it. Pure."""

    name: str
    """The format's name for `--format`."""

    title: str
    """The format's name for people."""

    def recognises(self, file: RunFile) -> bool:
        """Tell whether the file's content is of this format."""

    def read(self, files: Sequence[RunFile], options: ReadOptions) -> Reading:
        """Read the files of one run. Raises LogError on content that can't be read."""


def failures_of(series: Series, kind: str) -> Failures:
    """Return failures with times in a log, in the middle of its records. Raises LogError where one can't be decoded."""
    return failed(series, kind, _counts(series), among_times=False)


def failures_between(tried: Series, answered: Series, kind: str, *, among_times: bool) -> Failures:
    """Return those of the operations tried that were not answered, by two counts of the same log.

    An operation that ends at the border of two records may be counted in one of them as tried and in the next as
    answered. So what is missing counts once it is never made up for.
    """
    half_s = np.median([record.length_s for record in tried.records]) / 2
    places = np.searchsorted(_ends(answered.records), _ends(tried.records) + half_s, side="right")
    sums = np.concatenate([[0], np.cumsum(_counts(answered))])
    missing = np.cumsum(_counts(tried)) - sums[places]
    lasting = np.maximum(np.minimum.accumulate(missing[::-1])[::-1], 0)
    return failed(tried, kind, np.diff(lasting, prepend=0), among_times=among_times)


def failed(series: Series, kind: str, counts: Ints, *, among_times: bool) -> Failures:
    """Return failures in the middle of a log's records, from the number in each of them."""
    used = counts > 0
    ends = _ends(series.records)
    middles = ends - np.array([record.length_s for record in series.records]) / 2
    until_s = float(ends[used][-1]) if used.any() else -inf
    own = counts[used].astype(np.int64)
    return Failures(series.name, series.operation, kind, middles[used], own, among_times, until_s)


def failures_at(
    name: str, kind: str, found: Iterable[tuple[float, int]], operation: str = "", *, among_times: bool = False
) -> Iterator[Failures]:
    """Yield the failures of one kind, if there are any, from times, s since the epoch, and how many there were at each.

    The other arguments are as in `Failures`.
    """
    if occurred := [(at_s, count) for at_s, count in found if count > 0]:
        times_s, numbers = zip(*occurred, strict=True)
        at_s, counts = np.array(times_s, dtype=np.float64), np.array(numbers, dtype=np.int64)
        yield Failures(name, operation, kind, at_s, counts, among_times)


def of_samples(
    title: str, unit: FoundUnit, samples: Iterable[Sample], failures: Iterable[Failures], notes: Sequence[str]
) -> Reading:
    """Return the content of files with percentiles over time, which tell all failures and their times."""
    failures = tuple(failures)
    return Reading(
        title=title,
        unit=unit,
        samples=tuple(samples),
        notes=tuple(notes),
        errors=totals(failures),
        failures=failures,
    )


def _counts(series: Series) -> Ints:
    decoder = Decoder("ns")  # the finest unit, so that the widest values fit
    return np.array([decoder.merge_used([record], series.name).sum() for record in series.records], dtype=np.int64)


def _ends(records: Sequence[Record]) -> Floats:
    return np.array([record.start_s + record.length_s for record in records])
