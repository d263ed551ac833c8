from collections.abc import Mapping, Sequence
from dataclasses import replace

from tests.support.campaigns.outcomes import campaign_of

from plimsoll.analysis.campaign.by_load import HighestAchieved, highest_achieved, mean_achieved
from plimsoll.analysis.campaign.cell_results import CampaignData, CellResult, cell_results


def achieving(data: CampaignData, rates: Mapping[str, float | None]) -> tuple[CellResult, ...]:
    """Return the cells, of which these achieve other rates than the attempted ones, ops/s."""
    attempts = [
        replace(one, verdict=one.verdict.model_copy(update={"achieved_ops_s": rates[one.verdict.cell.id]}))
        if one.verdict.cell.id in rates
        else one
        for one in data.attempts
    ]
    return cell_results(replace(data, attempts=tuple(attempts)))


def places(found: Sequence[HighestAchieved]) -> list[tuple[str, int, int, float]]:
    return [(one.variant, one.load_ops_s, one.repeats, one.mean_ops_s) for one in found]


def test_the_highest_mean_over_the_loads_counts_whatever_the_service_level_says() -> None:
    data = campaign_of(
        {"b": {10_000: "mm", 20_000: "xx", 30_000: "xx"}, "a": {10_000: "mm", 20_000: "mm", 30_000: "mm"}}
    )
    rates = {"b-020k-r1": 18_000.0, "b-020k-r2": 19_000.0, "b-030k-r1": 21_000.0, "b-030k-r2": 14_000.0}
    cells = achieving(data, rates)

    assert places(highest_achieved(cells)) == [("b", 20_000, 2, 18_500.0), ("a", 30_000, 2, 30_000.0)]
    assert mean_achieved(cells)["b", 30_000] == 17_500.0


def test_invalid_and_unknown_repeats_are_left_out_of_the_mean() -> None:
    data = campaign_of({"a": {10_000: "mix", 20_000: "i.."}})

    assert places(highest_achieved(achieving(data, {"a-010k-r3": 9_000.0}))) == [("a", 10_000, 2, 9_500.0)]
    assert places(highest_achieved(achieving(data, {"a-010k-r3": None}))) == [("a", 10_000, 1, 10_000.0)]


def test_of_equal_means_the_lowest_load_is_named() -> None:
    data = campaign_of({"a": {10_000: "m", 20_000: "x"}})

    assert places(highest_achieved(achieving(data, {"a-020k-r1": 10_000.0}))) == [("a", 10_000, 1, 10_000.0)]


def test_a_variant_of_which_no_rate_is_known_is_left_out() -> None:
    data = campaign_of({"a": {10_000: "i"}, "b": {10_000: "m"}})

    assert [one.variant for one in highest_achieved(cell_results(data))] == ["b"]
    assert highest_achieved(achieving(data, {"b-010k-r1": None})) == ()
