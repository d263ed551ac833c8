"""What was due and not answered is slow, in its interval, wherever the files come from."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.campaigns.interval_logs import every_second, line, log, payload

from plimsoll.analysis.attempt.around_action import ActionTimes, during_action
from plimsoll.analysis.attempt.judgement import Judgement, Run, rate_fault
from plimsoll.analysis.attempt.service_level_evaluation import judge_reading
from plimsoll.analysis.logs.formats import Reading, ReadOptions, RunFile, Sample, read_run
from plimsoll.analysis.logs.hdr.hdrlog import read_log
from plimsoll.analysis.logs.hdr.histograms import ranks, spare
from plimsoll.analysis.logs.operations import Failures, Track
from plimsoll.domain.keys.service_level import ServiceLevel

LEVEL = ServiceLevel(percentile=95, interval=timedelta(seconds=10), below=timedelta(milliseconds=100))
APART = LEVEL.model_copy(update={"failures": "apart"})
FAST = 5_000
RUN = Run(warmup=timedelta(0))


def tracks(seconds: int, each: int = 20, operation: str = "") -> tuple[Track, ...]:
    """Return so many seconds, in each of which so many operations took 5 ms."""
    lines = (line(second, 1.0, payload([FAST] * each)) for second in range(seconds))
    return (Track("x", operation, read_log(log(lines), "x").records),)


START_S = float(tracks(1)[0].starts[0])


def failed(*at_s: float, operation: str = "") -> Failures:
    return Failures("x", operation, "skipped", START_S + np.array(at_s), np.ones(len(at_s), dtype=np.int64))


def judge(reading: Reading, *levels: ServiceLevel, run: Run = RUN) -> Judgement:
    return judge_reading(reading, run, levels or (LEVEL,))


def run_of(failures: Failures, seconds: int = 1200) -> Reading:
    return Reading("made", tracks(seconds), errors={"skipped": failures.total}, failures=(failures,))


def test_what_failed_in_one_interval_makes_it_miss_though_it_is_little_of_the_whole_run() -> None:
    # 20 of 220 operations of one interval, and 0.083 % of all.
    found = judge(run_of(failed(*[600 + second for second in range(10)] * 2)))
    assert (found.valid, found.met, found.levels[0].missed, found.too_many_failed) == (True, False, 1, False)
    (row,) = [row for row in found.intervals.select("judged") if row.met is False]
    assert (row.start_s, row.count, row.failed, row.judged_ms) == (600.0, 200, 20, 100.0)
    assert row.max_ms is not None
    assert row.max_ms < 6
    assert (found.levels[0].worst_ms, found.levels[0].worst_is_floor) == (100.0, True)
    assert [(one.start_s, one.late_ms) for one in found.missed] == [(600.0, 100.0)]


def test_failures_of_the_judged_time_are_told_by_kind_where_the_times_of_all_are_known() -> None:
    run = Run(warmup=timedelta(seconds=10), duration=timedelta(seconds=30))
    made = replace(run_of(failed(5.0, 10.0, 29.5, 30.0), seconds=40), started_at=None)
    assert judge(made, run=run).judged_errors == {"skipped": 2}
    assert judge(replace(made, errors={"skipped": 5}), run=run).judged_errors is None
    assert judge(replace(made, errors=None), run=run).judged_errors is None


def test_few_failures_raise_the_percentile_and_no_more() -> None:
    found = judge(run_of(failed(*[600.5] * 10)))
    assert found.met
    assert max(row.judged_ms or 0 for row in found.intervals.select("judged")) < 6
    assert not found.levels[0].worst_is_floor
    assert "worst_is_floor" not in found.levels[0].model_dump()
    assert found.failures_remark == "10 operations of the whole run failed: each counts as slower than the bound"


def test_a_thousandth_of_the_judged_time_s_operations_is_a_miss_by_itself() -> None:
    spread = failed(*(40.0 * place for place in range(30)))
    assert judge(run_of(spread)).met is False
    assert judge(run_of(spread)).levels[0].missed == 0
    in_warmup = failed(*[5.0] * 30)
    assert judge(run_of(in_warmup), run=Run(warmup=timedelta(seconds=10))).met


def test_failures_without_a_time_are_met_only_where_they_fit_into_any_interval() -> None:
    reading = Reading("made", tracks(1200), errors={"ERROR": 10})
    assert judge(reading).met
    found = judge(Reading("made", tracks(1200), errors={"ERROR": 11}))
    assert found.met is None
    assert found.reasons[0].startswith(
        "11 operations failed at times that the files do not tell, and 11 of them in one interval would miss p95"
    )
    assert judge(Reading("made", tracks(1200), errors={"ERROR": 25})).met is False


@pytest.mark.parametrize("slow", [(), (3, 4, 5)], ids=["all fast", "slow before the action"])
def test_failures_without_a_time_leave_an_action_open_whatever_missed_before_it(slow: tuple[int, ...]) -> None:
    own = LEVEL.model_copy(update={"during": "action"})
    lines = (line(second, 1.0, payload([500_000 if second in slow else FAST] * 20)) for second in range(1200))
    track = Track("x", "", read_log(log(lines), "x").records)
    for count, met in ((10, True), (15, None)):
        whole = judge(Reading("made", (track,), errors={"ERROR": count}), own)
        found = during_action(whole, ActionTimes(600.0, 650.0))
        assert (found.met, len(found.reasons), found.levels[0].judged) == (met, met is None, 5)


def test_failures_kept_apart_are_shown_and_not_judged() -> None:
    found = judge(run_of(failed(*[600.5] * 200)), APART)
    assert found.met
    assert sum(row.failed for row in found.intervals.rows) == 200
    assert found.failures_remark.endswith("FAILED OPERATIONS ARE APART, and not judged")
    assert str(APART).endswith("below 100ms, FAILED OPERATIONS APART")
    both = judge(run_of(failed(*[600.5] * 20)), LEVEL, APART)
    assert [level.missed for level in both.levels] == [1, 0]


def test_a_run_goes_on_as_long_as_operations_fail() -> None:
    found = judge(run_of(failed(*(20.0 + second / 10 for second in range(100))), seconds=20))
    rows = [(row.count, row.failed, row.met) for row in found.intervals.select("judged")]
    assert rows == [(200, 0, True), (200, 0, True), (0, 100, False)]
    assert found.levels[0].worst_ms == 100.0


def test_a_failure_of_which_no_operation_is_told_may_have_been_any() -> None:
    reads = LEVEL.model_copy(update={"operations": "reads"})
    both = (*tracks(60, 10, "reads"), *tracks(60, 10, "writes"))
    for operation, outcome in (("reads", False), ("", False), ("writes", True)):
        few = Reading("made", both, errors={"x": 10}, failures=(failed(*[25.0] * 10, operation=operation),))
        assert judge(few, reads).levels[0].met is outcome


def test_sliding_windows_hold_what_failed_in_them() -> None:
    sliding = LEVEL.model_copy(update={"windows": "sliding"})
    found = judge(run_of(failed(*[600.5] * 20)), sliding)
    assert (found.met, found.levels[0].missed, found.levels[0].worst_is_floor) == (False, 10, True)


def test_percentiles_over_time_leave_room_for_what_failed() -> None:
    samples = [
        Sample(START_S + 10.0 * place, 10.0, "reads", 200, {95.0: 5.0, 99.0: 6.0, 100.0: 9.0}) for place in range(120)
    ]
    for count, outcome in ((10, True), (11, False)):
        reading = Reading("made", samples=tuple(samples), errors={"x": count}, failures=(failed(*[55.0] * count),))
        assert judge(reading).met is outcome
        assert judge(reading).levels[0].worst_is_floor is not outcome
    untold = Reading("made", samples=tuple(samples), errors={"x": 11})
    assert judge(untold).met is None


def test_of_percentiles_over_time_a_missed_interval_with_failures_reaches_the_bound_and_a_met_one_is_not_known() -> (
    None
):
    samples = [Sample(START_S + 10.0 * place, 10.0, "", 200, {95.0: 5.0, 100.0: 9.0}) for place in range(3)]
    found = judge(Reading("made", samples=tuple(samples), errors={"x": 100}, failures=(failed(*[15.0] * 100),)))
    (level,) = found.levels
    assert (level.met, level.worst_ms, level.ratios) == (False, 100.0, (0.05, 1.0, 0.05))
    assert [(one.start_s, one.late_ms) for one in found.missed] == [(10.0, 100.0)]
    assert [row.judged_ms for row in found.intervals.select("judged")] == [5.0, 100.0, 5.0]
    (level,) = judge(Reading("made", samples=tuple(samples), errors={"x": 1}, failures=(failed(15.0),))).levels
    assert (level.met, level.worst_ms, level.ratios) == (True, None, ())


@pytest.mark.parametrize(
    ("count", "is_floor", "worst_ms"), [(1, False, 150.0), (10, False, 150.0), (11, True, 160.0), (100, True, 160.0)]
)
def test_percentiles_over_time_rank_a_miss_as_a_failure_only_where_its_percentile_is_one(
    count: int, worst_ms: float, *, is_floor: bool
) -> None:
    failures = failed(*[15.0] * count)
    samples = [
        Sample(START_S + 10.0 * place, 10.0, "", 200, {95.0: 150.0 if place == 1 else 5.0, 100.0: 160.0})
        for place in range(3)
    ]
    (level,) = judge(Reading("made", samples=tuple(samples), errors={"x": count}, failures=(failures,))).levels
    assert (level.missed, level.worst_is_floor) == (1, is_floor)
    lines = (
        line(second, 1.0, payload([FAST] * 18 + [FAST if second // 10 != 1 else 150_000] * 2)) for second in range(30)
    )
    twin = Reading("made", (Track("x", "", read_log(log(lines), "x").records),), errors={}, failures=(failures,))
    assert judge(twin).levels[0].worst_is_floor is is_floor
    late = [
        interval.late_ms for interval in judge(Reading("made", samples=tuple(samples), failures=(failures,))).missed
    ]
    assert late == [worst_ms]


def test_of_several_rows_with_a_failure_the_percentile_is_at_least_the_lowest_of_theirs() -> None:
    def rows(p95_ms: float | None) -> Reading:
        own = {100.0: 600.0} if p95_ms is None else {95.0: p95_ms, 100.0: 600.0}
        samples = tuple(
            Sample(START_S + second, 1.0, "", 1000, {50.0: 120.0, 95.0: 300.0, 100.0: 600.0} if second % 2 else own)
            for second in range(10)
        )
        return Reading("made", samples=samples, errors={"x": 1}, failures=(failed(5.0),))

    for p95_ms, worst_ms in ((150.0, 150.0), (400.0, 300.0), (None, 100.0)):
        (level,) = judge(rows(p95_ms)).levels
        assert (level.missed, level.worst_ms, level.ranked_ms) == (1, worst_ms, worst_ms)


def stalled(*, max_ms: float) -> Reading:
    """Return status lines of which two hold no operation, and the next one an operation of that time, ms."""
    counts = [(200, 9.0), (0, 0.0), (0, 0.0), (200, max_ms), (200, 9.0)]
    return Reading(
        "made",
        samples=tuple(
            Sample(START_S + 10.0 * place, 10.0, "reads", count, {95.0: 5.0, 100.0: longest} if count else {})
            for place, (count, longest) in enumerate(counts)
        ),
    )


def test_a_console_whose_next_operation_spans_the_silence_shows_a_stall() -> None:
    found = judge(stalled(max_ms=24_900.0))
    assert (found.met, found.levels[0].missed, found.stalls_s) == (False, 2, (10.0, 20.0))


def test_of_a_load_that_ran_here_silence_is_a_stall() -> None:
    quiet = (
        *tracks(20)[0].records,
        *read_log(log(line(second, 1.0, payload([])) for second in range(20, 40)), "x").records,
    )
    reading = Reading("made", (Track("x", "", quiet),), errors={})
    assert judge(reading).reasons == ("2 of 4 intervals of 10s hold no operation, the first at 20 s",)
    found = judge(reading, run=Run(warmup=timedelta(0), due=timedelta(seconds=40)))
    assert (found.met, found.levels[0].missed, found.stalls_s) == (False, 2, (20.0, 30.0))


def test_what_was_due_after_a_generator_gave_up_has_no_answer() -> None:
    reading = Reading("made", tracks(20), errors={})
    run = Run(warmup=timedelta(0), duration=timedelta(seconds=60), due=timedelta(seconds=60))
    assert judge(reading, run=run).reasons == ("only 2 of 6 intervals of 10s are covered by the logs",)
    gave_up = Run(warmup=run.warmup, duration=run.duration, due=run.due, aborted=True)
    found = judge(reading, run=gave_up)
    assert (found.valid, found.met, found.levels[0].judged, found.levels[0].missed) == (True, False, 6, 4)


def seconds_of(counts: Sequence[int], operation: str = "") -> Track:
    """Return a second for each number, in which so many operations took 5 ms."""
    lines = (line(second, 1.0, payload([FAST] * count)) for second, count in enumerate(counts))
    return Track(f"x{operation}", operation, read_log(log(lines), "x").records)


HERE = Run(warmup=timedelta(0), due=timedelta(seconds=60))


@pytest.mark.parametrize("attempted", [51.0, None])
def test_of_a_rare_operation_none_may_have_been_due_beside_others_that_were_answered(attempted: float | None) -> None:
    reads = LEVEL.model_copy(update={"operations": "reads"})
    rare = [int(second in {3, 14, 37, 41, 55}) for second in range(60)]
    run, both = replace(HERE, attempted_ops_s=attempted), (seconds_of(rare, "reads"), seconds_of([50] * 60, "writes"))
    assert judge(Reading("made", both, errors={}), reads, run=run).reasons == (
        "1 of 6 intervals of 10s holds no reads, the first at 20 s",
    )
    nothing = [0 if 20 <= second < 30 else 50 for second in range(60)]
    stalled = (both[0], seconds_of(nothing, "writes"))
    assert judge(Reading("made", stalled, errors={}), reads, run=run).stalls_s == (20.0,)
    many = (seconds_of(nothing, "reads"), both[1])
    assert judge(Reading("made", many, errors={}), reads, run=run).stalls_s == (20.0,)


@pytest.mark.parametrize(("attempted", "stalls"), [(0.5, ()), (1.0, (20.0,))])
def test_at_a_low_rate_nothing_may_have_been_due_in_an_interval(attempted: float, stalls: tuple[float, ...]) -> None:
    reading = Reading("made", (seconds_of([int(not 20 <= second < 30) for second in range(60)]),), errors={})
    found = judge(reading, run=replace(HERE, attempted_ops_s=attempted))
    assert (found.stalls_s, found.valid) == (stalls, bool(stalls))


@pytest.mark.parametrize("windows", ["aligned", "sliding"])
@pytest.mark.parametrize(
    ("attempted", "end_s", "met"), [(0.9, 60, False), (0.5, 40, False), (0.1, 40, False), (0.05, 40, None)]
)
def test_after_a_generator_gave_up_silence_is_a_stall_at_any_rate_at_which_an_operation_was_due(
    attempted: float, end_s: int, windows: str, met: bool | None
) -> None:
    due = timedelta(seconds=end_s)
    run = replace(HERE, attempted_ops_s=attempted, duration=due, due=due, aborted=True)
    level = LEVEL.model_copy(update={"windows": windows})
    found = judge(Reading("made", (seconds_of([1] * 30),), errors={}), level, run=run)
    assert (found.met, found.valid) == (met, met is False)
    assert found.stalls_s == (tuple(range(30, end_s - 9, 10 if windows == "aligned" else 1)) if found.valid else ())


def test_records_of_nothing_before_a_generator_gave_up_are_silence_too() -> None:
    run = replace(HERE, attempted_ops_s=0.5, duration=HERE.due, aborted=True)
    found = judge(Reading("made", (seconds_of([1] * 30 + [0] * 15),), errors={}), run=run)
    assert (found.met, found.stalls_s) == (False, (30.0, 40.0, 50.0))
    samples = tuple(Sample(START_S + 10.0 * place, 10.0, "", 9, {95.0: 5.0, 100.0: 9.0}) for place in range(3))
    found = judge(Reading("made", samples=samples, errors={}), run=run)
    assert (found.met, found.stalls_s) == (False, (30.0, 40.0, 50.0))


@pytest.mark.parametrize("run", [RUN, replace(HERE, attempted_ops_s=0.1)])
def test_a_sliding_window_misses_without_an_operation_only_where_one_was_due(run: Run) -> None:
    sliding = LEVEL.model_copy(update={"windows": "sliding"})
    sparse = Reading("made", (seconds_of([int(second in {1, 18, 21, 38}) for second in range(40)]),), errors={})
    assert judge(sparse, LEVEL, run=run).met
    assert judge(sparse, LEVEL, sliding, run=run).reasons == (
        "14 of 31 windows of 10s hold no operation, the first at 2 s",
    )
    found = judge(sparse, sliding, run=replace(HERE, attempted_ops_s=20))
    assert (found.valid, found.levels[0].missed, len(found.stalls_s)) == (True, 14, 14)


GAVE_UP = Run(
    warmup=timedelta(0), duration=timedelta(seconds=40), attempted_ops_s=20, due=timedelta(seconds=40), aborted=True
)


@pytest.mark.parametrize(("seconds", "failed", "missed"), [(24, 120, 2), (34, 120, 1), (30, 0, 1)])
def test_what_was_due_in_the_rest_of_an_interval_is_slow_there(seconds: int, failed: int, missed: int) -> None:
    found = judge(Reading("made", tracks(seconds), errors={}), run=GAVE_UP)
    rows = found.intervals.select("judged")
    assert (found.met, found.levels[0].missed) == (False, missed)
    assert [row.duration_s for row in rows] == [10.0] * 4
    answered = [row for row in rows if row.count]
    assert (answered[-1].failed, answered[-1].rate_ops_s) == (failed, (200 - failed) / 10)
    assert found.stalls_s == tuple(row.start_s for row in rows if not row.count)


def test_a_last_record_that_ends_a_moment_early_leaves_nothing_unanswered() -> None:
    early = (*tracks(39)[0].records, *read_log(log([line(39, 0.9, payload([FAST] * 18))]), "x").records)
    found = judge(Reading("made", (Track("x", "", early),), errors={}), run=GAVE_UP)
    assert (found.met, [row.failed for row in found.intervals.select("judged")]) == (True, [0, 0, 0, 0])


def test_what_failed_after_the_last_answer_is_not_counted_twice() -> None:
    failures = replace(failed(*(24 + second / 20 for second in range(120))), until_s=START_S + 30)
    found = judge(Reading("made", tracks(24), errors={"x": 120}, failures=(failures,)), run=GAVE_UP)
    assert [(row.count, row.failed) for row in found.intervals.select("judged")[2:]] == [(80, 120), (0, 0)]


def test_where_no_rate_was_asked_for_as_many_were_due_as_had_been_answered() -> None:
    found = judge(Reading("made", tracks(34), errors={}), run=replace(GAVE_UP, attempted_ops_s=None))
    assert [row.failed for row in found.intervals.select("judged")] == [0, 0, 0, 120]


def test_what_was_due_in_the_rest_of_an_interval_is_slow_by_any_windows_and_by_percentiles_over_time() -> None:
    sliding = LEVEL.model_copy(update={"windows": "sliding"})
    assert judge(Reading("made", tracks(34), errors={}), sliding, run=GAVE_UP).levels[0].missed == 6
    values_ms = {95.0: 5.0, 100.0: 9.0}
    samples = tuple(Sample(START_S + 2.0 * place, 2.0, "", 40, values_ms) for place in range(17))
    found = judge(Reading("made", samples=samples, errors={}), run=GAVE_UP)
    assert [(row.count, row.failed, row.met) for row in found.intervals.select("judged")[2:]] == [
        (200, 0, True),
        (80, 120, False),
    ]


@pytest.mark.parametrize(
    ("attempted", "fault"), [(20.0, False), (20.1, False), (10.0, True), (100_000.0, True), (19.0, True)]
)
def test_an_outcome_is_about_the_load_that_was_answered(attempted: float, fault: bool) -> None:
    found = judge(Reading("made", tracks(60), errors={}))
    assert bool([*rate_fault(found, attempted, 0.01)]) is fault
    missed = judge(run_of(failed(*[5.0] * 200), seconds=60))
    assert bool([*rate_fault(missed, attempted, 0.01)]) is (fault and attempted < 20)


@pytest.mark.parametrize(("in_warmup", "fault"), [(0, False), (1, False), (10, True), (20, True)])
def test_what_came_due_in_warmup_and_was_answered_late_is_not_another_load(in_warmup: int, fault: bool) -> None:
    seconds = [(second, in_warmup, FAST) for second in range(10)] + [(10, 220, 9_000_000)]
    seconds += [(second, 20, FAST) for second in range(11, 60)]
    lines = (line(second, 1.0, payload([took] * count)) for second, count, took in seconds)
    late = Reading("made", (Track("x", "", read_log(log(lines), "x").records),), errors={})
    found = judge(late, run=Run(warmup=timedelta(seconds=10)))
    assert (found.met, found.achieved_ops_s) == (False, 24.0)
    assert bool([*rate_fault(found, 20.0, 0.01)]) is fault


@given(percentile=st.sampled_from([50.0, 90.0, 95.0, 99.0, 99.9, 100.0]), total=st.integers(1, 5000), data=st.data())
def test_so_many_more_values_are_spared_and_not_one_more(percentile: float, total: int, data: st.DataObject) -> None:
    below = data.draw(st.integers(0, total))
    more = spare(percentile, total, below)
    if total + more > 0:
        assert int(ranks([percentile], total + more)[0]) <= below
    assert int(ranks([percentile], total + more + 1)[0]) > below


def test_what_failed_and_is_timed_like_an_answer_is_no_answer() -> None:
    among = replace(failed(*[605.0] * 10), among_times=True)
    assert judge(run_of(among)).met
    found = judge(run_of(replace(failed(*[605.0] * 11), among_times=True)))
    (row,) = [row for row in found.intervals.select("judged") if row.met is False]
    assert (row.count, row.failed, row.judged_ms) == (189, 11, 100.0)
    values_ms = {95.0: 5.0, 100.0: 9.0}
    samples = tuple(Sample(START_S + 10.0 * place, 10.0, "", 200, values_ms) for place in range(120))
    for count, outcome in ((10, True), (11, False)):
        own = replace(failed(*[55.0] * count), among_times=True)
        assert judge(Reading("made", samples=samples, errors={"x": count}, failures=(own,))).met is outcome


def test_failures_before_the_first_answer_are_not_forgotten() -> None:
    """YCSB makes an operation's log with its first answer, while the failures before it have theirs."""
    answered = log(line(second, 1.0, payload([FAST] * 50)) for second in range(30, 60))
    errors = RunFile("x.hdr.errors", log(every_second([[FAST] * 50] * 30)))
    found = judge(read_run([RunFile("x.hdr-intended-selects", answered), errors], ReadOptions()))
    assert (found.met, found.too_many_failed) == (False, True)


def test_failures_of_a_last_long_record_are_of_a_whole_interval() -> None:
    last = replace(failed(*[25.0] * 50), until_s=START_S + 30)
    found = judge(run_of(last, seconds=20))
    assert [row.failed for row in found.intervals.select("judged")] == [0, 0, 50]
    assert found.met is False
    assert judge(run_of(last, seconds=20), LEVEL.model_copy(update={"windows": "sliding"})).met is False


def test_a_log_of_failures_of_nothing_is_no_fault_and_one_far_away_makes_no_windows() -> None:
    times = RunFile("x.hdr-intended-selects", log(every_second([[FAST] * 20] * 60)))
    nothing = read_run([times, RunFile("x.hdr.errors", log(every_second([[]] * 60)))], ReadOptions())
    assert (nothing.errors, judge(nothing).met) == ({}, True)
    far = log([line(5, 1.0, payload([FAST])), line(3_000_000, 1.0, payload([FAST]))])
    found = judge(read_run([times, RunFile("x.hdr.errors", far)], ReadOptions()))
    assert len(found.intervals.select("judged")) == 6


def test_a_stall_is_one_though_something_failed_after_it() -> None:
    lines = [line(second, 1.0, payload([] if 10 <= second < 30 else [FAST] * 20)) for second in range(30)]
    lines.append(line(30, 1.0, payload([20_500_000, *[FAST] * 20])))
    lines += [line(second, 1.0, payload([FAST] * 20)) for second in range(31, 60)]
    stalled = (Track("x", "", read_log(log(lines), "x").records),)
    for failures in ((), (failed(35.5),)):
        found = judge(Reading("made", stalled, errors={"x": len(failures)}, failures=failures))
        assert (found.valid, found.stalls_s) == (True, (10.0, 20.0))


def test_who_prints_figures_of_nothing_after_answers_waits_for_more() -> None:
    reading = stalled(max_ms=9_000.0)
    until_the_end = replace(
        reading,
        samples=tuple(
            replace(one, count=0, values_ms={}) if one.start_s > START_S + 15 else one for one in reading.samples
        ),
    )
    assert judge(until_the_end).met is False
    assert judge(until_the_end).stalls_s == (10.0, 20.0, 30.0, 40.0)


def test_what_is_timed_like_an_answer_counts_once_in_the_share() -> None:
    among = replace(failed(*[5.0 + second for second in range(10)] * 2), among_times=True)
    found = judge(run_of(among, seconds=20))
    assert (found.failed_share, found.operations, found.achieved_ops_s) == (20 / 400, 380, 19.0)
