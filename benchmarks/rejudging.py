"""Judge all raw logs of a campaign again, compared with only base64 and inflate over the same logs.

    .venv/bin/python -m benchmarks.rejudging [--cells N] [--seconds N] [--jobs N] [--rounds N]

The campaign is imported into a store in a temporary folder: each cell has logs of its own, those of the biggest cell
(benchmarks/big_cell.py), cut to `--seconds`. Two programs run in turn, each in as many processes:

  rejudge  `plimsoll rejudge`: reads, decodes, merges, judges, checks the quality, stores tables, Data Docs and verdicts
  bare     reads the same files, and of every record decodes the base64 and inflates the histogram, and nothing else

The results are wall time, and CPU time of all processes, from start to exit. Every verdict must be the same as before.
"""

import argparse
import binascii
import ctypes
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from statistics import median

from benchmarks.big_cell import OPERATIONS, SECONDS, big_cell
from plimsoll.services.judge.workers import processors

_CAMPAIGN = "rejudged"
_RATE = sum(operation.rate for operation in OPERATIONS)
_HEAD_BYTES = 8  # of an encoded histogram, before what is compressed
_TIMEOUT_S = 7_200
_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True)
class Ran:
    """One finished program."""

    cpu_s: float
    wall_s: float
    output: str


def main() -> None:
    """Print each round, and the medians with their ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=8)
    parser.add_argument("--seconds", type=int, default=SECONDS, help="of each log; a fifth of them is warm-up")
    parser.add_argument("--jobs", type=int, default=processors(), help="processes of each program")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--bare", metavar="STORE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.bare:
        _bare(Path(options.bare), options.jobs)
        return
    _adopt()
    with tempfile.TemporaryDirectory(prefix="plimsoll-rejudging-") as folder:
        store = _import(Path(folder), options.cells, options.seconds)
        _measure(store, options.jobs, options.rounds)


def _import(folder: Path, cells: int, seconds: int) -> Path:
    logs = [Path(shutil.copy(log, folder)) for log in big_cell(seconds)]
    description = {
        "campaign": _CAMPAIGN,
        "source": "made for benchmarks",
        "unit": "us",
        "files": [log.name for log in logs],
        "definition": {
            "name": "rejudged",
            "title": "The biggest cell, many times",
            "system": {"version": "4.0.1"},
            "variants": [{"id": "a", "jvm": {"jdk": "openjdk-11.0.13", "collector": "G1", "heap": "1G"}}],
            "loads": [f"{_RATE}/s"],
            "repeats": cells,
            "timing": {"duration": f"{seconds}s", "warmup": f"{seconds // 50 * 10}s"},
        },
    }
    file = folder / "import.yaml"  # every JSON document is a YAML one
    file.write_text(json.dumps(description), encoding="utf-8")
    subprocess.run(
        [_program(), "import", str(file)], env=_environment(folder / "store"), check=True, timeout=_TIMEOUT_S
    )
    return folder / "store"


def _measure(store: Path, jobs: int, rounds: int) -> None:
    size = sum(path.stat().st_size for path in _logs(store))
    print(f"{len(_logs(store))} logs, {size / 1e6:.1f} MB, {jobs} processes", flush=True)
    spent: Mapping[str, list[Ran]] = {"rejudge": [], "bare": []}
    bare = [sys.executable, "-m", "benchmarks.rejudging", "--jobs", str(jobs), "--bare", str(store)]
    for _ in range(rounds):
        spent["rejudge"].append(_run([_program(), "rejudge", _CAMPAIGN, "--jobs", str(jobs), "--json"], store))
        _require_same(spent["rejudge"][-1].output)
        spent["bare"].append(_run(bare, store))
        print("  ".join(f"{name} {ran[-1].cpu_s:.1f} CPU s, {ran[-1].wall_s:.1f} s" for name, ran in spent.items()))
    for what in ("cpu_s", "wall_s"):
        ours, theirs = (median(getattr(ran, what) for ran in spent[name]) for name in ("rejudge", "bare"))
        print(f"{what}, median of {rounds}: rejudge {ours:.1f}, bare {theirs:.1f}, ratio {ours / theirs:.2f}")


def _run(argv: Sequence[str], store: Path) -> Ran:
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(
        argv, env=_environment(store), stdout=subprocess.PIPE, text=True, check=True, timeout=_TIMEOUT_S
    )
    _wait_for_adopted()
    wall_s, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Ran(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall_s, done.stdout)


def _adopt() -> None:
    """Make this process the parent of processes that outlive their parent, such as the server that forks workers."""
    if ctypes.CDLL(None, use_errno=True).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


def _wait_for_adopted() -> None:
    """Wait for these processes, because only then their CPU time counts."""
    with suppress(ChildProcessError):
        while True:
            os.wait()


def _require_same(output: str) -> None:
    """Exit with an error unless all verdicts are the same as before."""
    attempts = json.loads(output)["attempts"]
    if not attempts or not all(one["same"] for one in attempts):
        raise SystemExit(f"attempts were not found as they were: {attempts}")


def _bare(store: Path, jobs: int) -> None:
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        sum(pool.map(_inflated_bytes, _logs(store)))


def _inflated_bytes(log: Path) -> int:
    lines = (line for line in log.read_bytes().split(b"\n") if line[:1].isdigit())
    return sum(len(zlib.decompress(binascii.a2b_base64(line[line.rindex(b",") + 1 :])[_HEAD_BYTES:])) for line in lines)


def _logs(store: Path) -> list[Path]:
    return sorted(path for path in store.glob(f"{_CAMPAIGN}/cells/*/*/raw/**/*") if path.is_file())


def _program() -> str:
    return str(Path(sys.executable).with_name("plimsoll"))


def _environment(store: Path) -> dict[str, str]:
    return {**os.environ, "PLIMSOLL_STORE": str(store)}


if __name__ == "__main__":
    main()
