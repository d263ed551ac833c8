"""Judge the biggest cell with `plimsoll judge` and with Java's HdrHistogram, side by side.

    .venv/bin/python -m benchmarks.judging [--rounds N]

Both programs read all of the cell's 18,000 records, merge 10-second intervals of reads, of writes and of both, and
compute p50, p90, p99, p99.9 and the maximum of each. The figures must be equal. The result is the CPU time of whole
processes, with all threads, from start to exit, in alternating rounds.
"""

import argparse
import json
import resource
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from tests.support.processes import PLIMSOLL

from benchmarks.big_cell import big_cell
from benchmarks.java_reference import JavaReference, parse
from plimsoll.analysis.attempt.intervals import SHOWN_NAMES

_WARMUP_S, _INTERVAL_S, _UNITS_PER_MS = 1_800, 10, 1_000
_TIMEOUT_S = 300


@dataclass(frozen=True)
class Timing:
    """One finished process: its CPU seconds, user and system, and its output."""

    cpu_s: float
    output: str


def main() -> None:
    """Print both programs' CPU seconds and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="how often each program runs")
    rounds = parser.parse_args().rounds
    logs = big_cell()
    size = sum(path.stat().st_size for path in logs)
    print(f"{len(logs)} logs, {size / 1e6:.1f} MB")
    pairs = [(_run(_ours(logs)), _run(_java(logs))) for _ in range(rounds)]
    _require_equal(pairs[0][0].output, pairs[0][1].output)
    _print("plimsoll judge", [ours.cpu_s for ours, _ in pairs])
    _print("Java's HdrHistogram", [java.cpu_s for _, java in pairs])
    ratios = [ours.cpu_s / java.cpu_s for ours, java in pairs]
    print(f"ratio: {median(ratios):.2f} (of {min(ratios):.2f} to {max(ratios):.2f}); below 1, ours is ahead")


def _ours(logs: Sequence[Path]) -> list[str]:
    return [PLIMSOLL, "judge", *map(str, logs), "--warmup", f"{_WARMUP_S}s", "--interval", "10s", "--json"]


def _java(logs: Sequence[Path]) -> list[str]:
    return JavaReference.of_settings().command(_WARMUP_S, _INTERVAL_S, _UNITS_PER_MS, [str(path) for path in logs])


def _run(argv: Sequence[str]) -> Timing:
    """Run the program. Exit code 1 is no error: it says that the service level is missed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(argv, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode > 1:
        raise SystemExit(f"{argv[0]} failed: {done.stdout}{done.stderr}")
    return Timing(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout)


def _require_equal(ours: str, java: str) -> None:
    """Exit with an error unless both programs found the same figures."""
    judged = [[row["count"], *(row[name] for name in SHOWN_NAMES)] for row in json.loads(ours)["intervals"]]
    rows = [row for row in parse(java) if row.log == "all" and row.interval >= 0]
    theirs = [[row.total, *(value / _UNITS_PER_MS for value in row[3:])] for row in rows]
    if judged != theirs:
        raise SystemExit("the two programs' figures differ")
    print(f"{len(judged)} intervals of {judged[0][0]} operations and more: all figures equal")


def _print(name: str, seconds: Sequence[float]) -> None:
    print(f"{name}: {median(seconds):.2f} CPU s (of {min(seconds):.2f} to {max(seconds):.2f}, {len(seconds)} rounds)")


if __name__ == "__main__":
    main()
