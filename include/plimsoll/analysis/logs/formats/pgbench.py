"""pgbench, `--log`: a line for every transaction, from its scheduled start where it ran with `--rate`.

By its sources (doLog, processXactStats): a line has the time at which the transaction ended or was skipped. With
`--rate` the seventh column is the lag behind the schedule, 0 where nothing was answered; with `--max-tries` the last
column counts tries beyond the first. A thread takes the times of its schedule one after another.

Logs have every transaction if clients are numbered from 0 on, and so are each one's transactions.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from math import ceil, inf

import numpy as np

from plimsoll.analysis.logs.continuity import ClientOperations, Clients
from plimsoll.analysis.logs.formats.operation_log.second_counts import SecondCounts, require_length_of_a_run
from plimsoll.analysis.logs.formats.pgbench_aggregated import Due, LagSigns, due
from plimsoll.analysis.logs.formats.pgbench_lines import FAILED, LINE, MEND, Lines, RunLines
from plimsoll.analysis.logs.formats.reading import Reading, ReadOptions, RunFile
from plimsoll.analysis.logs.formats.selection import Measure, Series, select
from plimsoll.analysis.logs.formats.units import FoundUnit, unit_of
from plimsoll.analysis.logs.hdr.hdrlog import HistogramLog
from plimsoll.analysis.logs.hdr.histogram_layout import WIDE, Ints
from plimsoll.analysis.logs.operations import Failures, Floats
from plimsoll.domain.text.errors import LogError

_UNIT = FoundUnit("us", "pgbench writes µs")
MEND_RUN = f"{MEND}; where a client gave up, pgbench's console says why, and the run is no measurement"
_MANY, _NAMED = 20, 5
"""So many lines for each client, and each has its own; so many clients are named."""


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
            unit=_UNIT.unit,
            unit_why=_UNIT.why,
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
        own = part.lines
        clients.add(ClientOperations(own.client, part.due_s, part.begun_s, own.at_s, own.line))
    if faults := list(dict.fromkeys(clients.faults(lines.names()))):
        raise LogError("; ".join(faults), mend=MEND_RUN)
    require_length_of_a_run(clients.first_due_s, clients.last_end_s, lines.files[0].name)
    return clients


def _until(lines: RunLines, end_s: float | None, *, has_lag: bool) -> Iterator[Due]:
    for part in due(lines.chunks(), has_lag=has_lag):
        kept = np.flatnonzero(part.lines.at_s <= (inf if end_s is None else end_s))
        if len(kept):
            yield Due(part.lines.at(kept), part.due_s[kept], part.begun_s[kept])


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


class Numbers:
    """The numbers of a run's transactions and clients."""

    def __init__(self) -> None:
        self._lines = 0
        self._steps: Counter[float] = Counter()
        self._first: dict[float, tuple[int, int, int]] = {}
        """By step, where it is first: client, line and number."""

    def add(self, lines: Lines) -> None:
        self._lines += len(lines.line)
        known = np.flatnonzero(~np.isnan(lines.step))
        steps, first, counts = np.unique(lines.step[known], return_index=True, return_counts=True)
        for step, index, count in zip(steps.tolist(), known[first].tolist(), counts.tolist(), strict=True):
            if step in self._first or len(self._first) < 1000:  # a whole log has one
                self._steps[step] += count
                seen = int(lines.client[index]), int(lines.line[index]), int(lines.number[index])
                self._first[step] = min(self._first.get(step, seen), seen)

    def require_all(self, run: RunLines) -> None:
        """Raise LogError where numbers do not follow one another, or where a client has no line among so many."""
        usual = _median(self._steps)
        if odd := [seen for step, seen in self._first.items() if step != usual]:
            client, line, number = min(odd)
            what = f"transaction {number} of client {list(run.clients)[client][1]} does not follow the one before"
            raise LogError(f"{what}: lines are missing, or of several runs", where=run.where(client, line), mend=MEND)
        numbers = {number for _, number in run.clients}
        missing = sorted(set(range(max(numbers) + 1)) - numbers) if self._lines > _MANY * max(numbers) else []
        if missing:
            clients = ", ".join(map(str, missing[:_NAMED]))
            what = f"holds no transaction of client {clients}: the log of a thread is missing, or they gave up at once"
            raise LogError(what, where=run.files[0].name, mend=MEND_RUN)


def _median(counts: Counter[float]) -> float | None:
    """Return the median of numbers, by how often each is there."""
    if not counts:
        return None
    values = np.array(sorted(counts))
    reached = np.cumsum([counts[value] for value in values.tolist()])
    middle = np.searchsorted(reached, [(reached[-1] - 1) // 2, reached[-1] // 2], side="right")
    return float(values[middle].mean())
