from datetime import UTC, datetime, timedelta
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.campaigns.interval_logs import CASSANDRA_STRESS, STARTED_AT_S, every_second, line, log, payload
from tests.unit.analysis.judged_logs import FAST, READS, SLOW, WRITES, judge, run, seconds

from plimsoll.analysis.logs.hdr.histograms import WIDE
from plimsoll.domain.keys.service_level import ServiceLevel

WHENCE = "x: does not say whether times count from the schedule or from the send (coordinated omission)"
FEW = (
    "p99.9 of an interval of 10s is decided by fewer than 10 operations at 1 ops/s: 1,000 ops/s would do, or intervals "
    "of 10000s at 1 ops/s"
)


def test_a_run_without_a_slow_interval_meets_the_service_level() -> None:
    found = judge({WRITES: seconds(30, [FAST] * 8), READS: seconds(30, [2 * FAST] * 2)})
    (level,) = found.levels
    few = FEW.replace(" 1 ops/s", " 10 ops/s").replace("10000s", "1000s")
    assert (found.reasons, found.notes, found.valid, found.met) == ((), (few,), True, True)
    assert (level.met, level.judged, level.missed, level.not_judged, level.worst_ms) == (True, 2, 0, 0, 2.0)
    assert found.operations == 200
    assert found.achieved_ops_s == 10.0


def test_every_row_of_the_table_is_as_counted_by_hand() -> None:
    found = judge({WRITES: seconds(35, [1_000, 2_000, 3_000, 4_000]), READS: seconds(35, [5_000])})
    rows = [(row.start_s, row.duration_s, row.phase, row.operation, row.count, row.met) for row in found.intervals.rows]
    assert rows == [
        (0.0, 10.0, "warm-up", "all", 50, None),
        (0.0, 10.0, "warm-up", "reads", 10, None),
        (0.0, 10.0, "warm-up", "writes", 40, None),
        (10.0, 10.0, "judged", "all", 50, True),
        (10.0, 10.0, "judged", "reads", 10, None),
        (10.0, 10.0, "judged", "writes", 40, None),
        (20.0, 10.0, "judged", "all", 50, True),
        (20.0, 10.0, "judged", "reads", 10, None),
        (20.0, 10.0, "judged", "writes", 40, None),
        (30.0, 5.0, "partial", "all", 25, None),
        (30.0, 5.0, "partial", "reads", 5, None),
        (30.0, 5.0, "partial", "writes", 20, None),
    ]
    everything, reads, writes = found.intervals.rows[3:6]
    assert (everything.rate_ops_s, reads.rate_ops_s, writes.rate_ops_s) == (5.0, 1.0, 4.0)
    assert (everything.p50_ms, everything.p90_ms, everything.max_ms) == (3.001, 5.003, 5.003)
    assert (writes.p50_ms, writes.p90_ms, writes.p99_ms, writes.p99_9_ms) == (2.0, 4.001, 4.001, 4.001)
    assert everything.judged_ms == everything.p99_9_ms == 5.003


def test_one_slow_operation_in_a_thousand_is_allowed_and_two_are_not() -> None:
    second = [FAST] * 100
    assert judge({"x": seconds(10, second, at_3=[*second[1:], SLOW])}, run(0)).met is True
    assert judge({"x": seconds(10, second, at_3=[*second[2:], SLOW, SLOW])}, run(0)).met is False


def test_reads_and_writes_are_judged_together() -> None:
    slow_write, slow_read = [FAST] * 79 + [SLOW], [FAST] * 19 + [SLOW]
    files = {WRITES: seconds(10, [FAST] * 80, at_1=slow_write), READS: seconds(10, [FAST] * 20)}
    assert judge(files, run(0)).met is True
    assert judge({**files, READS: seconds(10, [FAST] * 20, at_7=slow_read)}, run(0)).met is False


def test_an_interval_misses_where_the_percentile_of_the_whole_run_would_not() -> None:
    second = [FAST] * 100
    found = judge({"x": seconds(100, second, at_55=[*second[3:], SLOW, SLOW, SLOW])}, run(0))
    assert (found.levels[0].missed, found.levels[0].judged) == (1, 10)
    assert [row.start_s for row in found.intervals.select("judged") if row.met is False] == [50.0]


@pytest.mark.parametrize(("value", "met"), [(99_900, True), (99_967, True), (99_968, False), (100_000, False)])
def test_the_bound_itself_misses_and_so_does_what_shares_its_slot(value: int, met: bool) -> None:
    assert judge({"x": seconds(10, [value])}, run(0)).met is met


def test_warm_up_and_the_cut_off_rest_are_not_judged() -> None:
    found = judge({"x": seconds(37, [FAST], at_2=[SLOW], at_36=[SLOW])})
    assert (found.met, found.levels[0].judged, found.levels[0].not_judged) == (True, 2, 1)
    assert found.maxima is not None
    assert found.maxima.max_ms == 1.0


def test_maxima_are_the_highest_of_each_percentile_over_intervals() -> None:
    found = judge({WRITES: seconds(30, [FAST], at_12=[9_000] * 20), READS: seconds(30, [FAST], at_25=[SLOW])})
    assert found.maxima is not None
    assert (found.maxima.p50_ms, found.maxima.max_ms) == (9.007, 250.111)
    assert found.maxima_by_operation["reads"].max_ms == 250.111
    assert found.maxima_by_operation["writes"].max_ms == 9.007
    assert found.maxima_by_operation["writes"].p50_ms == 9.007


def test_several_service_levels_are_judged_at_once() -> None:
    levels = (
        ServiceLevel(percentile=50, below=timedelta(milliseconds=2)),
        ServiceLevel(percentile=99.9, below=timedelta(milliseconds=100)),
        ServiceLevel(percentile=99.9, below=timedelta(milliseconds=100), operations="writes"),
        ServiceLevel(percentile=95, interval=timedelta(seconds=30), below=timedelta(milliseconds=100)),
    )
    files = {WRITES: seconds(70, [FAST] * 9), READS: seconds(70, [FAST], at_20=[SLOW])}
    found = judge(files, run(10, 70), *levels)
    assert [(one.met, one.judged, one.missed) for one in found.levels] == [
        (True, 6, 0),
        (False, 6, 1),
        (True, 6, 0),
        (True, 2, 0),
    ]
    assert found.met is False
    assert {row.judged_ms for row in found.intervals.select("judged")} == {1.0}


def test_the_first_service_levels_own_operations_carry_the_marks() -> None:
    level = ServiceLevel(operations="reads")
    found = judge({WRITES: seconds(10, [SLOW]), READS: seconds(10, [FAST])}, run(0), level)
    assert {row.operation: row.met for row in found.intervals.rows} == {"all": None, "reads": True, "writes": None}
    assert found.met is True


def test_a_service_level_of_reads_needs_reads() -> None:
    found = judge({WRITES: seconds(10, [FAST])}, run(0), ServiceLevel(operations="reads"))
    assert found.reasons == ("the logs don't distinguish reads, so their service level can't be judged",)
    assert (found.met, found.levels[0].met) == (None, False)


def test_an_interval_without_an_operation_is_no_pass() -> None:
    empty = {f"at_{second}": [] for second in range(20, 30)}
    found = judge({"x": seconds(40, [FAST], **empty)})
    assert found.reasons == ("1 of 3 intervals of 10s holds no operation, the first at 20 s",)
    assert found.met is None
    assert [row.met for row in found.intervals.select("judged")] == [True, False, True]
    assert found.intervals.select("judged")[1].p50_ms is None


def test_empty_seconds_inside_an_interval_are_no_fault() -> None:
    assert judge({"x": seconds(20, [FAST], at_15=[])}).valid


def test_an_interval_without_reads_matters_to_a_service_level_of_reads_only() -> None:
    files = {WRITES: seconds(20, [FAST]), READS: seconds(20, [])}
    assert judge(files).valid
    assert judge(files, run(), ServiceLevel(operations="reads")).reasons == (
        "1 of 1 interval of 10s holds no reads, the first at 10 s",
    )


def test_fewer_intervals_than_planned_are_no_measurement() -> None:
    found = judge({"x": seconds(25, [FAST])}, run(10, 40))
    assert found.reasons == ("only 1 of 3 intervals of 10s are covered by the logs",)


def test_intervals_beyond_the_planned_ones_are_not_judged() -> None:
    found = judge({"x": seconds(44, [FAST], at_33=[SLOW])}, run(10, 30))
    assert (found.met, found.levels[0].judged, found.levels[0].not_judged) == (True, 2, 2)


def test_a_log_that_ends_within_warm_up_is_no_measurement() -> None:
    found = judge({"x": seconds(25, [FAST])}, run(30))
    assert found.reasons == ("the logs cover 25 s: no whole interval after 30 s of warm-up",)
    assert (found.maxima, found.achieved_ops_s) == (None, None)


def test_a_gap_is_no_measurement_and_forms_no_intervals() -> None:
    whole = log(line(second, 1.0, payload([FAST])) for second in range(30) if second != 17)
    found = judge({"x": whole})
    assert found.reasons == ("x, line 22: a gap of 1.000 s (records are missing, or the clock jumped forward)",)
    assert (found.levels, found.intervals.rows) == ((), ())


def test_records_that_fit_no_interval_are_no_measurement() -> None:
    found = judge({"x": log(every_second([[FAST]] * 6, length_s=10.0))}, run(15))
    assert "do not fit intervals of 10 s after 15 s of warm-up" in found.reasons[0]


def test_a_truncated_last_line_costs_its_record_and_is_said() -> None:
    whole = seconds(30, [FAST])
    found = judge({"x": whole[:-9]})
    assert (found.valid, found.levels[0].judged, found.levels[0].not_judged) == (True, 1, 1)
    assert found.notes == (
        "x, line 34: the last line is cut short (was its writer killed?); the records before it count",
        WHENCE,
        FEW,
    )


def test_an_unreadable_log_is_a_reason_not_an_exception() -> None:
    found = judge({"x": log([]) + b"Timestamp,count\n"})
    assert not found.valid
    assert found.reasons[0].startswith("x, line 5: is not a line of a histogram log (give the interval log")


def test_a_damaged_histogram_is_a_reason_not_an_exception() -> None:
    damaged = log([line(0, 1.0, payload([FAST])), line(1, 1.0, payload([FAST])[:-8]), line(2, 1.0, payload([FAST]))])
    found = judge({"x": damaged}, run(0))
    assert found.reasons[0].startswith("x, line 6: the histogram can't be decoded")


@pytest.mark.parametrize(("attempted", "achieved"), [(10.0, True), (10.1, True), (10.2, False)])
def test_a_rate_one_per_cent_below_the_attempted_one_is_achieved(attempted: float, achieved: bool) -> None:
    found = judge({"x": seconds(20, [FAST] * 10)}, run(attempted_ops_s=attempted))
    assert (found.achieved_ops_s, found.rate_achieved) == (10.0, achieved)


def test_operations_that_the_logs_lost_are_no_measurement() -> None:
    files = {"x": seconds(25, [FAST] * 4)}
    assert judge(files, run(operations=100)).valid
    assert judge(files, run(operations=101)).reasons == (
        "the logs hold 100 operations, the load generator answered for 101",
    )


def test_times_count_from_the_timed_runs_start() -> None:
    at = datetime.fromtimestamp(STARTED_AT_S, UTC)
    assert judge({"x": seconds(20, [FAST])}, run(started_at=at + timedelta(seconds=0.2))).valid
    late = judge({"x": seconds(20, [FAST])}, run(started_at=at - timedelta(seconds=4)))
    assert late.reasons == ("x: begins +4.000 s from the start of the timed run",)


def test_nanoseconds_are_asked_for_or_known_by_their_writer() -> None:
    nanoseconds = seconds(10, [5_000_000])
    assert judge({"x": nanoseconds}, run(0), unit="ns").levels[0].worst_ms == pytest.approx(5.0, rel=1e-3)
    tagged = log(every_second([[5_000_000]] * 10, "insert-rt", per_ms=10**6), comment=CASSANDRA_STRESS)
    assert judge({"x": tagged}, run(0)).levels[0].worst_ms == pytest.approx(5.0, rel=1e-3)


@settings(max_examples=25)
@given(data=st.data())
def test_intervals_are_what_counting_every_single_value_gives(data: Any) -> None:
    second = st.lists(st.integers(0, 3_600_000_000), min_size=1, max_size=6)
    writes = data.draw(st.lists(second, min_size=12, max_size=12))
    reads = data.draw(st.lists(second, min_size=12, max_size=12))
    level = ServiceLevel(interval=timedelta(seconds=3))
    found = judge({WRITES: log(every_second(writes)), READS: log(every_second(reads))}, run(3), level)
    for place, row in enumerate(found.intervals.select("judged"), 1):
        values = sorted(
            value for one in (writes, reads) for second in one[3 * place : 3 * place + 3] for value in second
        )
        assert row.count == len(values)
        assert (row.p50_ms, row.p90_ms, row.p99_ms, row.p99_9_ms, row.max_ms) == tuple(
            _reported_ms(values, percentile) for percentile in ("50", "90", "99", "99.9", "100")
        )


def _reported_ms(values: list[int], percentile: str) -> float:
    rank = ceil(Fraction(percentile) / 100 * len(values))
    slot = WIDE.index_of(np.array([values[rank - 1]]))
    return int(WIDE.highest_values(slot)[0]) / 1000


def test_an_interval_that_a_stall_emptied_is_missed_and_not_a_hole() -> None:
    empty = {f"at_{second}": [] for second in range(20, 30)}
    found = judge({"x": seconds(40, [FAST], **empty, at_30=[10_500_000])})
    (level,) = found.levels
    assert (found.reasons, found.met, found.stalls_s) == ((), False, (20.0,))
    assert (level.judged, level.missed, level.worst_ms) == (3, 2, pytest.approx(10_500, rel=1e-3))
    assert found.notes == (
        WHENCE,
        "nothing was answered in 1 interval of 10s, the first at 20 s, though operations were under way: missed",
        FEW,
    )


def test_an_interval_is_no_stall_when_what_came_after_it_began_after_it() -> None:
    empty = {f"at_{second}": [] for second in range(20, 30)}
    found = judge({"x": seconds(40, [FAST], **empty, at_30=[9_000_000])})
    assert found.reasons == ("1 of 3 intervals of 10s holds no operation, the first at 20 s",)
    assert found.stalls_s == ()
