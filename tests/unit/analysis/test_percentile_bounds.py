"""Percentiles over time: what they decide of a service level, against the very operations that they are of."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.analysis.attempt.around_action import ActionTimes, action_result, during_action
from plimsoll.analysis.attempt.judgement import Judgement, Run
from plimsoll.analysis.attempt.percentile_bounds import judge_samples
from plimsoll.analysis.attempt.unanswered import Unanswered
from plimsoll.analysis.logs.formats import Reading, Sample
from plimsoll.analysis.logs.operations import Failures
from plimsoll.domain.keys.action import Action, ActionBegin, ActionEnd
from plimsoll.domain.keys.service_level import ServiceLevel

LEVEL = ServiceLevel(percentile=99, interval=timedelta(seconds=10), below=timedelta(milliseconds=100))
GIVEN = (50.0, 90.0, 99.0, 100.0)
TIMES = st.lists(st.sampled_from([1.0, 50.0, 99.0, 100.0, 250.0]), min_size=1, max_size=150)


def at(times: Sequence[float], percentile: float) -> float:
    return sorted(times)[max(1, ceil(percentile / 100 * len(times))) - 1]


def sample(start_s: float, times: Sequence[float], operation: str = "reads", length_s: float = 10.0) -> Sample:
    return Sample(start_s, length_s, operation, len(times), {one: at(times, one) for one in GIVEN} if times else {})


def judge(*samples: Sample, warmup_s: float = 0, level: ServiceLevel = LEVEL) -> Judgement:
    return judge_samples(samples, Run(warmup=timedelta(seconds=warmup_s)), [level], Unanswered())


@given(reads=TIMES, writes=TIMES, more=TIMES)
def test_what_is_decided_of_several_samples_is_true_of_all_their_operations(reads: Any, writes: Any, more: Any) -> None:
    found = judge(
        sample(0, reads, length_s=5), sample(5, more, length_s=5), sample(0, writes, "writes", 5),
        sample(5, [1.0], "writes", 5),
    )  # fmt: skip
    row = found.intervals.select("judged")[0]
    everything = [*reads, *writes, *more, 1.0]
    assert row.count == len(everything)
    assert row.max_ms == max(everything)
    if row.met is not None:
        assert row.met == (at(everything, 99) < 100)


def test_alike_operations_are_decided_and_unlike_ones_left_open() -> None:
    fast, slow = [1.0] * 200, [250.0] * 200
    assert judge(sample(0, fast), sample(0, fast, "writes")).met
    missed = judge(sample(0, slow), sample(0, slow, "writes"))
    assert (missed.met, missed.levels[0].missed) == (False, 1)
    # Between 1 and 2 of each 200 took too long; 4 of all 400 may.
    some = [1.0] * 198 + [250.0] * 2
    assert judge(sample(0, some), sample(0, some, "writes")).met
    # Of the writes between 3 and 20.
    left_open = judge(sample(0, fast), sample(0, [1.0] * 194 + [250.0] * 6, "writes"))
    assert left_open.met is None
    assert left_open.reasons == (
        "the percentiles given leave open whether p99 of every 10s interval below 100ms in 1 of 1 interval of 10s, "
        "the first at 0 s; no other was missed",
    )


def test_one_missed_interval_decides_whatever_is_left_open_beside_it() -> None:
    found = judge(
        sample(0, [1.0] * 200), sample(0, [1.0] * 194 + [250.0] * 6, "writes"),
        sample(10, [250.0] * 9), sample(10, [250.0] * 9, "writes"),
    )  # fmt: skip
    assert (found.valid, found.met) == (True, False)
    assert [row.met for row in found.intervals.select("judged")] == [None, False]


def test_a_failure_in_an_interval_that_met_leaves_the_worst_of_those_that_missed_known() -> None:
    one_failed = Failures("x", "reads", "timeout", np.array([5.0]), np.array([1]))
    unanswered = Unanswered.of(Reading("a run", failures=(one_failed,)))
    samples = [sample(0, [1.0] * 200), sample(10, [3000.0] * 200), sample(20, [2.0] * 200)]
    found = judge_samples(samples, Run(warmup=timedelta(0)), [LEVEL], unanswered)
    assert [row.judged_ms for row in found.intervals.select("judged")] == [None, 3000.0, 2.0]
    assert (found.levels[0].missed, found.levels[0].worst_ms) == (1, 3000.0)


LOW = ServiceLevel(percentile=50, interval=timedelta(seconds=10), below=timedelta(milliseconds=100))
OPEN = ([1.0] * 200, [1.0] * 194 + [250.0] * 6)
"""Times of reads and writes of which their percentiles leave open whether LEVEL is met, and LOW is met by far."""


def test_one_missed_interval_decides_whatever_is_left_open_of_another_service_level() -> None:
    reads, writes = OPEN
    samples = (sample(0, reads), sample(0, writes, "writes"))
    slow = LOW.model_copy(update={"below": timedelta(milliseconds=1)})
    found = judge_samples(samples, Run(warmup=timedelta(0)), [slow, LEVEL], Unanswered())
    assert (found.valid, found.met, [level.missed for level in found.levels]) == (True, False, [1, 0])
    assert not judge_samples(samples, Run(warmup=timedelta(0)), [LOW, LEVEL], Unanswered()).valid


def test_an_action_is_judged_by_percentiles_over_time_as_far_as_they_decide_it() -> None:
    reads, writes = OPEN
    own = LEVEL.model_copy(update={"during": "action"})
    before = (sample(0, [250.0] * 9), sample(0, [250.0] * 9, "writes"))
    found = judge(*before, sample(10, reads), sample(10, writes, "writes"), level=own)
    assert (found.valid, found.met) == (True, False)
    # What missed before the action decides nothing of what is left open in it
    judged = during_action(found, ActionTimes(12.0, 18.0))
    assert (judged.met, judged.missed, judged.levels[0].missed) == (None, (), 0)
    assert judged.reasons[0].endswith("in 1 of 1 interval of 10s, the first at 10 s; no other was missed")
    assert during_action(found, ActionTimes(2.0, 8.0)).met is False
    at = datetime(2026, 1, 1, tzinfo=UTC)
    begin, end = ActionBegin(action=Action(name="compact"), at=at), ActionEnd(at=at, nodes=())
    (level,) = action_result(begin, end, ActionTimes(12.0, 18.0), found, None).levels
    assert (level.before.met, level.during.met, level.during.worst_ms) == (False, None, None)


def test_an_interval_left_open_outside_of_an_action_is_no_reason_against_it() -> None:
    own, (reads, writes), fast = LEVEL.model_copy(update={"during": "action"}), OPEN, [1.0] * 200
    samples = (sample(0, reads), sample(0, writes, "writes"), sample(10, fast), sample(10, fast, "writes"))
    found = judge(*samples, level=own)
    assert found.met is None
    during = during_action(found, ActionTimes(12.0, 18.0))
    assert (during.met, during.reasons) == (True, ())
    (reason,) = during_action(found, ActionTimes(8.0, 18.0)).reasons
    assert reason.endswith("in 1 of 2 intervals of 10s, the first at 0 s; no other was missed")
    both = judge_samples(samples, Run(warmup=timedelta(0)), [own, LEVEL], Unanswered())
    assert during_action(both, ActionTimes(12.0, 18.0)).met is None


def test_values_that_no_sample_tells_are_left_out() -> None:
    one = judge(sample(0, [1.0, 2.0]), sample(0, [], "writes")).intervals.select("judged")[0]
    assert (one.p50_ms, one.p99_9_ms, one.max_ms, one.judged_ms) == (1.0, None, 2.0, 2.0)
    several = judge(sample(0, [1.0, 2.0]), sample(0, [3.0], "writes"))
    assert several.maxima is not None
    assert (several.maxima.p50_ms, several.maxima.max_ms) == (None, 3.0)
    assert several.maxima_by_operation["writes"].p50_ms == 3.0


def test_a_service_level_of_reads_alone_is_judged_by_theirs() -> None:
    level = LEVEL.model_copy(update={"operations": "reads"})
    assert judge(sample(0, [1.0] * 9), sample(0, [250.0] * 9, "writes"), level=level).met


def test_warm_up_is_not_judged_and_the_rest_at_the_end_is_counted() -> None:
    found = judge(sample(0, [250.0] * 9), sample(10, [1.0] * 9), sample(20, [250.0], length_s=3), warmup_s=10)
    assert (found.met, found.levels[0].judged, found.levels[0].not_judged) == (True, 1, 1)


def test_a_run_shorter_than_planned_is_invalid_and_a_rate_that_was_not_reached_is_told() -> None:
    run = Run(warmup=timedelta(0), duration=timedelta(seconds=30), attempted_ops_s=2)
    found = judge_samples([sample(0, [1.0] * 20), sample(10, [1.0] * 10)], run, [LEVEL], Unanswered())
    assert found.reasons == ("only 2 of 3 intervals of 10s are covered by the logs",)
    assert (found.achieved_ops_s, found.rate_achieved) == (1.5, False)


@pytest.mark.parametrize(
    ("samples", "reason"),
    [
        ([sample(0, [1.0]), sample(10, [])], "1 of 2 intervals of 10s holds no operation, the first at 10 s"),
        ([sample(0, [1.0]), sample(30, [1.0])], "a gap of 20.000 s"),
        ([sample(0, [1.0], length_s=30), sample(30, [1.0], length_s=30)], "longer than intervals of 10 s"),
        ([sample(0, [1.0], length_s=4)], "cover no whole interval"),
    ],
    ids=["an empty interval", "a gap", "samples longer than intervals", "too short"],
)
def test_what_is_no_measurement_is_invalid(samples: Any, reason: str) -> None:
    found = judge(*samples)
    assert not found.valid
    assert reason in found.reasons[0]
