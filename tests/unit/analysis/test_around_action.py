"""The same intervals before, during and after an action."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from plimsoll.analysis.attempt.around_action import (
    ActionTimes,
    action_result,
    during_action,
    failed_by_phase,
    times_of,
)
from plimsoll.analysis.attempt.intervals import IntervalRow, IntervalTable
from plimsoll.analysis.attempt.judgement import JudgedInterval, Judgement
from plimsoll.analysis.attempt.level_outcomes import missed_of
from plimsoll.domain.keys.action import Action, ActionBegin, ActionEnd, FailedOperations
from plimsoll.domain.keys.process import GeneratorSecond
from plimsoll.domain.keys.service_level import LevelVerdict, ServiceLevel

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
ANY_TIME, DURING = ServiceLevel(), ServiceLevel(during="action")
VALUES_MS = (50.0, 60.0, 300.0, 200.0, 90.0, 120.0, 40.0, 40.0, 40.0)
"""Of intervals of 10 s from 10 s on: an action from 28 s to 45 s touches the second, third and fourth."""
BEGIN = ActionBegin(action=Action(name="compact"), at=START + timedelta(seconds=28))
END = ActionEnd(at=START + timedelta(seconds=45), nodes=("node1",), evidence=("done",))


def judgement(*levels: ServiceLevel) -> Judgement:
    intervals = tuple(
        JudgedInterval(10.0 * n, 10.0 * n + 10, value, value < 100) for n, value in enumerate(VALUES_MS, start=1)
    )
    rows = tuple(
        IntervalRow(one.start_s, 10.0, "judged", "all", 100, 10, 1, 1, 1, 1, 1, one.value_ms, one.met)
        for one in intervals
    )
    missed = sum(not one.met for one in intervals)
    verdicts = tuple(
        LevelVerdict(
            service_level=level, met=False, judged=len(intervals), missed=missed, not_judged=0, worst_ms=max(VALUES_MS)
        )
        for level in levels
    )
    return Judgement(
        intervals=IntervalTable(rows),
        levels=verdicts,
        missed=tuple(one for level in levels for one in missed_of(level, intervals)),
        by_level=tuple(intervals for _ in levels),
    )


@pytest.fixture
def times() -> ActionTimes:
    return times_of(BEGIN, END, START, timedelta(0))


def test_an_interval_that_the_action_touches_is_one_during_it(times: ActionTimes) -> None:
    result = action_result(BEGIN, END, times, judgement(ANY_TIME), None)
    (level,) = result.levels
    assert (level.before.judged, level.during.judged, level.after.judged) == (1, 3, 5)
    assert (level.before.met, level.during.met, level.after.met) == (True, False, False)
    assert (level.during.missed, level.during.worst_ms) == (2, 300.0)
    assert result.duration_s == 17.0


def test_an_action_has_its_own_begin_and_takes_no_time_in_which_it_stood_still() -> None:
    end = END.model_copy(update={"began_at": START + timedelta(seconds=30), "waited_s": 4.0, "undated_s": 2.5})
    times = times_of(BEGIN, end, START, timedelta(seconds=1))
    assert (times.begun_s, times.ended_s) == (31.0, 46.0)
    result = action_result(BEGIN, end, times, judgement(ANY_TIME), None)
    assert (result.duration_s, result.waited_s, result.undated_s) == (11.0, 4.0, 2.5)
    assert result.took == "between 8.5 and 11.0 s (and stood still for 4.0 s, while nobody looked)"


def test_the_level_is_met_again_with_the_first_of_three_met_intervals_in_a_row(times: ActionTimes) -> None:
    (level,) = action_result(BEGIN, END, times, judgement(ANY_TIME), None).levels
    assert level.met_again_s == 70.0 - 45.0
    late = ActionTimes(28.0, 75.0)
    (level,) = action_result(BEGIN, END, late, judgement(ANY_TIME), None).levels
    assert level.after.judged == 2
    assert level.met_again_s is None


def test_a_level_of_the_action_is_judged_by_the_intervals_during_it_alone(times: ActionTimes) -> None:
    found = during_action(judgement(DURING, ANY_TIME), times)
    during, whole = found.levels
    assert (during.judged, during.missed, during.met, during.worst_ms) == (3, 2, False, 300.0)
    assert (whole.judged, whole.missed) == (9, 3)
    assert [one.start_s for one in found.missed] == [30.0, 40.0, 30.0, 40.0, 60.0]
    assert [row.met for row in found.intervals.rows] == [None, True, False, False, None, None, None, None, None]
    assert found.valid


def test_ratios_of_a_level_of_the_action_are_those_of_the_intervals_during_it(times: ActionTimes) -> None:
    found = judgement(DURING)
    known = found.levels[0].model_copy(update={"ratios": tuple(value / 100 for value in VALUES_MS)})
    assert during_action(replace(found, levels=(known,)), times).levels[0].ratios == (0.6, 3.0, 2.0)
    assert during_action(found, times).levels[0].ratios == ()


def test_a_miss_outside_of_the_action_does_not_touch_a_level_of_it() -> None:
    found = during_action(judgement(DURING), ActionTimes(82.0, 88.0))
    assert found.met
    assert found.missed == ()


def test_operations_that_failed_outside_of_the_action_leave_its_worst_interval_known() -> None:
    intervals = [JudgedInterval(10.0, 20.0, 100.0, False, is_floor=True), JudgedInterval(20.0, 30.0, 50.0, True)]
    whole = judgement(DURING)
    level = whole.levels[0].model_copy(update={"worst_is_floor": True})
    data = replace(whole, levels=(level,), by_level=(tuple(intervals),))
    assert [during_action(data, ActionTimes(*at)).levels[0].worst_is_floor for at in ((12.0, 18.0), (22.0, 28.0))] == [
        True,
        False,
    ]


def test_where_one_that_missed_has_no_known_time_the_worst_is_not_known_unless_it_is_a_stall() -> None:
    for is_stall, worst_ms in ((False, None), (True, 50.0)):
        missed = JudgedInterval(10.0, 20.0, None, False, is_stall=is_stall)
        data = replace(judgement(DURING), by_level=((missed, JudgedInterval(20.0, 30.0, 50.0, True)),))
        (level,) = action_result(BEGIN, END, ActionTimes(12.0, 28.0), data, None).levels
        assert (level.during.missed, level.during.worst_ms) == (1, worst_ms)


def test_an_attempt_with_no_judged_interval_in_the_action_is_invalid() -> None:
    found = during_action(judgement(DURING), ActionTimes(1.0, 8.0))
    assert not found.valid
    assert "no judged interval of p99.9 of every 10s interval during the action" in found.reasons[0]


def test_times_are_those_of_the_load_generators_clock() -> None:
    assert times_of(BEGIN, END, START, timedelta(seconds=2)) == ActionTimes(30.0, 47.0)


def test_failed_operations_of_the_judged_time_are_counted_by_phase(times: ActionTimes) -> None:
    seconds = [
        GeneratorSecond(START + timedelta(seconds=at), 0.0, 0.0, 0.5, failed=failed)
        for at, failed in ((5, 100), (20, 1), (28.2, 7), (29, 10), (45, 20), (60, 3))
    ]
    warmup = timedelta(seconds=10)
    assert failed_by_phase(seconds, times, START, warmup) == FailedOperations(before=1, during=37, after=3)
    assert failed_by_phase([], times, START, warmup) is None
