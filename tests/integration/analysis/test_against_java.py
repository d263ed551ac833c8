"""Equal counts, equal percentiles: ours and those of Java's HdrHistogram 2.2.2, of the same logs."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.java_reference import JavaInterval, JavaReference
from tests.support.campaigns.interval_logs import HOUR_US, line, log, old_payload, payload

from plimsoll.analysis.attempt.intervals import SHOWN_NAMES
from plimsoll.analysis.attempt.judgement import Run
from plimsoll.analysis.attempt.service_level_evaluation import judge_logs
from plimsoll.analysis.logs.hdr.histograms import UNITS_PER_MS, Unit
from plimsoll.domain.keys.service_level import ServiceLevel

SAMPLES = Path(__file__).parents[2] / "samples"


@pytest.fixture(scope="session")
def java() -> JavaReference:
    return JavaReference.of_settings()


def ours(logs: list[Path], warmup_s: float, interval_s: float, unit: Unit | None = None) -> list[tuple[Any, ...]]:
    """Return the judged intervals: number, operation, count, values in ms."""
    level = ServiceLevel(interval=timedelta(seconds=interval_s))
    files = {str(path): path.read_bytes() for path in logs}
    judgement = judge_logs(files, Run(warmup=timedelta(seconds=warmup_s)), [level], unit=unit)
    assert judgement.reasons == ()
    return [
        (round((row.start_s - warmup_s) / interval_s), row.operation, row.count, *_values(row))
        for row in judgement.intervals.rows
        if row.phase == "judged"
    ]


def _values(row: object) -> Iterator[float]:
    return (getattr(row, name) for name in SHOWN_NAMES)


def theirs(rows: list[JavaInterval], names: dict[str, str], judged: int, unit: Unit) -> list[tuple[Any, ...]]:
    """Return the same of Java's figures; `names` are the operations of its logs."""
    found = [
        (row.interval, names[row.log], row.total, *(value / UNITS_PER_MS[unit] for value in row[3:]))
        for row in rows
        if 0 <= row.interval < judged
    ]
    order = ["all", *sorted(set(names.values()) - {"all"})]
    return sorted(found, key=lambda row: (row[0], order.index(row[1])))


def test_real_logs_of_cassandra_stress(java: JavaReference) -> None:
    path = SAMPLES / "cassandra-stress.hdr"
    names = {"head-rt": "head", "insert-rt": "writes", "all": "all"}
    rows = java.intervals(20, 10, UNITS_PER_MS["ns"], [f"{path}@head-rt", f"{path}@insert-rt"])
    found = ours([path], 20, 10)
    assert found == theirs(rows, names, 4, "ns")
    assert len(found) == 3 * 4


def test_real_logs_of_latte(java: JavaReference) -> None:
    path = SAMPLES / "latte.hlog"
    rows = java.intervals(20, 10, UNITS_PER_MS["ns"], [f"{path}@requests"])
    everything = [row for row in rows if row.log == "all"]
    assert ours([path], 20, 10) == theirs(everything, {"all": "all"}, 4, "ns")


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_logs_of_two_operations_in_microseconds(java: JavaReference, tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    writes, reads = tmp_path / "x.hdr-intended-mutations", tmp_path / "x.hdr-intended-selects"
    writes.write_bytes(log(_seconds(rng, 40, 400)))
    reads.write_bytes(log(_seconds(rng, 40, 60)))
    rows = java.intervals(15, 5, UNITS_PER_MS["us"], [str(writes), str(reads)])
    names = {str(writes): "writes", str(reads): "reads", "all": "all"}
    assert ours([writes, reads], 15, 5) == theirs(rows, names, 5, "us")


@pytest.mark.parametrize("digits", [1, 2, 4, 5])
@pytest.mark.parametrize("lowest", [1, 64, 1000])
def test_histograms_of_other_precision(java: JavaReference, tmp_path: Path, digits: int, lowest: int) -> None:
    rng = np.random.default_rng(digits)
    path = tmp_path / "x.hlog"
    path.write_bytes(log(_seconds(rng, 6, 100, digits=digits, lowest=lowest)))
    rows = [row for row in java.intervals(0, 3, UNITS_PER_MS["us"], [str(path)]) if row.log == "all"]
    assert ours([path], 0, 3) == theirs(rows, {"all": "all"}, 2, "us")


def test_logs_of_histograms_that_size_themselves(java: JavaReference, tmp_path: Path) -> None:
    rng = np.random.default_rng(9)
    path = tmp_path / "x.hlog"
    sizes = [4_000_000, 60_000_000, HOUR_US]
    lines = [
        line(second, 1.0, payload(rng.integers(0, highest // 2, 50).tolist(), highest=highest))
        for second, highest in enumerate(sizes * 4)
    ]
    path.write_bytes(log(lines))
    rows = [row for row in java.intervals(0, 4, UNITS_PER_MS["us"], [str(path)]) if row.log == "all"]
    assert ours([path], 0, 4) == theirs(rows, {"all": "all"}, 3, "us")


@pytest.mark.parametrize(("version", "word_bytes"), [(0, 8), (1, 8), (1, 2)])
def test_logs_of_the_older_encodings(java: JavaReference, tmp_path: Path, version: int, word_bytes: int) -> None:
    rng = np.random.default_rng(version)
    path = tmp_path / "x.hlog"
    seconds = [rng.lognormal(7, 1.5, 60).astype(int).tolist() for _ in range(6)]
    path.write_bytes(log(line(second, 1.0, old_payload(values, version, word_bytes))
                         for second, values in enumerate(seconds)))  # fmt: skip
    rows = [row for row in java.intervals(0, 3, UNITS_PER_MS["us"], [str(path)]) if row.log == "all"]
    assert ours([path], 0, 3, "us") == theirs(rows, {"all": "all"}, 2, "us")


def _seconds(rng: np.random.Generator, seconds: int, count: int, **settings: int) -> Iterator[str]:
    """Yield seconds of skewed times, some with a stall, one empty, from 0 µs to one hour."""
    for second in range(seconds):
        values = rng.lognormal(7, 1.2, 0 if second == 2 else rng.integers(1, count))
        stalled = values + rng.uniform(0, 90_000, len(values)) if second % 7 == 3 else values
        extremes = [0, HOUR_US] if second % 5 == 4 else []
        yield line(second, 1.0, payload([*stalled.astype(int).tolist(), *extremes], **settings))
