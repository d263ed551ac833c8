"""Campaigns in the form of outcomes: `{"a": {10_000: "mmm", 20_000: "mxi"}}` is a variant, two loads, three repeats.

m: met, s: met at nine tenths of the rate, x: missed, e: missed because of errors, i: invalid, a dot: not run, d: first
invalid, then met.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd
from tests.support.campaigns.synthetic import GENERATED_AT

from plimsoll.analysis.campaign.cell_results import AttemptData, CampaignData
from plimsoll.domain.attempt.result import Verdict
from plimsoll.domain.campaign.cell import AttemptKey, Cell
from plimsoll.domain.campaign.grid import grid
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.keys.service_level import LevelVerdict, Percentiles

Outcomes = Mapping[str, Mapping[int, str]]

_WORST_MS = {"m": 50.0, "s": 50.0, "x": 250.0, "e": 50.0, "i": 50.0}
_ATTEMPTS = {".": "", "d": "im"}


def campaign_of(outcomes: Outcomes, *, control: str | None = None, **changes: object) -> CampaignData:
    """Return a campaign with those outcomes, bound 100 ms, without intervals, pauses and fingerprints."""
    definition = definition_of(outcomes, control=control, **changes)
    attempts = [
        attempt_of(definition, cell, number, letter)
        for cell in grid(resolve(definition))
        for number, letter in enumerate(_letters(outcomes[cell.variant][cell.load_ops_s][cell.repeat - 1]), 1)
    ]
    return CampaignData("trial-1", definition, tuple(attempts), (), GENERATED_AT)


def definition_of(outcomes: Outcomes, *, control: str | None = None, **changes: object) -> Definition:
    """Return the definition of a campaign with these outcomes."""
    loads = next(iter(outcomes.values()))
    content: dict[str, object] = {
        "name": "trial",
        "title": "A trial",
        "system": {"version": "4.0.1"},
        "variants": [
            {"id": name, "title": name.upper(), "jvm": {"jdk": "openjdk-11.0.13", "collector": "G1", "heap": "1G"}}
            for name in outcomes
        ],
        "control": control,
        "loads": [f"{load}/s" for load in loads],
        "repeats": len(next(iter(loads.values()))),
        "timing": {"duration": "90s", "warmup": "30s"},
    }
    return Definition.model_validate(content | changes)


def attempt_of(
    definition: Definition, cell: Cell, number: int, letter: str, worst_ms: float | None = None
) -> AttemptData:
    """Make one attempt with that outcome. `worst_ms` is its worst interval, ms."""
    worst = _WORST_MS[letter] if worst_ms is None else worst_ms
    levels = tuple(
        LevelVerdict(
            service_level=level,
            met=worst < level.bound_ms,
            judged=6,
            missed=int(worst >= level.bound_ms),
            not_judged=0,
            worst_ms=worst,
        )
        for level in definition.service_levels
    )
    verdict = Verdict(
        key=AttemptKey(campaign_id="trial-1", cell_id=cell.id, attempt=number),
        cell=cell,
        valid=letter != "i",
        reasons=("node1 went down",) if letter == "i" else (),
        met={"m": True, "s": True, "x": False, "e": False}.get(letter),
        levels=levels,
        attempted_ops_s=cell.load_ops_s,
        achieved_ops_s=cell.load_ops_s * (0.9 if letter == "s" else 1.0),
        rate_achieved=letter != "s",
        errors={"timeout": 900} if letter == "e" else {},
        operations=cell.load_ops_s * 60,
        maxima=Percentiles(p50_ms=1.0, p90_ms=2.0, p99_ms=worst / 2, p99_9_ms=worst, max_ms=worst * 2),
        code_version="0.1.0",
    )
    return AttemptData(verdict, None, pd.DataFrame(), pd.DataFrame())


def with_failed_operations(data: CampaignData) -> CampaignData:
    """Let operations that failed decide an interval of each attempt that missed: its worst is the least it can be."""

    def failed(attempt: AttemptData) -> AttemptData:
        levels = tuple(level.model_copy(update={"worst_is_floor": not level.met}) for level in attempt.verdict.levels)
        return replace(attempt, verdict=attempt.verdict.model_copy(update={"levels": levels}))

    return replace(data, attempts=tuple(map(failed, data.attempts)))


def _letters(outcome: str) -> Sequence[str]:
    return _ATTEMPTS.get(outcome, outcome)
