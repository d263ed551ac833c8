"""Percentile tables of a whole run as text: wrk2 `--latency`, cassandra-easy-stress `--hdr`, HdrHistogram's own."""

import re
from collections.abc import Iterator, Sequence
from math import ceil

from plimsoll.analysis.logs.formats.reading import Reading, ReadOptions, RunFile, WholeRun
from plimsoll.analysis.logs.hdr.histogram_layout import UNITS_PER_MS, Unit
from plimsoll.domain.keys.log_words import COORDINATED_OMISSION, KINDS
from plimsoll.domain.text.errors import LogError

_TABLE = re.compile(r"^[ \t]*Value\s+Percentile\s+TotalCount\s+1/\(1-Percentile\)", re.MULTILINE)
_ROW = re.compile(r"^\s*([0-9]+(?:\.[0-9]+)?)\s+([01]\.[0-9]+)\s+([0-9]+)(\s+[0-9.]+|\s+inf)?\s*$")
_TOTAL = re.compile(r"#\[Max\s*=\s*([0-9]+(?:\.[0-9]+)?), Total count\s*=\s*([0-9]+)")
_SHOWN = (50.0, 90.0, 99.0, 99.9)
_WRK2 = "(HdrHistogram - Recorded Latency)"
_WRK2_TOTAL = re.compile(r"^[ \t]*\d+ requests in .* read$", re.MULTILINE)
_WRK2_SOCKET = re.compile(r"^[ \t]*Socket errors: (.*)$", re.MULTILINE)
_WRK2_REFUSED = re.compile(r"^[ \t]*Non-2xx or 3xx responses: (\d+)", re.MULTILINE)
_UNCORRECTED = "(HdrHistogram - Uncorrected Latency"


class PercentileText:
    """Percentiles of a whole run. They hide intervals that missed, so no service level can be judged by them."""

    name = "percentiles"
    title = "percentile table of a whole run"

    def recognises(self, file: RunFile) -> bool:
        return bool(_TABLE.search(file.head))

    def read(self, files: Sequence[RunFile], options: ReadOptions) -> Reading:
        """Read one entry per file: its first table, which in wrk2's output is the corrected one."""
        unit: Unit = options.unit or "ms"
        kinds = {**KINDS, **options.kinds}
        return Reading(
            title=self.title,
            unit=unit,
            unit_why="as given (`--unit`)" if options.unit else "assumed, since such tables mostly are in ms",
            whole_run=tuple(_whole_run(file, unit, kinds) for file in files),
            obstacles=("percentiles of the whole run only, warm-up included: they hide intervals that missed",),
            notes=tuple(note for file in files for note in _remarks(file, unit, is_assumed=options.unit is None)),
            errors=_errors(files) if all(_WRK2_TOTAL.search(file.text) for file in files) else None,
        )


def _errors(files: Sequence[RunFile]) -> dict[str, int]:
    """Return the failures of the whole run, which wrk2 tells where there are any."""
    errors: dict[str, int] = {}
    for file in files:
        socket = _WRK2_SOCKET.search(file.text)
        pairs = re.findall(r"(\w+) (\d+)", socket[1]) if socket else []
        refused = _WRK2_REFUSED.search(file.text)
        for kind, count in [*pairs, *([("non-2xx or 3xx responses", refused[1])] if refused else [])]:
            if int(count):
                errors[kind] = errors.get(kind, 0) + int(count)
    return errors


def _whole_run(file: RunFile, unit: Unit, kinds: dict[str, str]) -> WholeRun:
    # wrk2 prints the corrected times first; other tools print one table.
    head = _TABLE.search(file.text)
    table = file.text[head.end() if head else 0 :]
    rows = [(float(row[1]), int(row[3])) for row in map(_ROW.match, table.splitlines()) if row]
    total = _TOTAL.search(table)
    if total is None:
        what = "the table has no last lines with its maximum and total count"
        raise LogError(what, where=file.name, mend="give the tool's whole output")
    count, highest = int(total[2]), float(total[1])
    words = re.split(r"[^a-z]+", file.name.rpartition("/")[2].lower())
    operation = next((kinds[word] for word in words if word in kinds), "")
    if not count:
        return WholeRun(operation, 0)
    values = {100.0: highest}
    for percentile in _SHOWN:
        # The first row at or above its rank: never too low, at most one row too high
        rank = ceil(percentile / 100 * count)
        values[percentile] = next((value for value, reached in rows if reached >= rank), highest)
    scaled = {percentile: values[percentile] / UNITS_PER_MS[unit] for percentile in (*_SHOWN, 100.0)}
    return WholeRun(operation, count, scaled)


def _remarks(file: RunFile, unit: Unit, *, is_assumed: bool) -> Iterator[str]:
    yield f"{file.name}: a percentile is given as the table's next value, so it is at most one step too high"
    if _WRK2 in file.text:
        yield f"{file.name}: wrk2's times count from the schedule (its corrected table is taken)"
    elif _UNCORRECTED in file.text:
        yield f"{file.name}: uncorrected times: a stall hides the operations that were due in it {COORDINATED_OMISSION}"
    else:
        yield f"{file.name}: does not say whether times count from the schedule or from the send {COORDINATED_OMISSION}"
    if is_assumed and _WRK2 not in file.text:
        yield f"{file.name}: does not say its unit; {unit} is assumed (`--unit`)"
