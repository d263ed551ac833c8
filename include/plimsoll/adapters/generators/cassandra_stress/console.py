"""Read the console output of cassandra-stress. Pure.

Every interval of its log gives a row for all operations (`total,`) and, where there are several operations, one row for
each. The results of the whole run follow, and `END` if the run was complete.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite

TOTAL = "total"
_ROW = re.compile(r"^(?P<type>[A-Za-z]\w*),\s+(?P<figures>[\d.NaN, -]+)$")
_COLUMNS = ("operations", "ops_s", "pk_s", "row_s", "mean_ms", "p50", "p95", "p99", "p999", "max_ms", "time_s")
_ERRORS = 12
_SLACK_S = 0.5
"""A row ends at a whole second of the host's clock, give or take rounding; records are a second or longer."""


@dataclass(frozen=True)
class Row:
    """One row.

    `operations` counts from the beginning of the run; `mean_ms`, `ops_s` and `errors` cover the row's interval.

    `time_s`: the end of the interval, from the beginning of the run. In a run at a fixed rate, `mean_ms` is the mean
    response time.
    """

    operation: str
    operations: int
    ops_s: float
    mean_ms: float
    time_s: float
    errors: int

    @property
    def under_way(self) -> float:
        """Return the mean number of operations that were due and not answered yet, by Little's law."""
        return self.ops_s * self.mean_ms / 1000


def rows(text: str) -> tuple[Row, ...]:
    """Return all complete rows in order. A row with a figure that is not a number is left out."""
    return tuple(_rows(text))


def _rows(text: str) -> Iterator[Row]:
    for line in text.splitlines():
        match = _ROW.match(line.strip())
        figures = match["figures"].split(",") if match else ()
        if match is None or len(figures) <= _ERRORS:
            continue
        try:
            told = dict(zip(_COLUMNS, map(float, figures), strict=False))
            if not all(isfinite(told[name]) for name in ("operations", "ops_s", "mean_ms", "time_s")):
                continue
            yield Row(
                operation=match["type"],
                operations=int(told["operations"]),
                ops_s=told["ops_s"],
                mean_ms=told["mean_ms"],
                time_s=told["time_s"],
                errors=int(float(figures[_ERRORS])),
            )
        except ValueError:  # a row without figures, or one that was cut short
            continue


def ended_by_itself(text: str) -> bool:
    """Tell whether the output says that the run ended as planned."""
    return any(line.strip() == "END" for line in text.splitlines())


def judged_rows(told: Sequence[Row], warmup_s: float, duration_s: float) -> tuple[Row, ...]:
    """Return rows of all operations after the warm-up, up to the end of the duration, which includes the warm-up."""
    begin_s, end_s = warmup_s + _SLACK_S, duration_s + _SLACK_S
    return tuple(row for row in told if row.operation == TOTAL and begin_s < row.time_s <= end_s)
