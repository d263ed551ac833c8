"""The highest load below a bound that decides nothing."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from pydantic import ValidationError
from tests.support.campaigns.outcomes import attempt_of, definition_of
from tests.support.campaigns.synthetic import GENERATED_AT

from plimsoll.analysis.campaign.by_load import rates_below
from plimsoll.analysis.campaign.cell_results import AttemptData, CampaignData, CellResult, cell_results, maxima
from plimsoll.domain.campaign.grid import grid
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.keys.service_level import RateBelow


def bound(percentile: float, below_ms: float) -> RateBelow:
    return RateBelow.model_validate({"percentile": percentile, "below": f"{round(below_ms * 1000)}us"})


@pytest.fixture
def cells() -> list[CellResult]:
    """Two variants at three loads, of which the highest misses."""
    definition = definition_of({name: {10_000: "mm", 20_000: "mm", 30_000: "xx"} for name in ("a", "b")})
    attempts = [
        attempt_of(definition, cell, 1, "x" if cell.load_ops_s == 30_000 else "m") for cell in grid(resolve(definition))
    ]
    return list(cell_results(CampaignData("below-1", definition, tuple(attempts), (), GENERATED_AT)))


def test_the_highest_load_counts_at_which_every_repeat_and_all_lower_loads_are_below_the_bound(
    cells: list[CellResult],
) -> None:
    highest = max(spread.high for spread in maxima(cells, "p99_ms") if spread.load_ops_s <= 20_000)

    found = rates_below(cells, [bound(99, highest + 1), bound(99, 0.001)])

    assert [(one.variant, one.load_ops_s) for one in found[:2]] == [("a", 20_000), ("b", 20_000)]
    assert [(one.variant, one.load_ops_s) for one in found[2:]] == [("a", None), ("b", None)]
    assert found[2].bound == "p99 below 1us"


def test_a_percentile_of_which_nothing_is_kept_is_refused() -> None:
    with pytest.raises(ValidationError, match=r"write 50, 90, 99 or 99\.9"):
        bound(95, 10)


DEFINITION = definition_of({"a": {10_000: "mm", 20_000: "mm", 30_000: "mm"}})


def missed(attempt: AttemptData, **worst: object) -> AttemptData:
    level = attempt.verdict.levels[0].model_copy(update={"met": False, "missed": 1, **worst})
    return replace(attempt, verdict=attempt.verdict.model_copy(update={"met": False, "levels": (level,)}))


@pytest.mark.parametrize(
    "unknown",
    [
        lambda attempt: missed(attempt, worst_ms=None),
        lambda attempt: missed(attempt, worst_is_floor=True),
        lambda attempt: replace(attempt, verdict=attempt.verdict.model_copy(update={"maxima": None})),
        lambda attempt: attempt_of(DEFINITION, attempt.verdict.cell, 1, "i"),
    ],
    ids=["stall", "failures", "nothing answered", "invalid"],
)
def test_a_load_of_which_answers_do_not_tell_all_ends_the_loads_below_a_bound(
    unknown: Callable[[AttemptData], AttemptData],
) -> None:
    every = [attempt_of(DEFINITION, cell, 1, "m") for cell in grid(resolve(DEFINITION))]
    attempts = [unknown(one) if one.verdict.cell.load_ops_s == 20_000 else one for one in every]
    cells = cell_results(CampaignData("below-1", DEFINITION, tuple(attempts), (), GENERATED_AT))
    assert [one.load_ops_s for one in rates_below(cells, [bound(99, 1000)])] == [10_000]
