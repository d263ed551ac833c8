"""How often a trend finds a planted change, how exactly, and how often it tells of a change where there is none.

    .venv/bin/python -m benchmarks.trend [--series N] [--otava FOLDER]

Each series is 30 campaigns with noise of 4 % and a seed of its own. *false*: change points per 1,000 series without any
change. The others have a step of 5, 10 or 15 % after the 20th campaign, or of 15 % so late that 3 campaigns follow.
*found*: at most one campaign from its place; *exact*: at it; *more*: other change points beside it.

Noise: *normal* of logarithms; *tailed*: Student's t with 3 degrees of freedom; *spiked*: every 20th is 50 % up;
*related*: each campaign's noise has 0.3 of that of the one before.

`--otava FOLDER` plays the same series with apache-otava, where `pip install --target FOLDER --no-deps apache-otava`
put it: its p < 0.001 and otherwise its defaults, on the logarithms that Plimsoll compares. The command fails if there
are more than 5 false change points per 1,000 series of normal noise, or if fewer than 95 % of steps of 15 % are found.
"""

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from plimsoll.analysis.trend.change_points import change_points

_CAMPAIGNS, _NOISE = 30, 0.04
_STEPS: Mapping[str, tuple[float, int]] = {
    "5 %": (0.05, 20), "10 %": (0.10, 20), "15 %": (0.15, 20), "15 %, 3 after it": (0.15, 27),
}  # fmt: skip
_ROW = "{:8} {:8} {:>6}" + " {:>24}" * len(_STEPS)
Floats = NDArray[np.float64]
Find = Callable[[Floats], list[int]]
"""Returns the places of changes in a series of logarithms."""


def _normal(random: np.random.Generator) -> Floats:
    noise: Floats = random.normal(0, 1, _CAMPAIGNS)
    return noise


def _tailed(random: np.random.Generator) -> Floats:
    noise: Floats = random.standard_t(3, _CAMPAIGNS) / np.sqrt(3)
    return noise


def _spiked(random: np.random.Generator) -> Floats:
    noise: Floats = _normal(random) + (random.random(_CAMPAIGNS) < 0.05) * np.log(1.5) / _NOISE
    return noise


def _related(random: np.random.Generator) -> Floats:
    noise = _normal(random)
    for place in range(1, _CAMPAIGNS):
        noise[place] = 0.3 * noise[place - 1] + np.sqrt(1 - 0.3**2) * noise[place]
    return noise


_NOISES: Mapping[str, Callable[[np.random.Generator], Floats]] = {
    "normal": _normal, "tailed": _tailed, "spiked": _spiked, "related": _related,
}  # fmt: skip


def main() -> None:
    """Print a row for each kind of noise and each program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--series", type=int, default=2_000)
    parser.add_argument("--otava", type=Path)
    options = parser.parse_args()
    programs: dict[str, Find] = {"plimsoll": _plimsoll}
    if options.otava:
        programs["otava"] = _otava(options.otava)
    print(_ROW.format("noise", "by", "false", *_STEPS))
    print(_ROW.format("", "", "/1,000", *["found, exact, more"] * len(_STEPS)))
    wrong = []
    for name, noise in _NOISES.items():
        for program, find in programs.items():
            false = sum(len(find(_NOISE * noise(_seeded(seed)))) for seed in range(options.series))
            rates = {step: _rates(find, noise, *of, options.series) for step, of in _STEPS.items()}
            shown = [" ".join(f"{rate:7.1%}" for rate in found) for found in rates.values()]
            print(_ROW.format(name, program, f"{1000 * false / options.series:.1f}", *shown), flush=True)
            if (name, program) == ("normal", "plimsoll"):
                wrong += ["false change points"] if false > 0.005 * options.series else []
                wrong += ["steps that are not found"] if rates["15 %"][0] < 0.95 else []
    if wrong:
        sys.exit(f"more than stated: {', '.join(wrong)}")


def _seeded(seed: int) -> np.random.Generator:
    return np.random.default_rng(1_000_000 + seed)


def _rates(
    find: Find, noise: Callable[[np.random.Generator], Floats], size: float, place: int, count: int
) -> tuple[float, float, float]:
    near, exact, more = 0, 0, 0
    for seed in range(count):
        series = _NOISE * noise(_seeded(seed))
        series[place:] += np.log1p(size)
        found = find(series)
        near += any(abs(one - place) <= 1 for one in found)
        exact += place in found
        more += any(abs(one - place) > 1 for one in found)
    return near / count, exact / count, more / count


def _plimsoll(series: Floats) -> list[int]:
    return [one.place for one in change_points([float(one) for one in np.exp(series)])]


def _otava(folder: Path) -> Find:
    sys.path.append(str(folder))
    from otava.analysis import compute_change_points  # type: ignore[import-not-found]  # in no environment of ours

    def find(series: Floats) -> list[int]:
        found, _ = compute_change_points(series.tolist())  # of an array otava 0.8.0 looks at the wrong figures
        return [one.index for one in found]

    return find


if __name__ == "__main__":
    main()
