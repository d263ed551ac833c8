"""What the threshold's interval holds after optional stopping, and how many cells it takes, beside other searches.

    .venv/bin/python -m benchmarks.threshold [--campaigns N] [--truth NAME] [--rivals N] [--mlrsearch FOLDER]

Each campaign has a system of its own, whose true load is drawn evenly in logs from 1,800 to 24,000 ops/s. It may run
any load from 1,000 to 32,000. It asks for the load that is met with a chance of 90 %, to ±15 %, with a confidence of
95 %, in at most 30 cells. Seeds are fixed.

- *holds*: how often the interval holds the true load, whatever ended the search; *below*, *above*: how often the true
  load lies on that side of it.
- *cells*: the median and what 95 % of campaigns do not exceed; *five*: the median for five variants.
- *narrow*: how often the interval became as narrow as asked.

`--rivals N` plays N campaigns of each truth with MLRsearch (`pip install --target FOLDER MLRsearch==1.2.1`) and with
the policy of Shivam and others as well. The command fails if an interval holds less than 94 % of the true loads.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp
from pathlib import Path

import numpy as np

from benchmarks.threshold_rivals import Bounds, cutting_corners, has_mlrsearch, mlrsearch
from benchmarks.threshold_truths import TRUTHS, System, Truth
from plimsoll.strategies.threshold.answer import answer
from plimsoll.strategies.threshold.next_loads import Loads, next_loads
from plimsoll.strategies.threshold.observation import CellObservation
from plimsoll.strategies.threshold.question import Question

_QUESTION, _LOADS = Question(), Loads(1_000, 32_000, rounded_to=10)
_LOW, _HIGH = np.log(1_800.0), np.log(24_000.0)
_LEVEL, _VARIANTS = 0.94, 5
_FIRST_SEED = 1_000_000
"""Lower seeds are those of the campaigns on which the constants of the strategy were chosen."""
_ROW = "{:20} {:>6} {:>6} {:>6} {:>6} {:>5} {:>5} {:>7}"
Search = Callable[[System], Bounds]


@dataclass(frozen=True)
class Played:
    """One campaign: its interval, and the load that it asked for."""

    bounds: Bounds
    true_load: float

    @property
    def side(self) -> int:
        """Return 0 where the interval holds the true load; -1, 1 where that lies below, above it."""
        return int(self.true_load > self.bounds.high) - int(self.true_load < self.bounds.low)

    @property
    def is_narrow(self) -> bool:
        """Tell whether the interval is as narrow as asked, but for the rounding of its ends."""
        return self.bounds.low > 0 and np.log(self.bounds.high / self.bounds.low) <= _QUESTION.log_width * 1.01


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--campaigns", type=int, default=2_000)
    parser.add_argument("--rivals", type=int, default=0)
    parser.add_argument("--truth", choices=tuple(TRUTHS), action="append")
    parser.add_argument("--mlrsearch", type=Path, help="folder in which MLRsearch is installed")
    options = parser.parse_args()
    print(_ROW.format("", "holds", "below", "above", "cells", "95 %", "five", "narrow"))
    low = [name for name in options.truth or TRUTHS if _print(name, by_threshold, options.campaigns) < _LEVEL]
    for title, search in _rivals(options.mlrsearch) if options.rivals else ():
        print(title)
        for name in options.truth or TRUTHS:
            _print(name, search, options.rivals)
    if low:
        sys.exit(f"holds less than {_LEVEL:.0%}: {', '.join(low)}")


def _rivals(folder: Path | None) -> Sequence[tuple[str, Search]]:
    asked = _LOADS.least, _LOADS.most, _QUESTION.chance, _QUESTION.within
    found: list[tuple[str, Search]] = [("Cutting Corners", lambda system: cutting_corners(system.observe, *asked))]
    if has_mlrsearch(folder):
        found.append(("MLRsearch", lambda system: mlrsearch(system.observe, *asked)))
    return found


def by_threshold(system: System) -> Bounds:
    """Play the strategy to its end."""
    cells: list[CellObservation] = []
    while loads := next_loads(_QUESTION, cells, _LOADS):
        cells += [system.observe(load) for load in loads]
    found = answer(_QUESTION, cells, _LOADS.least, _LOADS.most)
    return Bounds(found.low_ops_s or 0.0, found.high_ops_s or float("inf"), len(cells))


def play(truth: Truth, search: Search, campaigns: int) -> list[Played]:
    """Play campaigns of one kind of system. The same numbers give the same systems."""
    offset = truth.offset(_QUESTION.chance)
    played = []
    for seed in range(_FIRST_SEED, _FIRST_SEED + campaigns):
        dice = np.random.default_rng(seed)
        own_load = exp(dice.uniform(_LOW, _HIGH) - offset)
        played.append(Played(search(System(truth, own_load, dice)), own_load * exp(offset)))
    return played


def _print(name: str, search: Search, campaigns: int) -> float:
    """Print a line of the table, and return how often the interval holds the true load."""
    played = play(TRUTHS[name], search, campaigns)
    sides = np.array([one.side for one in played])
    cells = np.array([one.bounds.cells for one in played])
    of_five = cells[: len(cells) // _VARIANTS * _VARIANTS].reshape(-1, _VARIANTS).sum(axis=1)
    shares = [f"{(sides == side).mean():.1%}" for side in (0, -1, 1)]
    counts = [f"{np.median(cells):.0f}", f"{np.quantile(cells, 0.95):.0f}", f"{np.median(of_five):.0f}"]
    narrow = f"{np.mean([one.is_narrow for one in played]):.0%}"
    print(_ROW.format(name, *shares, *counts, narrow), flush=True)
    return float((sides == 0).mean())


if __name__ == "__main__":
    main()
