"""pgbench, `--log`: a line for every transaction, from its scheduled start where it ran with `--rate`.

By its sources (doLog, processXactStats): a line has the time at which the transaction ended or was skipped. With
`--rate` the seventh column is the lag behind the schedule, 0 where nothing was answered; with `--max-tries` the last
column counts tries beyond the first. A thread takes the times of its schedule one after another.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np

from plimsoll.analysis.logs.clients import ClientOperations
from plimsoll.analysis.logs.formats.reading import Reading, ReadOptions, RunFile
from plimsoll.analysis.logs.formats.selection import Measure, Series, select
from plimsoll.analysis.logs.formats.units import FoundUnit, unit_of
from plimsoll.analysis.logs.hdr.encode import EMPTY, encoded
from plimsoll.analysis.logs.hdr.hdrlog import HistogramLog
from plimsoll.analysis.logs.hdr.record_line import Record
from plimsoll.analysis.logs.operations import Failures
from plimsoll.analysis.logs.unpacking import unpacked
from plimsoll.domain.errors import LogError

if TYPE_CHECKING:
    import pandas as pd

_FAILED = ("skipped", "failed", "serialization", "deadlock", "other")
_LINE = re.compile(rf"\d+ \d+ (\d+|{'|'.join(_FAILED)}) \d+ \d{{9,11}} \d{{1,6}}( \d+){{0,2}}\r?(\n|$)")
_COLUMNS = ("client", "number", "took", "script", "second", "microsecond", "lag", "tries")
_LEAST = 6
_UNIT = FoundUnit("us", "pgbench writes µs")
_FEW, _RARELY = 5, 0.1
"""Of a real run's lags 0.1 % were below this; of numbers of tries 35 %, of transactions in each other's way."""
_NO_WAIT_S = 0.001
_MANY, _NAMED = 20, 5
"""So many lines for each client, and each has its own; so many clients are named."""
_CHUNK = 100_000
"""Lines that are parsed at once: as text they take ten times as much memory as afterwards."""
_SHORTEST_S = 1e-6
"""The length of a last record that begins with the last transaction's end."""
_MEND = "give the whole logs of all threads of one run (`--log`), without `--sampling-rate`"
_MEND_RUN = f"{_MEND}; where a client gave up, pgbench's console says why, and the run is no measurement"


class PgBench:
    """Times in µs. With `--rate` they count from the scheduled start, else from the start of a transaction."""

    name = "pgbench"
    title = "pgbench log of transactions"

    def recognises(self, file: RunFile) -> bool:
        """Recognise the log by its first line."""
        return bool(_LINE.match(file.head))

    def read(self, files: Sequence[RunFile], options: ReadOptions) -> Reading:
        """Return the times of the transactions of all threads, by script, second by second of their ends."""
        import pandas as pd

        unit_of(options.unit, _UNIT, files[0].name)
        tables = [_table(file, place) for place, file in enumerate(files)]
        _refuse_twins(files, tables)
        name, names = files[0].name, [file.name for file in files]
        table = _by_client(pd.concat(tables, ignore_index=True), names)
        _refuse_missing_clients(table, name)
        before_s = table.groupby("place")["at_s"].shift()
        has_lag = _has_lag(table, before_s)
        table["due_s"] = _due_s(table, before_s, has_lag=has_lag)
        begun_s = table["due_s"] + (table["lag"] / 1e6 if has_lag else 0.0)
        clients = table.drop_duplicates("place")
        operations = ClientOperations(
            [
                f"{names[file]}, client {client}"
                for file, client in zip(clients["file"], clients["client"], strict=True)
            ],
            table["place"].to_numpy(),
            table["due_s"].to_numpy(),
            begun_s.where(table["us"].notna(), np.fmax(table["due_s"], before_s)).to_numpy(),
            table["at_s"].to_numpy(),
            table["line"].to_numpy(),
        )
        if faults := list(dict.fromkeys(operations.faults())):
            raise LogError("; ".join(faults), mend=_MEND_RUN)
        notes = []
        if (end_s := operations.common_end_s()) is not None:
            early_s = operations.last_begun_s - end_s
            notes.append(f"{name}: a client ended {early_s:.3f} s before the others; nothing is judged after it")
            table = table[table["at_s"] <= end_s]
        if table["lag"].notna().any() and not has_lag:
            notes.append(
                f"{name}: the seventh column is taken for a number of tries (`--max-tries`), since it is not shown to "
                "be a lag behind a schedule (`--rate`)"
            )
        measure: Measure = "response time" if has_lag else "service time"
        start_s, scripts = float(table["due_s"].min()), _operations(table, options.kinds)
        tracks, selected, _ = select(list(_series(name, table, start_s, measure, scripts)))
        failed = table[table["us"].isna()]
        return Reading(
            title=self.title,
            tracks=tracks,
            unit=_UNIT.unit,
            unit_why=_UNIT.why,
            notes=(*notes, *selected),
            errors={str(kind): int(count) for kind, count in failed["kind"].value_counts().items() if count},
            failures=tuple(_failures(name, failed, scripts)),
            own_lag_p99_ms=_own_lag_p99_ms(table, before_s, begun_s) if has_lag else None,
            started_at=datetime.fromtimestamp(start_s, UTC),
        )


def _table(file: RunFile, place: int) -> "pd.DataFrame":
    """Return the lines of a log: `us`, NaN where a transaction failed, and `at_s`, its end. A cut line is left out.

    Raises LogError on a line that pgbench does not write.
    """
    import pandas as pd

    data, _ = unpacked(file.data, file.name)
    whole = data[: data.rfind(b"\n") + 1]
    if not whole:
        raise LogError("holds no transaction", where=file.name, mend=_MEND)
    chunks = pd.read_csv(
        BytesIO(whole), sep=" ", names=_COLUMNS, dtype={"took": str}, index_col=False, chunksize=_CHUNK
    )
    table = pd.concat([_compact(chunk, file.name) for chunk in chunks])
    return table.assign(line=np.arange(1, len(table) + 1, dtype=np.int32), file=np.int16(place))


def _compact(lines: "pd.DataFrame", name: str) -> "pd.DataFrame":
    """Return the lines in little memory."""
    import pandas as pd

    us = pd.to_numeric(lines["took"], errors="coerce")
    kind = lines["took"].where(lines["took"].isin(_FAILED)).astype(pd.CategoricalDtype(list(_FAILED)))
    damaged = (lines[list(_COLUMNS[:_LEAST])].isna().any(axis=1) | (us.isna() & kind.isna())).to_numpy()
    if damaged.any():
        where = f"{name}, line {lines.index[int(damaged.argmax())] + 1}"
        raise LogError("is no line of pgbench's", where=where, mend=_MEND)
    small = lines[["client", "number", "script"]].astype(np.int32)
    lag, tries = lines["lag"].astype(np.float32), lines["tries"].astype(np.float32)
    return small.assign(us=us, kind=kind, at_s=lines["second"] + lines["microsecond"] / 1e6, lag=lag, tries=tries)


def _refuse_twins(files: Sequence[RunFile], tables: Sequence["pd.DataFrame"]) -> None:
    """Raise LogError where a log is given twice, or with a part of itself."""
    for place, table in enumerate(tables):
        for other, twin in zip(files[:place], tables[:place], strict=True):
            both = min(len(table), len(twin))
            if table[:both].drop(columns="file").equals(twin[:both].drop(columns="file")):
                what = f"holds the same transactions as {other.name}"
                raise LogError(what, where=files[place].name, mend="give each log once")


def _by_client(table: "pd.DataFrame", names: Sequence[str]) -> "pd.DataFrame":
    """Return the lines with each client's together, in the order written; `place` is that of their client.

    Raises LogError where a client's transactions are not numbered one after another.
    """
    place = table.groupby(["file", "client"], sort=False).ngroup()
    table = table.assign(place=place).sort_values("place", kind="stable", ignore_index=True)
    steps = table.groupby("place")["number"].diff()
    if (odd := (steps.notna() & (steps != steps.median())).to_numpy()).any():
        first = table.iloc[int(odd.argmax())]
        what = f"transaction {first['number']} of client {first['client']} does not follow the one before"
        where = f"{names[first['file']]}, line {first['line']}"
        raise LogError(f"{what}: lines are missing, or of several runs", where=where, mend=_MEND)
    return table


def _refuse_missing_clients(table: "pd.DataFrame", name: str) -> None:
    """Raise LogError where clients, which are numbered from 0 on, have no line among so many."""
    missing = set(range(int(table["client"].max()) + 1)) - set(table["client"].unique())
    if missing and len(table) > _MANY * table["client"].max():
        clients = ", ".join(map(str, sorted(missing)[:_NAMED]))
        what = f"holds no transaction of client {clients}: the log of a thread is missing, or they gave up at once"
        raise LogError(what, where=name, mend=_MEND_RUN)


def _has_lag(table: "pd.DataFrame", before_s: "pd.Series[float]") -> bool:
    """Tell whether the transactions have a scheduled start, from which their times then count.

    A number of tries stands in the same column, often a small one. Only a transaction with a schedule is skipped, or
    starts before its client's last one ended, at `before_s`. Where none was late, clients waited for their turn.
    """
    answered = table["us"].notna()
    if table["tries"].notna().any() or (table["kind"] == "skipped").any():
        return True
    small = (table.loc[answered, "lag"] < _FEW).mean()
    if not table["lag"].notna().all() or (table.loc[~answered, "lag"] > 0).any() or not small <= _RARELY:
        return False
    waits_s = (table["at_s"] - table["us"] / 1e6 - before_s).dropna()
    return bool((waits_s < -_NO_WAIT_S).any() or not (waits_s < _NO_WAIT_S).mean() > 1 / 2)


def _due_s(table: "pd.DataFrame", before_s: "pd.Series[float]", *, has_lag: bool) -> "pd.Series[float]":
    """Return when each transaction was due, s since the epoch; without a schedule, when it began.

    `before_s`: the end of the client's transaction before. A client takes the times of a schedule in their order. So
    those that were not answered were due between the ones before and after them, and are spread evenly there.
    """
    answered = table["us"].notna()
    due_s = (table["at_s"] - table["us"] / 1e6).where(answered, table["at_s"])
    if not has_lag:
        return due_s.where(answered, before_s.fillna(table["at_s"]))
    known = answered | before_s.isna() | before_s.shift(-1, fill_value=np.nan).isna()
    places = np.arange(len(table))
    return table["at_s"].clip(upper=np.interp(places, places[known], due_s[known]))


def _own_lag_p99_ms(table: "pd.DataFrame", before_s: "pd.Series[float]", begun_s: "pd.Series[float]") -> float | None:
    """Return how late pgbench itself began transactions, 99th percentile, ms.

    The rest of their lag is a wait for the client's transaction before, and so for the database.
    """
    could_s = np.fmax(table["due_s"], before_s.reindex(table.index))
    late_s = (begun_s.reindex(table.index) - could_s)[table["us"].notna()]
    return float(np.percentile(late_s.clip(lower=0.0), 99)) * 1000 if len(late_s) else None


def _operations(table: "pd.DataFrame", kinds: Mapping[str, str]) -> dict[int, str]:
    """Return the operation of each script; a script that is alone is all operations."""
    scripts = sorted(table["script"].unique())
    names = {script: f"script-{script}" if len(scripts) > 1 else "" for script in scripts}
    return {script: kinds.get(name, name) for script, name in names.items()}


def _failures(name: str, failed: "pd.DataFrame", operations: Mapping[int, str]) -> Iterator[Failures]:
    for script, operation in operations.items():
        for kind in _FAILED:
            at_s = failed.loc[(failed["script"] == script) & (failed["kind"] == kind), "due_s"].to_numpy()
            if len(at_s):
                yield Failures(name, operation, kind, at_s, np.ones(len(at_s), dtype=np.int64))


def _series(
    name: str, table: "pd.DataFrame", start_s: float, measure: Measure, operations: Mapping[int, str]
) -> Iterator[Series]:
    """Yield the records of each script, from the first begin to the last end of any transaction, answered or not."""
    log = HistogramLog(name, (), start_s)
    answered = table[table["us"].notna()]
    seconds = ((answered["at_s"] - start_s) // 1).astype("int64")
    end_s = float(table["at_s"].max()) - start_s
    for script, operation in operations.items():
        own = answered["script"] == script
        by_second = answered.loc[own, "us"].astype("int64").groupby(seconds[own])
        values = {int(second): np.asarray(found, dtype=np.int64) for second, found in by_second}
        records = tuple(
            Record(
                "",
                start_s + second,
                max(_SHORTEST_S, min(1.0, end_s - second)),
                encoded(values[second]) if second in values else EMPTY,
                second + 1,
            )
            for second in range(int(end_s // 1) + 1)
        )
        yield Series(log, measure, operation, records, f"script-{script}")
