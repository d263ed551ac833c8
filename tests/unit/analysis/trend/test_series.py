from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from plimsoll.analysis.trend.figures import Figure, Measure, MeasuredCampaign, SeriesKey, VariantFacts
from plimsoll.analysis.trend.series import (
    Baseline,
    ChangedFact,
    Order,
    TrendSeries,
    also_changed,
    natural,
    placed_changes,
    trend_series,
)

PLACE = ("", "", "g1")
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
WORST = SeriesKey("worst_interval_ms", *PLACE, load_ops_s=400)
RATE = SeriesKey("achieved_ops_s", *PLACE, load_ops_s=400)


def campaign(number: int, figures: Mapping[SeriesKey, float], label: str = "", **beside: Any) -> MeasuredCampaign:
    """Return a campaign. `beside`: `version`, `environment` and `declared` of the variant."""
    known = {key: Figure(value, value, value) for key, value in figures.items()}
    nothing: dict[str, Any] = {"product": "", "measure": "", "version": "", "environment": {}, "declared": {}}
    facts = {PLACE: VariantFacts(**(nothing | beside))}
    return MeasuredCampaign(f"nightly-{number}", BEGAN + timedelta(days=number), label, known, facts)


def levels(*steps: tuple[float, int], key: SeriesKey = WORST, seed: int = 1) -> list[dict[SeriesKey, float]]:
    random = np.random.default_rng(seed)
    return [{key: float(level * np.exp(random.normal(0, 0.02)))} for level, count in steps for _ in range(count)]


def trend(figures: Sequence[Mapping[SeriesKey, float]], order: Order = "date") -> tuple[TrendSeries, ...]:
    return trend_series([campaign(number, one) for number, one in enumerate(figures, 1)], order)


def test_a_step_names_the_campaigns_on_both_sides() -> None:
    (found,) = trend(levels((20, 20), (23, 10)))
    (change,) = found.change_points
    assert (change.previous_campaign_id, change.campaign_id, change.index) == ("nightly-20", "nightly-21", 20)
    assert change.effect == "regression"
    assert (found.measure, found.variant, found.load_ops_s, len(found.points)) == ("worst_interval_ms", "g1", 400, 30)


@pytest.mark.parametrize(
    ("measure", "effect"),
    [
        ("worst_interval_ms", "improvement"),
        ("longest_pause_ms", "improvement"),
        ("paused_share", "improvement"),
        ("action_s", "improvement"),
        ("achieved_ops_s", "regression"),
        ("capacity_ops_s", "regression"),
    ],
)
def test_what_a_fall_means_depends_on_the_measure(measure: Measure, effect: str) -> None:
    (found,) = trend(levels((23, 10), (20, 10), key=SeriesKey(measure, *PLACE)))
    assert [one.effect for one in found.change_points] == [effect]


def test_a_campaign_without_the_figure_is_a_gap_and_stands_on_no_side() -> None:
    figures = levels((20, 12), (24, 12))
    figures[11:13] = [{}, {}]
    (found,) = trend(figures)
    assert [one.value for one in found.points][11:13] == [None, None]
    assert [(one.previous_campaign_id, one.campaign_id) for one in found.change_points] == [
        ("nightly-11", "nightly-14")
    ]


def test_too_few_figures_are_said_to_be_too_few() -> None:
    assert [one.enough for one in trend(levels((20, 7)))] == [False]
    assert [one.enough for one in trend(levels((20, 8)))] == [True]


def ordered(order: Order, values: Sequence[str]) -> list[str]:
    """Return the ids in an order by labels or versions that are given by date."""
    campaigns = [campaign(number, {WORST: 1.0}, label=one, version=one) for number, one in enumerate(values, 1)]
    (found,) = trend_series(campaigns, order)
    return [values[int(one.campaign_id.removeprefix("nightly-")) - 1] for one in found.points]


@pytest.mark.parametrize("order", ["label", "version"])
def test_numbers_in_labels_and_versions_sort_by_size(order: Order) -> None:
    values = ["Cassandra 4.1.10", "Cassandra 4.1.9", "Cassandra 4.0", "Cassandra 4.0-rc1", "Cassandra 4.1"]
    sorted_values = ["Cassandra 4.0-rc1", "Cassandra 4.0", "Cassandra 4.1", "Cassandra 4.1.9", "Cassandra 4.1.10"]
    assert ordered(order, values) == sorted_values


def test_campaigns_of_one_version_keep_the_order_of_their_dates_and_those_without_are_left_out() -> None:
    campaigns = [campaign(n, {WORST: 1.0}, version=one) for n, one in enumerate(["5.0", "", "5.0", "4.1"], 1)]
    (found,) = trend_series(campaigns, "version")
    assert [one.campaign_id for one in found.points] == ["nightly-4", "nightly-1", "nightly-3"]


def test_a_series_of_which_no_campaign_has_a_version_is_left_out() -> None:
    capacity = SeriesKey("capacity_ops_s", *PLACE)
    assert trend_series([campaign(1, {capacity: 1.0}), campaign(2, {WORST: 1.0})], "version") == ()


def test_ids_sort_naturally() -> None:
    assert natural("nightly-9") < natural("nightly-10")


def test_a_step_by_version_is_found_though_the_dates_are_mixed() -> None:
    figures = levels((20, 10), (23, 10))
    numbers = [*range(1, 20, 2), *range(2, 21, 2)]
    campaigns = [
        campaign(number, one, version=f"5.0.{place}")
        for place, (number, one) in enumerate(zip(numbers, figures, strict=True))
    ]
    by_date = sorted(campaigns, key=lambda one: one.began_at)
    assert trend_series(by_date, "date")[0].change_points == ()
    assert [one.campaign_id for one in trend_series(by_date, "version")[0].change_points] == ["nightly-2"]


def test_what_else_changed_has_no_value_in_common_on_both_sides() -> None:
    before = [{"kernel": "6.1", "JVM": "17.0.9", "zone": "a"}, {"kernel": "6.2", "JVM": "17.0.9", "zone": "b"}]
    after = [{"kernel": "6.8", "JVM": "17.0.9", "zone": "a"}, {"kernel": "6.9", "JVM": "17.0.10", "zone": "b"}]
    assert also_changed(before, after) == (ChangedFact(fact="kernel", before="6.2", after="6.8"),)


def test_a_fact_that_only_one_side_tells_is_named() -> None:
    assert also_changed([{}, {}], [{"swap": "none"}]) == (ChangedFact(fact="swap", before="(not told)", after="none"),)


def with_kernels(kernels: Sequence[str | None]) -> TrendSeries:
    known = [{"kernel": one} if one else {} for one in kernels]
    figures = levels((20, 6), (24, 6))
    code = [{"Plimsoll's code": "1" if place < 6 else "2"} for place in range(12)]
    campaigns = [campaign(n, one, environment=known[n - 1], declared=code[n - 1]) for n, one in enumerate(figures, 1)]
    (found,) = trend_series(campaigns, "date")
    return found


def test_unknown_environments_say_nothing_and_are_no_sameness() -> None:
    (known,) = with_kernels(["6.1", None, None, None, None, None, "6.8", None, None, None, None, "6.8"]).change_points
    assert [one.fact for one in known.also_changed] == ["kernel", "Plimsoll's code"]
    assert known.environment_known
    (unknown,) = with_kernels(["6.1"] * 6 + [None] * 6).change_points
    assert [one.fact for one in unknown.also_changed] == ["Plimsoll's code"]
    assert not unknown.environment_known


def test_change_points_of_a_variant_side_by_side_are_one_change() -> None:
    other = SeriesKey("worst_interval_ms", *PLACE, load_ops_s=800)
    of_zgc = SeriesKey("worst_interval_ms", "", "", "zgc", load_ops_s=400)
    of_g1 = levels((20, 20), (23, 10))
    of_other = levels((40, 21), (44, 9), key=other, seed=2)
    steady = levels((9, 30), key=of_zgc, seed=3)
    slower = levels((400, 20), (340, 10), key=RATE, seed=4)
    found = trend([a | b | c | d for a, b, c, d in zip(of_g1, of_other, steady, slower, strict=True)])
    (change,) = placed_changes(found)
    assert (change.variant, change.previous_campaign_id, change.campaign_id) == ("g1", "nightly-20", "nightly-21")
    assert sorted(found[place].measure for place in change.series) == [
        "achieved_ops_s", "worst_interval_ms", "worst_interval_ms",
    ]  # fmt: skip


def test_changes_there_and_back_are_two() -> None:
    changes = placed_changes(trend(levels((20, 10), (25, 10), (20, 10))))
    assert [(one.campaign_id, one.effect) for one in changes] == [
        ("nightly-11", "regression"), ("nightly-21", "improvement"),
    ]  # fmt: skip


@pytest.mark.parametrize(("width", "changes"), [(0.05, 1), (0.5, 0), (None, 0)])
def test_a_capacity_that_moves_within_its_interval_has_not_changed(width: float | None, changes: int) -> None:
    key = SeriesKey("capacity_ops_s", *PLACE)

    def known(value: float) -> Figure:
        low, high = (None, None) if width is None else (value * (1 - width), value * (1 + width))
        return Figure(value, low, high)

    campaigns = [
        replace(campaign(n, {}), figures={key: known(one[key])})
        for n, one in enumerate(levels((40_000, 10), (35_000, 10), key=key), 1)
    ]
    (found,) = trend_series(campaigns, "date")
    assert len(found.change_points) == changes


def test_a_capacity_without_a_figure_since_the_baseline_has_no_change() -> None:
    key = SeriesKey("capacity_ops_s", *PLACE)
    known = [{key: 40_000.0, WORST: 20.0}] * 4 + [{WORST: 20.0}] * 4
    campaigns = [campaign(number, one) for number, one in enumerate(known, 1)]
    found = {one.measure: one for one in trend_series(campaigns, "date", [Baseline("nightly-5")])}
    assert (found["capacity_ops_s"].enough, found["capacity_ops_s"].change_points) == (False, ())
