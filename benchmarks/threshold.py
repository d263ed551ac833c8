"""What the threshold's interval holds after optional stopping, and how many cells it takes, beside other searches.

    .venv/bin/python -m benchmarks.threshold [--campaigns N] [--truth NAME] [--rivals N] [--mlrsearch FOLDER]
        [--ends-early]

Each campaign has a system of its own, whose true load is drawn evenly in logs from 1,800 to 24,000 ops/s. It may run
any load from 1,000 to 32,000. It asks for the load that is met with a chance of 90 %, to ±15 %, with a confidence of
95 %, in at most 30 cells. Seeds are fixed.

- *holds*: how often the interval holds the true load, whatever ended the search; *below*, *above*: how often the true
  load lies on that side of it.
- *cells*: the median and what 95 % of campaigns do not exceed.
- *narrow*: how often the interval became as narrow as asked.
- *five*: the same where five variants of that kind, each with a true load of its own, are searched together; the cells
  are those of all five. So *mixed* has five kinds.

`--rivals N` plays N campaigns of each truth with MLRsearch (`pip install --target FOLDER MLRsearch==1.2.1`) and with
the policy of Shivam and others as well. With `--ends-early` every cell that misses ends early, as with `stop: decided`:
its margin is known to be at least something, anywhere between 0 and all of it. The command fails if an interval holds
less than 94 % of the true loads.
"""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp
from pathlib import Path

import numpy as np

from benchmarks.threshold_rivals import Bounds, cutting_corners, has_mlrsearch, mlrsearch
from benchmarks.threshold_truths import TRUTHS, System, Truth
from plimsoll.strategies.threshold.answer import answer, next_loads
from plimsoll.strategies.threshold.question import CellObservation, Question

_QUESTION, _LOADS = Question(), range(1_000, 32_001, 10)
_LOW, _HIGH = np.log(1_800.0), np.log(24_000.0)
_LEVEL, _VARIANTS = 0.94, 5
_FIRST_SEED = 2_000_000
"""Lower seeds are those of the campaigns on which the constants of the strategy were chosen."""
_MIXED = "mixed"
_ROW = "{:20} {:>6} {:>6} {:>6} {:>6} {:>5} {:>7}"
Search = Callable[[Sequence[System]], list[Bounds]]
"""Plays one campaign of a variant or of several."""


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
    parser.add_argument("--truth", choices=(*TRUTHS, _MIXED), action="append")
    parser.add_argument("--mlrsearch", type=Path, help="folder in which MLRsearch is installed")
    parser.add_argument("--ends-early", action="store_true", help="cells end once they have missed")
    options = parser.parse_args()
    truths = {name: replace(truth, ends_early=truth.ends_early or options.ends_early) for name, truth in TRUTHS.items()}
    print(_ROW.format("", "holds", "below", "above", "cells", "95 %", "narrow"))
    kinds, alone = options.truth or [*TRUTHS, _MIXED], [name for name in options.truth or TRUTHS if name != _MIXED]
    low = [name for name in alone if _print(truths, name, by_threshold, options.campaigns) < _LEVEL]
    print("five")
    five = options.campaigns // _VARIANTS
    low += [f"five, {name}" for name in kinds if _print(truths, name, by_threshold, five, _VARIANTS) < _LEVEL]
    for title, search in _rivals(options.mlrsearch) if options.rivals else ():
        print(title)
        for name in alone:
            _print(truths, name, search, options.rivals)
    if low:
        sys.exit(f"holds less than {_LEVEL:.0%}: {', '.join(low)}")


def _rivals(folder: Path | None) -> Sequence[tuple[str, Search]]:
    asked = _LOADS[0], _LOADS[-1], _QUESTION.chance, _QUESTION.within
    found: list[tuple[str, Search]] = [
        ("Cutting Corners", lambda systems: [cutting_corners(one.observe, *asked) for one in systems])
    ]
    if has_mlrsearch(folder):
        found.append(("MLRsearch", lambda systems: [mlrsearch(one.observe, *asked) for one in systems]))
    return found


def by_threshold(systems: Sequence[System]) -> list[Bounds]:
    """Play the strategy to its end, all variants together."""
    cells: list[list[CellObservation]] = [[] for _ in systems]

    def others(own: int) -> list[list[CellObservation]]:
        return [of for number, of in enumerate(cells) if number != own]

    while any(chosen := [next_loads(_QUESTION, own, _LOADS, 1, others(number)) for number, own in enumerate(cells)]):
        for system, own, loads in zip(systems, cells, chosen, strict=True):
            own += [system.observe(load) for load in loads]
    found = [answer(_QUESTION, own, _LOADS[0], _LOADS[-1], others(number)) for number, own in enumerate(cells)]
    return [Bounds(one.low_ops_s or 0.0, one.high_ops_s or float("inf"), one.cells) for one in found]


def play(truths: Mapping[str, Truth], name: str, search: Search, campaigns: int, variants: int = 1) -> list[Played]:
    """Play campaigns of one kind of system, or of any kinds. The same numbers give the same systems."""
    kinds = [*truths] if name == _MIXED else [name]
    steps = {kind: truths[kind].offset(_QUESTION.chance) for kind in kinds}
    played = list[Played]()
    for seed in range(_FIRST_SEED, _FIRST_SEED + campaigns):
        dice = np.random.default_rng(seed)
        drawn = [kinds[int(dice.integers(len(kinds)))] for _ in range(variants)]
        true_loads = [exp(dice.uniform(_LOW, _HIGH)) for _ in drawn]
        systems = [
            System(truths[kind], load * exp(-steps[kind]), own)
            for kind, load, own in zip(drawn, true_loads, dice.spawn(variants), strict=True)
        ]
        played += map(Played, search(systems), true_loads)
    return played


def _print(truths: Mapping[str, Truth], name: str, search: Search, campaigns: int, variants: int = 1) -> float:
    """Print a line of the table, and return how often the interval holds the true load."""
    played = play(truths, name, search, campaigns, variants)
    sides = np.array([one.side for one in played])
    cells = np.array([one.bounds.cells for one in played]).reshape(-1, variants).sum(axis=1)
    shares = [f"{(sides == side).mean():.1%}" for side in (0, -1, 1)]
    counts = [f"{np.median(cells):.0f}", f"{np.quantile(cells, 0.95):.0f}"]
    narrow = f"{np.mean([one.is_narrow for one in played]):.0%}"
    print(_ROW.format(name, *shares, *counts, narrow), flush=True)
    return float((sides == 0).mean())


if __name__ == "__main__":
    main()
