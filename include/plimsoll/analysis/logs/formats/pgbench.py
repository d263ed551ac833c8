"""pgbench, `--log`: a line for every transaction, from its scheduled start where it ran with `--rate`."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np

from plimsoll.analysis.logs.formats.reading import Reading, ReadOptions, RunFile
from plimsoll.analysis.logs.formats.selection import Measure, Series, select
from plimsoll.analysis.logs.formats.units import FoundUnit, unit_of
from plimsoll.analysis.logs.hdr.encode import encoded
from plimsoll.analysis.logs.hdr.hdrlog import HistogramLog
from plimsoll.analysis.logs.hdr.record_line import Record
from plimsoll.analysis.logs.unpacking import unpacked
from plimsoll.domain.errors import LogError

if TYPE_CHECKING:
    import pandas as pd

_LINE = re.compile(
    r"\d+ \d+ (\d+|skipped|failed|serialization|deadlock|other) \d+ \d{9,11} \d{1,6}( \d+){0,2}\r?(\n|$)"
)
_COLUMNS = ("client", "number", "took", "script", "second", "microsecond", "lag", "tries")
_LEAST = 6
_UNIT = FoundUnit("us", "pgbench writes µs")
_MOST_RETRIES = 20
"""A seventh column that never exceeds this counts retries (`--max-tries`); a schedule's lag is of hundreds of µs."""
_NONE = np.zeros(0, dtype=np.int64)
_SHORTEST_S = 1e-6
"""The length of a last record that begins with the last transaction's end."""


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
        table = pd.concat([_table(file) for file in files], ignore_index=True)
        answered = table[table["us"].notna()]
        if answered.empty:
            raise LogError("holds no transaction that was answered", where=files[0].name, mend="give the whole log")
        measure: Measure = "response time" if _has_schedule(table) else "service time"
        start_s = float((answered["at_s"] - answered["us"] / 1e6).min())
        series = _series(files[0].name, answered, start_s, measure, options.kinds)
        tracks, notes, _ = select(list(series))
        failed = table.loc[table["us"].isna(), "took"].value_counts()
        return Reading(
            title=self.title,
            tracks=tracks,
            unit=_UNIT.unit,
            unit_why=_UNIT.why,
            notes=notes,
            errors={str(kind): int(count) for kind, count in failed.items()},
            started_at=datetime.fromtimestamp(start_s, UTC),
        )


def _table(file: RunFile) -> "pd.DataFrame":
    """Return the lines of a log: `us`, NaN where a transaction failed, and `at_s`, its end. A cut line is left out."""
    import pandas as pd

    data, _ = unpacked(file.data, file.name)
    whole = data[: data.rfind(b"\n") + 1] or data
    table = pd.read_csv(BytesIO(whole), sep=" ", names=_COLUMNS, dtype={"took": str}, index_col=False)
    table = table.dropna(subset=list(_COLUMNS[:_LEAST]))
    return table.assign(
        us=pd.to_numeric(table["took"], errors="coerce"), at_s=table["second"] + table["microsecond"] / 1e6
    )


def _has_schedule(table: "pd.DataFrame") -> bool:
    """Tell whether the transactions have a scheduled start, from which their times then count."""
    if table["tries"].notna().any():
        return True
    return bool(table["lag"].notna().all() and table["lag"].max() > _MOST_RETRIES)


def _series(
    name: str, answered: "pd.DataFrame", start_s: float, measure: Measure, kinds: Mapping[str, str]
) -> Iterator[Series]:
    """Yield the records of each script; a script that is alone is all operations."""
    log = HistogramLog(name, (), start_s)
    seconds = ((answered["at_s"] - start_s) // 1).astype("int64")
    end_s = float(answered["at_s"].max()) - start_s
    scripts = sorted(answered["script"].unique())
    for script in scripts:
        own = answered["script"] == script
        operation = f"script-{script}" if len(scripts) > 1 else ""
        by_second = answered.loc[own, "us"].astype("int64").groupby(seconds[own])
        values = {int(second): found.to_numpy() for second, found in by_second}
        records = tuple(
            Record(
                "",
                start_s + second,
                max(_SHORTEST_S, min(1.0, end_s - second)),
                encoded(values.get(second, _NONE)),
                second + 1,
            )
            for second in range(int(seconds.max()) + 1)
        )
        yield Series(log, measure, kinds.get(operation, operation), records, operation)
