"""From where on figures are worth a remark: each bound at its value and just beyond it."""

import pytest
from tests.support.campaigns.outcomes import campaign_of

from plimsoll.analysis.attempt.hosts import OTHERS_NOTICED, STEAL_NOTICED
from plimsoll.analysis.attempt.judgement import answered_more
from plimsoll.analysis.campaign.capacity import capacities
from plimsoll.analysis.campaign.pauses import Steadiness, unsteady
from plimsoll.analysis.campaign.statistics import Comparison, are_few, smallest_corrected_p
from plimsoll.analysis.campaign.taken_loads import changed_maxima
from plimsoll.domain.keys.strategy import StageLoad


def test_steal_is_noticed_beyond_one_percent_and_other_programs_beyond_five() -> None:
    assert [share > STEAL_NOTICED for share in (0.01, 0.0101)] == [False, True]
    assert [share > OTHERS_NOTICED for share in (0.05, 0.0501)] == [False, True]


def test_more_than_the_attempted_rate_is_answered_beyond_its_tolerance() -> None:
    assert [answered_more(rate, 100.0) for rate in (None, 101.0, 101.1)] == [False, False, True]


def test_fewer_than_three_repeats_are_few() -> None:
    assert [are_few(repeats) for repeats in (2, 3)] == [True, False]


@pytest.mark.parametrize(("smallest", "corrected"), [(None, None), (0.02, 0.06), (0.5, 1.0)])
def test_the_smallest_p_is_corrected_for_all_comparisons(smallest: float | None, corrected: float | None) -> None:
    one = Comparison(
        variant="a",
        control="b",
        loads=(),
        ratio=None,
        superiority=None,
        p_value=None,
        p_holm=None,
        smallest_p=smallest,
        conclusion="too few repeats",
    )
    assert smallest_corrected_p(one, 3) == corrected


def test_cells_that_drift_or_jump_are_not_steady() -> None:
    nothing = dict.fromkeys(("change", "jump", "jump_at_s", "trend_p", "jump_p", "p_holm"))
    kinds = ("no drift shown", "drifts", "jumps", "too short to tell")
    found = [Steadiness.model_validate({"cell": kind, "finding": kind, **nothing}) for kind in kinds]
    assert [one.cell for one in unsteady(found)] == ["drifts", "jumps"]


def test_a_maximum_that_is_another_by_now_is_told_and_one_that_stands_is_not() -> None:
    now = capacities(campaign_of({"a": {10_000: "m", 20_000: "x"}, "b": {10_000: "x", 20_000: "x"}}))
    assert changed_maxima([opened("a", 10_000), opened("b", None)], now) == {}
    assert changed_maxima([opened("a", 20_000), opened("b", 10_000)], now) == {"a": 10_000, "b": None}


def opened(variant: str, maximum: int | None) -> StageLoad:
    return StageLoad(variant=variant, kind="found", maximum_ops_s=maximum, load_ops_s=maximum)
