"""Strategies over synthetic campaigns in the published shape: how many cells they take, how often their answer differs.

    .venv/bin/python -m benchmarks.strategies [--campaigns N] [--processes N]

Each line is one strategy over N campaigns of five variants, eleven loads and five repeats. Capacities are as published
or anywhere, and the probability to meet the service level falls with the load along a logistic curve with a width of
0.1, 0.25 or 0.5 load steps. The command fails if the answer of the exact search differs from the full grid's even once.
It also compares the two over ladders of random outcomes (`--any N`), whose chances fall or rise with the load or are
the same at all loads: once as they are, and once with invalid attempts, with cells that somebody runs by hand, and
killed within its rounds.
"""

import argparse
import random
import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from os import cpu_count

from tests.support.campaigns.ladders import any_ladder, played_with_kills
from tests.support.campaigns.synthetic.definitions import azul_definition

from plimsoll.domain.strategy import FullGrid, Search, Strategy
from plimsoll.strategies.decision import ladder_capacity
from plimsoll.strategies.synthetic import Capacities, Simulation, World, play, simulate

_STRATEGIES: dict[str, Strategy] = {
    "exact": Search(),
    "exact, 5 repeats at once": Search(repeats_at_once=5),
    "fast, guard 1": Search(mode="fast", guard=1),
    "fast, guard 0": Search(mode="fast", guard=0),
}
_CAPACITIES: tuple[Capacities, ...] = ("published", "uniform")
_WIDTHS = (0.1, 0.25, 0.5)
_Case = tuple[str, Capacities, float, int]


def main() -> None:
    """Print one line per case. Fail if an exact search differs from the full grid."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--campaigns", type=int, default=2000)
    parser.add_argument("--any", type=int, default=100_000, dest="ladders")
    parser.add_argument("--processes", type=int, default=cpu_count())
    options = parser.parse_args()
    cases = [(*case, options.campaigns) for case in product(_STRATEGIES, _CAPACITIES, _WIDTHS)]
    differs = False
    with ProcessPoolExecutor(options.processes) as pool:
        for (name, capacities, width, _), found in zip(cases, pool.map(_simulated, cases), strict=True):
            print(f"{name}; {capacities}; width {width}: {_line(found)}", flush=True)
            differs |= name.startswith("exact") and found.differs_share > 0
        counts = pool.map(_differing, [(seed, options.ladders // 100) for seed in range(100)])
    different = sum(counts)
    print(f"outcomes of any shape: exact differs in {different} of {options.ladders // 100 * 100} ladders")
    sys.exit(1 if differs or different else 0)


def _simulated(case: _Case) -> Simulation:
    name, capacities, width, campaigns = case
    definition = azul_definition().model_copy(update={"strategy": _STRATEGIES[name]})
    return simulate(definition, World(capacities, width), campaigns, seed=1)


def _differing(part: tuple[int, int]) -> int:
    seed, ladders = part
    dice = random.Random(seed)
    return sum(_differs(dice) for _ in range(ladders))


def _differs(dice: random.Random) -> bool:
    outcomes, exact = any_ladder(dice), Search(repeats_at_once=dice.randint(1, 5))
    killed = ladder_capacity(*played_with_kills(exact, outcomes, dice))
    return {play(exact, outcomes).capacity, killed} != {play(FullGrid(), outcomes).capacity}


def _line(found: Simulation) -> str:
    return (
        f"{found.cells_mean:.1f} cells (95 %: {found.cells_p95}), {found.rounds_mean:.1f} rounds; another answer in "
        f"{found.differs_share:.1%} of campaigns, of two full grids in {found.grid_differs_share:.1%}"
    )


if __name__ == "__main__":
    main()
