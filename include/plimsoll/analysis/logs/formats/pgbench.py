"""pgbench, `--log`: a line for every transaction, from its scheduled start where it ran with `--rate`; and with
`--aggregate-interval=S` a line for every interval, with the least and the greatest time in it.

By its sources (doLog, processXactStats): a line has the time at which the transaction ended or was skipped. With
`--rate` the seventh column is the lag behind the schedule, 0 where nothing was answered; with `--max-tries` the last
column counts tries beyond the first. A thread takes the times of its schedule one after another.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from math import ceil, inf
from statistics import median
from typing import NamedTuple

import numpy as np

from plimsoll.analysis.logs.formats.operation_log.second_counts import SecondCounts, require_length_of_a_run
from plimsoll.analysis.logs.formats.pgbench_clients import Clients, Due, LagSigns, due
from plimsoll.analysis.logs.formats.pgbench_lines import FAILED, LINE, MEND_RUN, Numbers, RunLines
from plimsoll.analysis.logs.formats.reading import (
    Reading,
    ReadOptions,
    RunFile,
    Sample,
    cut_line_note,
    failures_at,
    of_samples,
)
from plimsoll.analysis.logs.formats.selection import Measure, Series, select
from plimsoll.analysis.logs.formats.units import FoundUnit, unit_of
from plimsoll.analysis.logs.hdr.hdrlog import HistogramLog
from plimsoll.analysis.logs.hdr.histograms import WIDE, Ints
from plimsoll.analysis.logs.operations import Failures, Floats
from plimsoll.domain.keys.log_words import COORDINATED_OMISSION
from plimsoll.domain.text.errors import LogError

_UNIT = FoundUnit("us", "pgbench writes µs")


class PgBench:
    """Times in µs. With `--rate` they count from the scheduled start, else from the start of a transaction."""

    name = "pgbench"
    title = "pgbench log of transactions"

    def recognises(self, file: RunFile) -> bool:
        return bool(LINE.match(file.head))

    def read(self, files: Sequence[RunFile], options: ReadOptions) -> Reading:
        """Return the times of the transactions of all threads, by script, second by second of their ends.

        The lines are read three times, for what the next time needs to know: whether they have a schedule, and where
        what is judged begins and ends.
        """
        unit_of(options.unit, _UNIT, files[0].name)
        name, lines = files[0].name, RunLines(files)
        signs = _signs(lines)
        has_lag = signs.shows_lag
        clients = _clients(lines, has_lag=has_lag)
        end_s = clients.common_end_s()
        start_s = clients.first_due_s
        if end_s is not None:
            start_s = min(float(part.due_s.min()) for part in _until(lines, end_s, has_lag=has_lag))
        counted = _Counted(start_s)
        for part in _until(lines, end_s, has_lag=has_lag):
            counted.add(part)
        scripts = {script: f"script-{script}" for script in sorted(counted.answers)}
        # A script that is alone is all operations
        own_names = scripts if len(scripts) > 1 else dict.fromkeys(scripts, "")
        names = {script: options.kinds.get(own_name, own_name) for script, own_name in own_names.items()}
        measure: Measure = "response time" if has_lag else "service time"
        tracks, selected, _ = select(list(_series(name, counted, measure, names)))
        return Reading(
            title=self.title,
            tracks=tracks,
            unit=_UNIT,
            notes=(*lines.notes, *_notes(name, clients, signs), *selected),
            errors=dict(counted.errors.most_common()),
            failures=tuple(_failures(name, counted, names)),
            own_lag_p99_ms=_p99_ms(counted.late) if has_lag else None,
            started_at=datetime.fromtimestamp(counted.start_s, UTC),
        )


class _Counted:
    """The transactions that are judged, by script: answers by second and slot, failures one by one."""

    def __init__(self, start_s: float) -> None:
        self.start_s, self.end_s = start_s, -inf
        self.answers: dict[int, SecondCounts] = defaultdict(lambda: SecondCounts(start_s))
        self.failed: dict[tuple[int, int], list[Floats]] = defaultdict(list)
        self.errors: Counter[str] = Counter()
        self.late: Ints = np.zeros(0, dtype=np.int64)
        """How late pgbench itself began transactions, by slot, µs."""

    def add(self, part: Due) -> None:
        lines, answered = part.lines, part.lines.is_answered
        self.end_s = max(self.end_s, float(lines.at_s.max()))
        for script in np.unique(lines.script).tolist():
            own = answered & (lines.script == script)
            self.answers[script].add(lines.at_s[own], lines.us[own].astype(np.int64))
        self.errors.update(FAILED[kind] for kind in lines.kind[~answered].tolist())
        for kind in np.unique(lines.kind[~answered]).tolist():
            for script in np.unique(lines.script[lines.kind == kind]).tolist():
                self.failed[script, kind].append(part.due_s[(lines.kind == kind) & (lines.script == script)])
        # The rest of a lag is a wait for the client's transaction before, and so for the database.
        late_s = (part.begun_s - np.fmax(part.due_s, lines.before_s))[answered]
        late = np.bincount(WIDE.index_of(np.rint(np.maximum(late_s, 0.0) * 1e6).astype(np.int64)), minlength=1)
        size = max(len(late), len(self.late))
        self.late = np.pad(self.late, (0, size - len(self.late))) + np.pad(late, (0, size - len(late)))


def _signs(lines: RunLines) -> LagSigns:
    """Read all lines a first time. Raises LogError where one is damaged, and where some are missing or given twice."""
    signs, numbers = LagSigns(), Numbers()
    for chunk in lines.chunks():
        signs.add(chunk)
        numbers.add(chunk)
    lines.refuse_twins()
    numbers.require_all(lines)
    return signs


def _clients(lines: RunLines, *, has_lag: bool) -> Clients:
    """Read all lines, and return what clients did. Raises LogError where that is no whole run."""
    clients = Clients()
    for part in due(lines.chunks(), has_lag=has_lag):
        clients.add(part)
    if faults := list(dict.fromkeys(clients.faults(lines.names()))):
        raise LogError("; ".join(faults), mend=MEND_RUN)
    require_length_of_a_run(clients.first_due_s, clients.last_end_s, lines.files[0].name)
    return clients


def _until(lines: RunLines, end_s: float | None, *, has_lag: bool) -> Iterator[Due]:
    for part in due(lines.chunks(), has_lag=has_lag):
        kept = np.flatnonzero(part.lines.at_s <= (inf if end_s is None else end_s))
        if len(kept):
            yield part.at(kept)


def _notes(name: str, clients: Clients, signs: LagSigns) -> Iterator[str]:
    if (end_s := clients.common_end_s()) is not None:
        early_s = clients.last_begun_s - end_s
        yield f"{name}: a client ended {early_s:.3f} s before the others; nothing is judged after it"
    if signs.has_seventh and not signs.shows_lag:
        doubt = "the seventh column is taken for a number of tries (`--max-tries`), since it is not shown to be a lag"
        yield f"{name}: {doubt} behind a schedule (`--rate`)"


def _p99_ms(counts: Ints) -> float | None:
    """Return the 99th percentile of values in µs that are counted by slot."""
    reached = np.cumsum(counts)
    if not reached.any():
        return None
    slot = np.searchsorted(reached, ceil(0.99 * reached[-1]))
    return float(WIDE.highest_values(np.array([slot]))[0]) / 1000


def _failures(name: str, counted: _Counted, operations: Mapping[int, str]) -> Iterator[Failures]:
    for (script, kind), moments in sorted(counted.failed.items()):
        at_s = np.concatenate(moments)
        yield Failures(name, operations[script], FAILED[kind], at_s, np.ones(len(at_s), dtype=np.int64))


def _series(name: str, counted: _Counted, measure: Measure, operations: Mapping[int, str]) -> Iterator[Series]:
    """Yield the records of each script, from the first begin to the last end of any transaction, answered or not."""
    log = HistogramLog(name, (), counted.start_s)
    last = int((counted.end_s - counted.start_s) // 1)
    for script, operation in operations.items():
        records = tuple(counted.answers[script].records("", 0, last, counted.end_s))
        yield Series(log, measure, operation, records, f"script-{script}")


_INTERVAL_LINE = re.compile(r"1\d{9}( \d+){5}(( \d+){4}( \d+)?)?(( \d+){4})?\r?")
_OF_TIMES, _WITH_LAG, _WITH_SKIPPED, _WHOLE = 6, 10, 11, 15
"""Columns: up to release 14 those of the lag with `--rate`, then of skips with `--latency-limit`; since 15 all."""
_FAILED_COLUMNS = {10: "skipped", 13: "serialization", 14: "deadlock"}
_OPEN = "pgbench tells the least and the greatest time of an interval: with the bound between them it stays open"
_OMISSION = f"judged on service time: a stall hides the operations that were due in it {COORDINATED_OMISSION}"
_MEND_INTERVALS = "give the log as pgbench wrote it; without `--aggregate-interval` it has every transaction"


class _IntervalRow(NamedTuple):
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
        return bool(_INTERVAL_LINE.fullmatch(file.head.partition("\n")[0]))

    def read(self, files: Sequence[RunFile], options: ReadOptions) -> Reading:
        """Return a sample for each interval of each thread's log."""
        unit_of(options.unit, _UNIT, files[0].name)
        notes: list[str] = []
        logs = {file.name: list(_rows(file, notes)) for file in files}
        rows = [row for of_file in logs.values() for row in of_file]
        failed = (failures for name, of_file in logs.items() for failures in _failures_of_rows(name, of_file))
        samples = (sample for name, of_file in logs.items() for sample in _samples(name, of_file))
        notes += [] if any(sum(row.figures[_OF_TIMES:_WITH_LAG]) for row in rows) else [_OMISSION]
        started_at = datetime.fromtimestamp(min(row.start_s for row in rows), UTC)
        return replace(of_samples(self.title, _UNIT, samples, failed, [*notes, _OPEN]), started_at=started_at)


def _rows(file: RunFile, notes: list[str]) -> Iterator[_IntervalRow]:
    width = 0
    lines = file.text.splitlines(keepends=True)
    for number, line in enumerate(lines, 1):
        where = f"{file.name}, line {number}"
        if number == len(lines) and number > 1 and not line.endswith("\n"):
            notes.append(cut_line_note(file.name, number))
            return
        figures = [int(word) for word in line.split()] if _INTERVAL_LINE.fullmatch(line.rstrip("\n")) else []
        if not figures or len(figures) != (width or len(figures)):
            raise LogError("is no line of pgbench's log of intervals", where=where, mend=_MEND_INTERVALS)
        width = len(figures)
        yield _IntervalRow(figures[0], figures)


def _length_s(rows: Sequence[_IntervalRow]) -> float:
    """Return the length of the intervals; a log of one line does not tell it."""
    return float(median(later.start_s - row.start_s for row, later in pairwise(rows))) if len(rows) > 1 else 1.0


def _samples(name: str, rows: Sequence[_IntervalRow]) -> Iterator[Sample]:
    length_s = _length_s(rows)
    for row in rows:
        least, most = (figure / 1000 for figure in row.figures[4:_OF_TIMES])
        values = {0.0: least, 100.0: most} if row.answered else {}
        yield Sample(row.start_s, length_s, "", row.answered, values, name)


def _failures_of_rows(name: str, rows: Sequence[_IntervalRow]) -> Iterator[Failures]:
    middle_s = _length_s(rows) / 2
    for column, kind in _FAILED_COLUMNS.items():
        known = (row for row in rows if len(row.figures) > column)
        yield from failures_at(name, kind, ((row.start_s + middle_s, row.figures[column]) for row in known))
