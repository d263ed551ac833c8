"""Planted drifts, order effects, zones and odd hosts are found; a campaign without them shows none."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest
from scipy.stats import mstats
from tests.support.campaigns.synthetic import Plan, azul_definition, synthetic_campaign

from plimsoll.analysis.campaign.cell_results import CellResult, cell_results
from plimsoll.analysis.campaign.host_facts import steal
from plimsoll.analysis.campaign.noise import Residual, cell_residuals, noise, order_effect, outliers, zone_effect
from plimsoll.analysis.campaign.pauses import steadiness
from plimsoll.analysis.campaign.series import Series, pettitt, seasonal_trend, typical_by_load
from plimsoll.domain.definition.definition import Definition

LOADS = ["20000/s", "60000/s"]


def definition() -> Definition:
    """Return three variants, two loads, five repeats of 180 judged intervals: 30 cells."""
    whole = azul_definition(loads=LOADS, timing={"duration": "35m", "warmup": "5m"})
    return whole.model_copy(update={"variants": whole.variants[1:4]})


def cells(**planted: object) -> tuple[CellResult, ...]:
    plan = Plan(dict.fromkeys(("g1", "cms", "shenandoah"), 60_000), chance={}, run_spread=0.02, **planted)  # type: ignore[arg-type]
    return cell_results(synthetic_campaign(definition(), plan))


@pytest.fixture(scope="module")
def null() -> tuple[CellResult, ...]:
    return cells(slow_zones={"eu-west-1b": 1.0})


@pytest.fixture(scope="module")
def noisy() -> tuple[CellResult, ...]:
    return cells(
        drifts={"g1-020k-r2": 1.5},
        jumps={"cms-020k-r3": 1.6},
        slow_cells={"shenandoah-020k-r4": 1.5},
        busy_hosts={("g1-060k-r1", "node3"): 1.4},
    )


def test_a_null_campaign_shows_nothing(null: tuple[CellResult, ...]) -> None:
    found = noise(null)
    assert not found.order.shown
    assert not found.zones.shown
    assert set(found.zones.zones) == {"eu-west-1a", "eu-west-1b"}
    assert found.outliers == ()
    assert {one.finding for one in steadiness(null)} == {"no drift shown"}
    assert found.steal is not None
    assert found.steal.highest < 0.01
    assert found.clock_offset_ms == pytest.approx(0.3)


def test_a_drift_and_a_jump_within_cells_are_found_and_named(noisy: tuple[CellResult, ...]) -> None:
    odd = {one.cell: one for one in steadiness(noisy) if one.finding != "no drift shown"}
    assert set(odd) == {"g1-020k-r2", "cms-020k-r3"}
    assert odd["g1-020k-r2"].change == pytest.approx(1.5, rel=0.1)
    assert odd["cms-020k-r3"].finding == "jumps"
    assert odd["cms-020k-r3"].jump == pytest.approx(1.6, rel=0.1)
    assert odd["cms-020k-r3"].jump_at_s == pytest.approx(300 + 0.6 * 1800, abs=80)


def test_a_jump_is_where_it_was_also_after_intervals_in_which_nothing_was_answered() -> None:
    starts_s = np.arange(0.0, 3600.0, 10.0)
    slower = np.where(starts_s < 1200, 10.0, 30.0) * np.random.default_rng(1).lognormal(0.0, 0.02, len(starts_s))
    answered = Series(starts_s, slower, np.zeros(len(starts_s), dtype=bool))
    stalled = answered._replace(judged_ms=np.where(starts_s < 600, np.nan, slower))
    found = [steadiness([cast(Any, of_series(series))])[0] for series in (answered, stalled)]
    assert [one.finding for one in found] == ["jumps", "jumps"]
    assert [one.jump_at_s for one in found] == [pytest.approx(1200, abs=200)] * 2


def test_a_jump_begins_with_the_first_interval_after_it_also_where_blocks_differ_in_length() -> None:
    starts_s = np.arange(0.0, 7320.0, 10.0)
    slower = np.where(starts_s < 4020, 20.0, 60.0) * np.random.default_rng(1).lognormal(0.0, 0.01, 732)
    [found] = steadiness([cast(Any, of_series(Series(starts_s, slower, np.zeros(732, dtype=bool))))])
    assert found.jump_at_s == 4020  # after 12 blocks of 31 intervals, and one of 30


def of_series(series: Series) -> SimpleNamespace:
    return SimpleNamespace(
        cell=SimpleNamespace(id="a"), counted=SimpleNamespace(series=series, intervals=pd.DataFrame([0]))
    )


def test_an_odd_cell_and_a_busy_host_are_found(noisy: tuple[CellResult, ...]) -> None:
    found = {(one.cell, one.host) for one in noise(noisy).outliers}
    assert {("shenandoah-020k-r4", None), ("g1-060k-r1", "node3")} <= found


def test_an_order_effect_is_found_with_its_size() -> None:
    found = noise(cells(order_change=1.3)).order
    assert found.shown
    assert found.change == pytest.approx(1.3, rel=0.1)


def test_a_slow_zone_is_found() -> None:
    found = noise(cells(slow_zones={"eu-west-1b": 1.3})).zones
    assert found.shown
    assert found.zones["eu-west-1b"] / found.zones["eu-west-1a"] == pytest.approx(1.3, rel=0.1)


def test_false_alarms_stay_within_the_stated_level() -> None:
    """Residuals of 45 cells in 9 groups of five, a cell of each in every block, 300 campaigns of nothing but chance."""
    random, alarms = np.random.default_rng(3), {"order": 0, "outliers": 0}
    for _ in range(300):
        values = random.normal(size=(9, 5))
        values = (values - values.mean(axis=1, keepdims=True)) * np.sqrt(5 / 4)
        order = [group + 9 * block for block in range(5) for group in random.permutation(9)]
        started = {place: datetime(2026, 3, 1, tzinfo=UTC) + timedelta(hours=n) for n, place in enumerate(order)}
        residuals = [
            Residual(_cell_of(group, block, started[group + 9 * block]), None, values[group, block], np.sqrt(5 / 4))
            for group in range(9)
            for block in range(5)
        ]
        alarms["outliers"] += bool(outliers(residuals, "figure"))
        alarms["order"] += order_effect(residuals).shown
    assert 0 < max(alarms.values()) <= 24  # 15 expected; 25 or more of 300 have a chance below 1 %


def _cell_of(group: Any, block: Any, started_at: Any) -> Any:
    cell = SimpleNamespace(variant=group, load_ops_s=1, id=f"{group}-{block}")
    return SimpleNamespace(cell=cell, verdict=SimpleNamespace(started_at=started_at))


def test_the_seasonal_trend_is_scipys() -> None:
    random = np.random.default_rng(5)
    years = random.normal(size=(6, 4)) + 0.3 * np.arange(6)[:, None]
    p_value, slope = seasonal_trend([(np.arange(6.0), season) for season in years.T])
    expected = mstats.kendalltau_seasonal(years)
    assert p_value == pytest.approx(float(expected["global p-value (indep)"]))
    slopes = np.concatenate(
        [(season[j] - season[i : i + 1]) / (j - i) for season in years.T for i in range(6) for j in range(i + 1, 6)]
    )
    assert slope == pytest.approx(np.median(slopes))
    assert seasonal_trend([(np.zeros(1), np.ones(1))]) == (1.0, 0.0)


def test_few_cells_tell_nothing(null: tuple[CellResult, ...]) -> None:
    few = cell_residuals(null)[:9]
    assert (order_effect(few).shown, order_effect(few).p_value) == (False, None)
    assert outliers(few, "figure") == ()
    assert zone_effect(few[:2]).p_value is None


def test_pettitts_place_is_the_first_after_the_change() -> None:
    place, p_value = pettitt(np.array([1.0, 1.1, 0.9, 1.0, 1.05, 3.0, 3.1, 2.9, 3.0, 3.05]))
    assert place == 5
    # K = 25: 2 exp(-6 · 625 / (1000 + 100))
    assert p_value == pytest.approx(2 * np.exp(-6 * 625 / 1100))


def test_the_bootstrap_interval_encloses_the_value_and_narrows_with_runs(null: tuple[CellResult, ...]) -> None:
    for one in typical_by_load(null):
        assert one.typical_ms.low is not None
        assert one.typical_ms.high is not None
        assert one.typical_ms.low < one.typical_ms.value < one.typical_ms.high
    pair = [result for result in null if result.cell.repeat <= 2]
    (two, *_), (five, *_) = typical_by_load(pair), typical_by_load(null)
    assert (two.repeats, five.repeats) == (2, 5)
    single = typical_by_load([result for result in null if result.cell.repeat == 1])
    assert {one.typical_ms.low for one in single} == {None}


def test_misses_are_a_share_with_its_uncertainty() -> None:
    plan = Plan(dict.fromkeys(("g1", "cms", "shenandoah"), 20_000), chance={})
    found = typical_by_load(cell_results(synthetic_campaign(definition(), plan)))
    lower, higher = found[0], found[1]
    assert lower.missed_share.value == 0
    assert higher.missed_share.low is not None
    assert 0 < higher.missed_share.low < higher.missed_share.value < (higher.missed_share.high or 0)


def test_an_interval_too_short_to_measure_is_fast_in_the_typical_figure_and_not_the_slowest() -> None:
    judged_ms = np.array([0.0, 0.0, 0.0, 40.0])
    series = Series(np.arange(4.0), judged_ms, np.zeros(4, dtype=bool))
    cell = SimpleNamespace(id="a", variant="a", load_ops_s=100)
    [found] = typical_by_load([cast(Any, SimpleNamespace(cell=cell, counted=SimpleNamespace(series=series)))])
    assert found.typical_ms.value == pytest.approx((0.5**3 * 40) ** 0.25)
    stalled = series._replace(judged_ms=np.array([10.0, 10.0, np.nan, 40.0]))
    [found] = typical_by_load([cast(Any, SimpleNamespace(cell=cell, counted=SimpleNamespace(series=stalled)))])
    assert found.typical_ms.value == pytest.approx(20)


def test_a_host_without_samples_hides_no_steal_of_others(null: Any) -> None:
    def stolen(result: Any, share: float) -> Any:
        hosts = pd.DataFrame({"host": ["node1"], "cpu_steal": [share]})
        return replace(result, attempts=(replace(result.counted, hosts=hosts),))

    seen = [stolen(result, share) for result, share in zip(null[:3], (float("nan"), 0.3, 0.1), strict=True)]
    found = steal(seen)
    assert found is not None
    assert (found.mean, found.highest) == (pytest.approx(0.2), 0.3)
    assert found.highest_at == f"{null[1].cell.id} node1"
    assert steal(seen[:1]) is None


def test_kept_hosts_are_told_in_the_order_of_their_use(null: Any) -> None:
    def on(result: Any, cluster: Any, replaces: str = "") -> Any:
        fingerprint = result.counted.fingerprint.model_copy(update={"cluster": cluster, "replaces": replaces})
        return replace(result, attempts=(replace(result.counted, fingerprint=fingerprint),))

    ordered = sorted(null, key=lambda result: result.counted.verdict.started_at)
    moved = [*(on(one, "hosts/1") for one in ordered[:10]), *(on(one, "hosts/2", "it died") for one in ordered[10:])]
    found = noise(moved[::-1]).kept_hosts
    assert [(one.cluster, one.cells, one.replaces) for one in found] == [
        ("hosts/1", 10, ""),
        ("hosts/2", 20, "it died"),
    ]
    assert found[1].first_cell == ordered[10].cell.id
    partly = [
        *(on(one, "hosts/1") for one in ordered[:10]),
        *(on(one, "hosts/1", "node2 died") for one in ordered[10:]),
    ]
    clusters = [(one.cluster, one.cells, one.replaces) for one in noise(partly).kept_hosts]
    assert clusters == [("hosts/1", 10, ""), ("hosts/1", 20, "node2 died")]
    assert noise(null).kept_hosts == ()
