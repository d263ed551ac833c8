"""tlp-stress' CSV, the original (13 columns), Azul's version (31 columns) and Plimsoll's own in the same form, and
the interval logs of the latter two.
"""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

import numpy as np

from plimsoll.analysis.logs.formats.reading import (
    Reading,
    ReadOptions,
    RunFile,
    Sample,
    WholeRun,
    failures_at,
    only_one,
)
from plimsoll.analysis.logs.formats.units import FoundUnit
from plimsoll.analysis.logs.hdr.hdrlog import HistogramLog
from plimsoll.analysis.logs.operations import Failures, totals
from plimsoll.domain.keys.log_words import READS, WRITES
from plimsoll.domain.text.errors import LogError
from plimsoll.domain.text.wording import plural

_HEAD = re.compile(r"^,,Mutations,+Reads,+Deletes,+Errors,", re.MULTILINE)
_OPERATIONS: Mapping[str, str] = {"Mutations": WRITES, "Reads": READS, "Deletes": "deletes", "Errors": "errors"}
_LATENCY = re.compile(r"Latency \((?:p(?P<percentile>[\d.]+)|(?P<max>max))\)")
_MEND = "give the CSV file as the tool wrote it"

LOGGING_FOR = re.compile(r"\[Logging for: (?P<name>[^\]]+)\]")
"""A comment of YCSB, and of tlp-stress, which took it over with its log writer."""

_NAME = re.compile(r"\.hdr-(?P<intended>intended-)?(?P<operation>[\w-]+?)(\.gz)?$", re.IGNORECASE)
BY_FILE_NAME = FoundUnit("us", "Plimsoll and tlp-stress write us into files of such names")
"""A reason for doubt, not for a unit, where no comment says who wrote the log: anybody may give such a name."""
_PLIMSOLL = re.compile(r"\[plimsoll\.stress: .*, microseconds;")


@dataclass(frozen=True)
class _Row:
    at: datetime
    elapsed_s: float
    counts: Mapping[str, int]
    values_ms: Mapping[str, Mapping[float, float]]


@dataclass(frozen=True)
class _Table:
    """The rows of a CSV. `ours`: Plimsoll's load generator wrote it, so percentiles cover each row's own seconds."""

    name: str
    comments: tuple[str, ...]
    rows: tuple[_Row, ...]
    cut_short: bool

    @property
    def ours(self) -> bool:
        return any("plimsoll.stress" in comment for comment in self.comments)


class TlpCsv:
    """Cumulative counts every 3 s. Only in Plimsoll's CSV percentiles cover the row's seconds and response times."""

    name = "tlp-csv"
    title = "tlp-stress CSV"

    def recognises(self, file: RunFile) -> bool:
        return bool(_HEAD.search(file.head))

    def read(self, files: Sequence[RunFile], options: ReadOptions) -> Reading:  # noqa: ARG002 - its columns say all
        """Return counts and errors from any such CSV; samples only from Plimsoll's own."""
        table = _table(only_one(files, "CSV files"))
        last = table.rows[-1].counts
        failures = tuple(_failures(table))
        return Reading(
            title=self.title,
            unit=FoundUnit("ms", f"{'Plimsoll' if table.ours else 'tlp-stress'} writes ms into its CSV"),
            samples=tuple(_samples(table)) if table.ours else (),
            whole_run=tuple(WholeRun(name, count) for name, count in last.items() if name != "errors" and count),
            obstacles=() if table.ours else tuple(_obstacles(table)),
            notes=tuple(_remarks(table)),
            errors=totals(failures),
            failures=failures,
            started_at=table.rows[0].at,
        )


def _table(file: RunFile) -> _Table:
    lines = file.text.splitlines()
    comments = tuple(line[1:].strip() for line in lines if line.startswith("#"))
    try:
        groups, names, *rows = csv.reader(line for line in lines if line and not line.startswith("#"))
        cut_short = bool(rows) and len(rows[-1]) < len(names)
        columns = list(_columns(groups, names))
        read = tuple(_row(columns, row) for row in (rows[:-1] if cut_short else rows))
    except (ValueError, csv.Error) as error:
        raise LogError(f"has a row that is none of tlp-stress' ({error})", where=file.name, mend=_MEND) from error
    if not read:
        raise LogError("holds no rows", where=file.name, mend=_MEND)
    return _Table(file.name, comments, read, cut_short)


def _columns(groups: Sequence[str], names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the group and the name of each column. Azul's line of groups is short, so `Count` begins a new group."""
    order = iter([_OPERATIONS[group] for group in groups if group in _OPERATIONS])
    group = ""
    for name in names:
        group = next(order, group) if name.strip() == "Count" else group
        yield group, name.strip()


def _row(columns: Sequence[tuple[str, str]], row: Sequence[str]) -> _Row:
    counts: dict[str, int] = {}
    values: dict[str, dict[float, float]] = {}
    for (group, name), text in list(zip(columns, row, strict=True))[2:]:
        latency = _LATENCY.fullmatch(name)
        if name == "Count":
            counts[group] = int(text)
        elif latency:
            values.setdefault(group, {})[float(latency["percentile"] or 100)] = float(text)
    return _Row(datetime.fromisoformat(row[0]), float(row[1]), counts, values)


def _steps(table: _Table) -> Iterator[tuple[_Row, _Row]]:
    """Yield each row with the one before it; the first with an empty one, as far off as the second."""
    first, second = table.rows[0].at, table.rows[min(1, len(table.rows) - 1)].at
    before = _Row(first - (second - first), 0.0, dict.fromkeys(table.rows[0].counts, 0), {})
    return pairwise((before, *table.rows))


def _failures(table: _Table) -> Iterator[Failures]:
    """Yield what failed between one row and the next, in the middle of that time.

    Raises LogError where a later row tells an earlier time, or fewer failures.
    """
    steps = list(_steps(table))
    counts = np.array([row.counts.get("errors", 0) - before.counts.get("errors", 0) for before, row in steps])
    lengths = np.array([(row.at - before.at).total_seconds() for before, row in steps])
    if (back := (counts < 0) | (lengths < 0)).any():
        at = table.rows[int(back.argmax())].at
        what = f"the row of {at.isoformat()} has an earlier time, or fewer errors, than the row before it"
        raise LogError(what, where=table.name, mend="give the file of one run, as the tool wrote it")
    middles = np.array([row.at.timestamp() for _, row in steps]) - lengths / 2
    yield from failures_at(table.name, "errors", zip(middles, counts, strict=True))


def _samples(table: _Table) -> Iterator[Sample]:
    """Yield one sample per row and operation, for the time since the row before."""
    for earlier, row in _steps(table):
        for name, values in row.values_ms.items():
            count = row.counts[name] - earlier.counts[name]
            if table.rows[-1].counts[name]:
                length_s = (row.at - earlier.at).total_seconds()
                yield Sample(earlier.at.timestamp(), length_s, name, count, values if count else {})


def _obstacles(table: _Table) -> Iterator[str]:
    known = sorted({value for row in table.rows for values in row.values_ms.values() for value in values})
    shown = ", ".join("max" if value == 100 else f"p{value:g}" for value in known)
    yield (
        f"{table.name}: its percentiles ({shown}) are service times from a reservoir that fades the past out slowly: "
        "they are of no interval, so no service level can be judged from it; counts and rates can be read"
    )


def _remarks(table: _Table) -> Iterator[str]:
    first, last = table.rows[0], table.rows[-1]
    if table.cut_short:
        yield f"{table.name}: the last row is cut short (was its writer killed?); the rows before it count"
    if populate := re.search(r"--populate\s+(\S+)", " ".join(table.comments)):
        yield (
            f"{table.name}: populating ({populate[1]} a thread) counts in Elapsed Time, which is {first.elapsed_s:g} s "
            "at the first row; time stamps are used instead"
        )
    if len(table.rows) > 2 and not table.ours:
        steps = [(later.at - earlier.at).total_seconds() for earlier, later in pairwise(table.rows)]
        if steps[-1] < 0.5 * steps[0]:
            yield f"{table.name}: the last row is a stub of {steps[-1]:.1f} s"
    seconds = (last.at - first.at).total_seconds()
    if seconds > 0:
        done = sum(last.counts[name] - first.counts[name] for name in last.counts if name != "errors")
        yield f"{table.name}: {done / seconds:.1f} ops/s from its first row to its last, from cumulative counts"
    if last.counts.get("errors"):
        yield f"{table.name}: {plural(last.counts['errors'], 'operation')} failed, counted apart"


def logged_name(comment: str) -> re.Match[str] | None:
    """Return the name of a log of tlp-stress, `X.hdr-INTENDED-READS`, in its comment. None where there is none."""
    logged = LOGGING_FOR.search(comment)
    return _NAME.search(logged["name"]) if logged else None


def name_of(log: HistogramLog) -> re.Match[str] | None:
    """Return the name given by Plimsoll or tlp-stress: `X.hdr-intended-<operation>` or `X.hdr-<operation>`."""
    return next((match for comment in log.comments if (match := logged_name(comment))), _NAME.search(log.name))


def written_unit(log: HistogramLog) -> FoundUnit | None:
    """Return the unit of a log whose comments show that Plimsoll or tlp-stress wrote it."""
    if any(_PLIMSOLL.search(comment) for comment in log.comments):
        return FoundUnit("us", "Plimsoll's load generator wrote the log, and says so in it")
    if any(logged_name(comment) for comment in log.comments):
        return FoundUnit("us", "the log says that tlp-stress wrote it, which writes us")
    return None
