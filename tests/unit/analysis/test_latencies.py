"""The curve over the judged time, of logs whose every value is known."""

from datetime import timedelta

import pandas as pd
import pytest
from tests.support.campaigns.interval_logs import every_second, log

from plimsoll.analysis.attempt.judgement import Judgement, Run
from plimsoll.analysis.attempt.latencies import COLUMNS, STEPS, Curve, latencies_frame, median_curves
from plimsoll.analysis.attempt.service_level_evaluation import judge_logs
from plimsoll.domain.keys.service_level import ServiceLevel

WRITES, READS = "r.hdr-intended-mutations", "r.hdr-intended-selects"
FAST, SLOW = 1_000, 250_000


def judged(files: dict[str, bytes]) -> Judgement:
    return judge_logs(files, Run(warmup=timedelta(seconds=10)), (ServiceLevel(),))


def curve(judgement: Judgement, operation: str) -> dict[float, float]:
    """Return percentile → ms."""
    table = latencies_frame(judgement.counts, judgement.unit)
    own = table[table["operation"] == operation]
    return dict(zip(own["percentile"], own["ms"], strict=True))


def test_warm_up_and_the_cut_off_rest_are_not_in_it() -> None:
    values = [[SLOW] * 10] * 10 + [[FAST] * 10] * 20 + [[SLOW] * 10] * 5
    found = curve(judged({WRITES: log(every_second(values))}), "all")
    assert set(found.values()) == {1.0}


def test_reads_and_writes_stand_apart_and_together() -> None:
    judgement = judged({WRITES: log(every_second([[FAST] * 10] * 30)), READS: log(every_second([[SLOW]] * 30))})
    table = latencies_frame(judgement.counts, judgement.unit)
    assert dict(table.groupby("operation")["operations"].first()) == {"all": 220, "reads": 20, "writes": 200}
    assert curve(judgement, "writes")[99.0] == 1.0
    assert curve(judgement, "reads")[50.0] == pytest.approx(250, rel=1e-3)
    assert (curve(judgement, "all")[90.0], curve(judgement, "all")[98.0]) == (1.0, pytest.approx(250, rel=1e-3))


def test_no_percentile_is_told_that_less_than_one_operation_lies_above_but_the_maximum() -> None:
    found = curve(judged({WRITES: log(every_second([[FAST] * 10] * 30))}), "all")
    assert sorted(found)[-2:] == [99.5, 100.0]


def test_nothing_judged_has_no_curve() -> None:
    assert latencies_frame({}, "us").empty


def test_percentiles_rise_in_equal_parts_of_a_nine() -> None:
    assert list(STEPS) == sorted(set(STEPS))
    assert {0.0, 50.0, 90.0, 99.0, 99.9, 99.99, 99.999} <= set(STEPS)


def repeat(operation: str, operations: int, ms_at: dict[float, float]) -> pd.DataFrame:
    rows = [(operation, percentile, ms, operations) for percentile, ms in ms_at.items()]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def test_a_curve_has_the_median_over_repeats_at_each_percentile_and_of_the_maxima() -> None:
    tables = [
        repeat("all", 100, {50.0: 1.0, 90.0: 4.0, 100.0: 9.0}),
        repeat("all", 300, {50.0: 3.0, 90.0: 5.0, 100.0: 30.0}),
        repeat("all", 200, {50.0: 2.0, 90.0: 9.0, 100.0: 10.0}),
    ]
    assert median_curves(tables) == (Curve("all", {50.0: 2.0, 90.0: 5.0}, maximum_ms=10.0, operations=200.0),)


def test_a_percentile_that_one_repeat_does_not_tell_is_left_out() -> None:
    tables = [repeat("all", 9, {50.0: 1.0, 100.0: 2.0}), repeat("all", 90, {50.0: 3.0, 90.0: 4.0, 100.0: 6.0})]
    (curve,) = median_curves(tables)
    assert (dict(curve.ms_at), curve.maximum_ms) == ({50.0: 2.0}, 4.0)


def test_reads_and_writes_have_a_curve_each_and_then_all_operations_have_none() -> None:
    kinds = [repeat(name, 10, {50.0: ms, 100.0: ms}) for name, ms in (("all", 2.0), ("writes", 1.0), ("reads", 3.0))]
    found = median_curves([pd.concat(kinds)])
    assert [(one.operation, one.maximum_ms) for one in found] == [("reads", 3.0), ("writes", 1.0)]
