"""How often the report's analysis raises a false alarm, over whole campaigns with nothing but random differences.

    .venv/bin/python -m benchmarks.false_alarms [--campaigns N] [--processes N]

Each campaign has its own seed, three equal variants, three loads and five repeats (45 cells) of 360 intervals, 240 of
them judged, on hosts in three equal zones. At the two higher loads intervals miss for a reason that was not collected,
while compactions, flushes, pauses and other events occur at random. The report's own analysis examines them
(`plimsoll.analysis.campaign.findings.analyse`). A campaign counts once for each question on which it raises a
false alarm; the stated level is 5 % for each question.

The command prints counts, rates and the 95 % interval of each rate by Clopper and Pearson (Biometrika 26, 1934). It
fails if the whole interval of a rate is above the stated level.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from os import cpu_count
from typing import Any

from scipy.stats import binomtest
from tests.support.campaigns.synthetic import Plan, azul_definition, synthetic_campaign

from plimsoll.analysis.campaign.findings import Findings, analyse

_ALIKE = ("g1", "cms", "shenandoah")
_CAPACITY = 20_000
_LEVEL = 0.05

_QUESTIONS: Mapping[str, Callable[[Findings], bool]] = {
    "order": lambda found: found.noise.order.shown,
    "zones": lambda found: found.noise.zones.shown,
    "odd cells": lambda found: any(one.host is None for one in found.noise.outliers),
    "odd hosts": lambda found: any(one.host for one in found.noise.outliers),
    "drift or jump": lambda found: any(one.finding in ("drifts", "jumps") for one in found.steadiness),
    "causes of misses": lambda found: any(one.link == "linked" for own in found.causes for one in own.causes),
    "comparison with the control": lambda found: any(
        one.conclusion in ("higher", "lower") for one in found.comparisons
    ),
}


def main() -> None:
    """Print how many of the campaigns raised each alarm."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--campaigns", type=int, default=400)
    parser.add_argument("--processes", type=int, default=cpu_count())
    options = parser.parse_args()
    alarms: Counter[str] = Counter()
    with ProcessPoolExecutor(options.processes) as pool:
        for number, raised in enumerate(pool.map(alarms_of, range(1, options.campaigns + 1)), 1):
            alarms.update(raised)
            if number % 20 == 0:
                print(f"{number} campaigns: {dict(alarms)}", flush=True)
    for question in _QUESTIONS:
        print(_line(question, alarms[question], options.campaigns))
    if loud := [question for question in _QUESTIONS if _interval(alarms[question], options.campaigns).low > _LEVEL]:
        sys.exit(f"above the stated level of {_LEVEL:.0%}: {', '.join(loud)}")


def alarms_of(seed: int) -> tuple[str, ...]:
    """Return the questions on which one campaign without effects raises an alarm."""
    whole = azul_definition(
        loads=["20000/s", "30000/s", "40000/s"], timing={"duration": "60m", "warmup": "20m"}, seed=seed
    )
    definition = whole.model_copy(update={"variants": whole.variants[1:4]})
    plan = Plan(
        dict.fromkeys(_ALIKE, _CAPACITY),
        culprits=dict.fromkeys(_ALIKE, "nothing"),
        slow_zones={"eu-west-1b": 1.0, "eu-west-1c": 1.0},
        run_spread=0.02,
        seed=seed,
    )
    found = analyse(synthetic_campaign(definition, plan))
    return tuple(question for question, raised in _QUESTIONS.items() if raised(found))


def _interval(alarms: int, campaigns: int) -> Any:
    """Return the 95 % interval of the rate by Clopper and Pearson."""
    return binomtest(alarms, campaigns).proportion_ci(0.95, "exact")


def _line(question: str, alarms: int, campaigns: int) -> str:
    sure = _interval(alarms, campaigns)
    return f"{question}: {alarms} of {campaigns}, {alarms / campaigns:.1%} ({sure.low:.1%} to {sure.high:.1%})"


if __name__ == "__main__":
    main()
