"""The logs of the biggest cell: 150 minutes at 120,000 ops/s, one histogram of reads and one of writes per second."""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from hdrh.histogram import HdrHistogram
from scipy.special import ndtr

from plimsoll.analysis.logs.hdr.histograms import WIDE

SECONDS = 9_000
_RECIPE = "1"
_STARTED_AT_S = 1_795_201_196
_HOUR_US = 3_600_000_000
_HEAD = (
    "#[Histogram log format version 1.3]\n"
    f"#[BaseTime: {_STARTED_AT_S}.000 (seconds since epoch)]\n"
    f"#[StartTime: {_STARTED_AT_S}.000 (seconds since epoch), made for benchmarks]\n"
    '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"\n'
)

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Operation:
    """One kind of query: its rate in ops/s, and its times as a log-normal around the median, µs."""

    name: str
    rate: int
    median_us: float
    spread: float


OPERATIONS = (Operation("mutations", 96_000, 450.0, 0.62), Operation("selects", 24_000, 750.0, 0.75))


def big_cell() -> list[Path]:
    """Return the logs. They are made if the temporary folder does not have them yet.

    A log is complete or absent, and has the same counts on every machine.
    """
    folder = Path(tempfile.gettempdir()) / f"plimsoll-big-cell-{_RECIPE}"
    if not folder.is_dir():
        with tempfile.TemporaryDirectory(prefix="plimsoll-big-cell-") as scratch:
            whole = Path(scratch) / "cell"
            whole.mkdir()
            for operation in OPERATIONS:
                with (whole / f"cell.hdr-intended-{operation.name}").open("w", encoding="ascii") as log:
                    log.write(_HEAD)
                    log.writelines(_lines(operation))
            whole.rename(folder)
    return sorted(folder.iterdir())


def _lines(operation: Operation) -> Iterator[str]:
    """Yield one line per second, with random times. Warm-up is slower. About every 12th second has a pause of 20
    to 70 ms.
    """
    rng = np.random.default_rng(operation.rate)
    histogram = HdrHistogram(1, _HOUR_US, 3)
    counts = np.ctypeslib.as_array(histogram.counts)
    edges = WIDE.lowest_values(np.arange(len(counts) + 1)).astype(np.float64)
    for second in range(SECONDS):
        pause_us = rng.uniform(20_000, 70_000) if rng.random() < 1 / 12 else 0.0
        expected = _expected(operation, edges, 1 + 2 * np.exp(-second / 300), pause_us)
        likely = int(np.flatnonzero(expected > 1e-6)[-1]) + 1
        counts[:] = 0
        counts[:likely] = rng.poisson(expected[:likely])
        yield _line(second, histogram, counts)


def _expected(operation: Operation, edges: Floats, slowness: float, pause_us: float) -> Floats:
    """Return the expected count of each slot for the operations of one second."""
    with np.errstate(divide="ignore"):
        steady = ndtr(np.log(edges / (operation.median_us * slowness)) / operation.spread)
    held = np.clip(edges / pause_us, 0, 1) * (pause_us / 1e6) if pause_us else np.zeros_like(edges)
    expected: Floats = operation.rate * np.diff(steady * (1 - pause_us / 1e6) + held)
    return np.maximum(expected, 0)


def _line(second: int, histogram: HdrHistogram, counts: npt.NDArray[np.int64]) -> str:
    """Return one record. The histogram gets its counts directly, as if the library had counted the operations."""
    top = np.flatnonzero(counts)[-1:]
    histogram.max_value = int(WIDE.highest_values(top)[0])
    histogram.total_count = int(counts.sum())
    return f"{second}.000,1.000,{histogram.max_value / 1e3:.3f},{histogram.encode().decode()}\n"
