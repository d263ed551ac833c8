"""The judged percentile of a cell's intervals, as a series in order of time."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray


class Series(NamedTuple):
    """Intervals that the first service level judged: start in s, percentile in ms (NaN: nothing answered), missed."""

    start_s: NDArray[np.float64]
    judged_ms: NDArray[np.float64]
    missed: NDArray[np.bool_]


class HasSeries(Protocol):
    """An attempt whose series is known."""

    @property
    def series(self) -> Series:
        """Return the judged percentile of the attempt's intervals."""


NOTHING = Series(np.empty(0), np.empty(0), np.empty(0, dtype=bool))


def judged_series(attempt: HasSeries | None) -> Series:
    """Return the series of one attempt; empty where there is no attempt, or it has no intervals."""
    return NOTHING if attempt is None else attempt.series


def series_of(table: pd.DataFrame) -> Series:
    """Return the series of an attempt's intervals table."""
    if table.empty:
        return NOTHING
    judged = table.loc[table["met"].notna(), ["start_s", "judged_ms", "met"]].sort_values("start_s")
    return Series(
        judged["start_s"].to_numpy(dtype=np.float64),
        judged["judged_ms"].to_numpy(dtype=np.float64),
        ~judged["met"].to_numpy(dtype=bool),
    )


def log_ms(series: Series) -> NDArray[np.float64]:
    """Return the natural logarithms of the known percentiles, because response times vary by factors and not by
    sums.
    """
    known = series.judged_ms[series.judged_ms > 0]
    logs: NDArray[np.float64] = np.log(known)
    return logs
