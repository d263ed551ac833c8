"""What a part of a campaign contributes to a trend."""

from dataclasses import replace

import pytest
from tests.support.campaigns.outcomes import campaign_of

from plimsoll.analysis.campaign.cell_results import AttemptData
from plimsoll.analysis.trend.figures import Figure, figures_of


def failing(attempt: AttemptData, repeats: int) -> AttemptData:
    """Return the attempt with its worst interval decided by failed operations, if it is one of the first repeats."""
    levels = tuple(
        level.model_copy(update={"worst_is_floor": attempt.verdict.cell.repeat <= repeats})
        for level in attempt.verdict.levels
    )
    return replace(attempt, verdict=attempt.verdict.model_copy(update={"levels": levels}))


@pytest.mark.parametrize(
    ("repeats", "figure"),
    [(0, Figure(250.0, 250.0, 250.0, 2.5)), (1, Figure(250.0, 250.0, None, 2.5)), (2, None)],
)
def test_a_worst_interval_of_failed_operations_is_above_all_others_and_has_no_size(
    repeats: int, figure: Figure | None
) -> None:
    data = campaign_of({"a": {10_000: "xxx"}})
    known = figures_of(replace(data, attempts=tuple(failing(one, repeats) for one in data.attempts)))
    assert {key.measure: one for key, one in known.items()}.get("worst_interval_ms") == figure
