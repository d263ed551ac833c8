"""What several load hosts say, as one account."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from tests.fakes.hdr import interval_log

from plimsoll.analysis.attempt.judgement import Run
from plimsoll.analysis.attempt.service_level_evaluation import judge_load_hosts, judge_logs
from plimsoll.analysis.attempt.several_load_hosts import merged_seconds, over_common_time, summed
from plimsoll.analysis.logs.formats import Reading, ReadOptions, RunFile, read_run
from plimsoll.analysis.logs.operations import Failures
from plimsoll.domain.attempt.load_summary import BrokenRule, LoadSummary
from plimsoll.domain.keys.process import GeneratorSecond
from plimsoll.domain.keys.service_level import ServiceLevel
from plimsoll.domain.text.errors import LogError
from plimsoll.services.judge.verdicts import stopped_words

START = 1_767_000_000.0
OPTIONS = ReadOptions(kinds={"reads": "reads", "writes": "writes"})
RUN = Run(warmup=timedelta(seconds=10), duration=timedelta(seconds=40), attempted_ops_s=100)
CUT = replace(RUN, duration=timedelta(seconds=30))
LEVELS = (ServiceLevel(percentile=99),)
"""At 100 ops/s an interval leaves ten operations above its p99, so that no note says that there are too few."""


def logs(reads: int, took_us: int = 2_000, start: float = START, seconds: int = 40) -> dict[str, bytes]:
    return {"x.hdr-intended-selects": interval_log(start, seconds, reads, took_us).encode()}


def test_histograms_of_hosts_are_added_exactly_interval_by_interval() -> None:
    both = judge_load_hosts({"load": logs(30), "load2": logs(70)}, RUN, LEVELS, OPTIONS)
    one = judge_logs(logs(100), RUN, LEVELS, kinds=OPTIONS.kinds)
    assert (both.valid, one.valid) == (True, True)
    assert both.intervals == one.intervals
    assert both.levels == one.levels


def test_percentiles_are_those_of_all_operations_together() -> None:
    both = judge_load_hosts({"load": logs(9_990), "load2": logs(10, took_us=300_000)}, RUN, LEVELS, OPTIONS)
    judged = [row for row in both.intervals.rows if row.phase == "judged" and row.operation == "all"]
    assert len(judged) == 3
    assert all(row.p99_9_ms == pytest.approx(2.0, rel=0.01) for row in judged)
    assert all(row.max_ms == pytest.approx(300.0, rel=0.01) for row in judged)


def test_hosts_that_did_the_very_same_are_no_log_given_twice() -> None:
    both = judge_load_hosts({"load": logs(50), "load2": logs(50)}, RUN, LEVELS, OPTIONS)
    assert (both.reasons, both.operations) == ((), 3_000)


def test_a_host_that_began_at_another_time_makes_the_measurement_unsound_and_is_named() -> None:
    both = judge_load_hosts({"load": logs(50), "load2": logs(50, start=START + 3)}, RUN, LEVELS, OPTIONS)
    assert any("load2/" in reason and "begins 3.000 s after" in reason for reason in both.reasons)


def test_a_host_that_went_on_after_a_rule_had_ended_the_load_on_another_is_judged_as_far_as_both_went() -> None:
    both = judge_load_hosts({"load": logs(50, seconds=32), "load2": logs(50)}, CUT, LEVELS, OPTIONS)
    assert (both.reasons, both.levels[0].judged) == ((), 2)
    assert not any("load2" in note for note in both.notes)


def test_a_host_that_fell_silent_long_before_a_rule_ended_the_load_for_it_keeps_no_miss_from_being_told() -> None:
    files = {"load": logs(50, seconds=15), "load2": logs(50)}
    ended = replace(CUT, stopped=True, aborted=True, due=CUT.duration)
    assert judge_load_hosts(files, ended, LEVELS, OPTIONS).reasons == ()
    [reason] = judge_load_hosts(files, CUT, LEVELS, OPTIONS).reasons
    assert "load/x.hdr-intended-selects: ends 25.000 s before load2" in reason


def test_a_clock_that_is_ahead_is_set_right() -> None:
    files = {"load": logs(50), "load2": logs(50, start=START + 3)}
    both = judge_load_hosts(files, RUN, LEVELS, OPTIONS, {"load": 0.0, "load2": 3_000.0})
    assert (both.reasons, both.operations) == ((), 3_000)


def test_without_times_of_day_nobody_knows_what_was_at_the_same_time() -> None:
    files = {"load": logs(50), "load2": logs(50, start=0.0)}
    [reason] = judge_load_hosts(files, RUN, LEVELS, OPTIONS, {"load": 0.0, "load2": 0.0}).reasons
    assert "the files of load2 do not tell the time of day" in reason


def reading(start: float, seconds: int = 40) -> Reading:
    return read_run([RunFile(name, data) for name, data in logs(50, start=start, seconds=seconds).items()], OPTIONS)


def test_what_was_started_apart_is_read_over_the_time_that_all_ran() -> None:
    common = over_common_time({"a": reading(START), "b": reading(START + 7.2), "c": reading(START + 3)})
    assert [one.starts[0] - START for one in common.tracks] == pytest.approx([7, 7.2, 7], abs=0.001)
    assert [len(one.records) for one in common.tracks] == [33, 33, 33]
    assert common.started_at == datetime.fromtimestamp(START + 7.2, UTC)
    assert common.notes[-1] == "judged over the 33 s that all 3 loaders ran: b began 7.2 s after a"


def test_what_failed_before_all_ran_is_no_failure_of_the_time_that_all_ran() -> None:
    at_s = START + np.array([1.5] * 20 + [9.5])
    failures = Failures("a.errors", "", "timeout", at_s, np.ones(21, dtype=np.int64), until_s=START + 10)
    early = replace(reading(START), errors={"timeout": 23, "other": 2}, failures=(failures,))
    common = over_common_time({"a": early, "b": replace(reading(START + 7), errors={"other": 1})})
    assert (common.errors, sum(one.total for one in common.failures)) == ({"timeout": 3, "other": 3}, 1)


@pytest.mark.parametrize(
    ("start", "why"), [(START + 40, "a had ended when b began"), (7.0, "the files of b do not tell the time of day")]
)
def test_without_a_time_in_common_nothing_is_judged(start: float, why: str) -> None:
    with pytest.raises(LogError, match=why):
        over_common_time({"a": reading(START), "b": reading(start)})


def test_hosts_that_wait_for_different_last_answers_leave_no_remark() -> None:
    longer = {name: log + b"40.000,0.900," + log.rpartition(b"1.000,")[2] for name, log in logs(50).items()}
    both = judge_load_hosts({"load": logs(50), "load2": longer}, RUN, LEVELS, OPTIONS)
    assert (both.reasons, both.notes) == ((), ())


def test_a_host_whose_log_ends_early_makes_the_measurement_unsound() -> None:
    both = judge_load_hosts({"load": logs(50), "load2": logs(50, seconds=20)}, RUN, LEVELS, OPTIONS)
    assert not both.valid


def summary(**changes: Any) -> LoadSummary:
    at = datetime.fromtimestamp(START, UTC)
    figures: dict[str, Any] = {
        "complete": True,
        "started_at": at,
        "duration_s": 40.0,
        "warmup_s": 10.0,
        "attempted_ops_s": 100 / 3,
        "achieved_ops_s": 33.0,
        "answered": 1_300,
        "operations": {"reads": 900, "writes": 90},
        "shares": {"reads": 0.9, "writes": 0.1},
        "errors": {"read_timeout": 1},
        "cpu_cores": 0.5,
        "schedule_lag_p99_ms": 1.0,
        "schedule_lag_max_ms": 2.0,
        "hiccup_max_ms": 3.0,
        "in_flight_max": 4,
        "backlog_max": 5,
    }
    return LoadSummary.model_validate(figures | changes)


def test_what_was_done_adds_up_and_of_limits_the_worst_counts() -> None:
    whole = summed(
        {"load": summary(), "load2": summary(hiccup_max_ms=90.0, errors={}), "load3": summary(cpu_cores=1.5)}
    )
    assert whole.attempted_ops_s == pytest.approx(100, abs=1e-9)
    assert (whole.answered, whole.operations) == (3_900, {"reads": 2_700, "writes": 270})
    assert (whole.errors, whole.shares) == ({"read_timeout": 2}, {"reads": 0.9, "writes": 0.1})
    assert (whole.hiccup_max_ms, whole.cpu_cores, whole.in_flight_max, whole.backlog_max) == (90.0, 1.5, 12, 15)
    assert whole.complete


def test_one_that_is_not_complete_makes_the_whole_so_and_is_named() -> None:
    whole = summed({"load": summary(), "load2": LoadSummary(complete=False, reason="it was killed")})
    assert (whole.complete, whole.reason) == (False, "load2: it was killed")
    assert whole.duration_s == 0.0


def test_what_one_host_does_not_tell_is_not_known_of_all() -> None:
    whole = summed({"load": summary(), "load2": summary(in_flight_max=None, hiccup_max_ms=None)})
    assert (whole.in_flight_max, whole.hiccup_max_ms) == (None, None)


def second(number: int, late_s: float, **changes: Any) -> GeneratorSecond:
    at = datetime.fromtimestamp(START + number + late_s, UTC)
    return GeneratorSecond(
        at, **{"hiccup_ms": 1.0, "gc_ms": 0.0, "cpu_cores": 0.2, "in_flight": 3, "backlog": 1, **changes}
    )


def test_seconds_of_hosts_meet_by_the_first_ones_clock() -> None:
    seconds = {
        "load": [second(1, 0.01), second(2, 0.02)],
        "load2": [second(1, 2.5, hiccup_ms=80.0), second(2, 2.45), second(3, 2.51)],
    }
    merged = merged_seconds(seconds, {"load": 0.0, "load2": 2500.0})
    assert [(one.in_flight, one.backlog) for one in merged] == [(6, 2), (6, 2), (3, 1)]
    assert (merged[0].hiccup_ms, merged[0].host) == (80.0, "load2")
    assert [round(one.at.timestamp() - START) for one in merged] == [1, 2, 3]


def test_a_host_that_reports_a_second_late_is_counted_in_that_second_and_once() -> None:
    seconds = {
        "load": [second(1, 0.02), second(2, 0.02), second(3, 0.02)],
        "load2": [second(1, 0.02), second(2, 0.9, hiccup_ms=880.0), second(3, 0.02)],
    }
    merged = merged_seconds(seconds, {"load": 0.0, "load2": 0.0})
    assert [(one.in_flight, one.backlog) for one in merged] == [(6, 2), (6, 2), (6, 2)]
    assert (merged[1].hiccup_ms, merged[1].host) == (880.0, "load2")


def test_the_account_of_one_host_stays_as_it_is() -> None:
    alone = summary(reason="x")
    assert summed({"load": alone}) is alone
    assert merged_seconds({"load": [second(1, 0)]}, {}) == (second(1, 0),)


def stopped(after_s: float, why: str, host: str | None = None, **figures: Any) -> LoadSummary:
    broken = BrokenRule(seconds=after_s, rule=1, why=why, host=host)
    return LoadSummary(complete=True, duration_s=after_s, stopped=broken, **figures)


def test_the_host_whose_share_broke_a_rule_first_tells_when_the_load_was_ended() -> None:
    first = stopped(25.0, "nothing was answered for 10 s", answered=900, operations={"reads": 900}, warmup_s=10.0)
    told = stopped(
        33.0, "nothing was answered for 10 s", "load2", answered=1200, operations={"reads": 1200}, warmup_s=10.0
    )
    whole = summed({"load": told, "load2": first})
    assert whole.stopped == BrokenRule(seconds=25.0, rule=1, why="nothing was answered for 10 s", host="load2")
    assert (whole.complete, whole.duration_s, whole.ended_s) == (True, 25.0, 25.0)
    # The other went on, so its counts are of another time
    assert (whole.answered, whole.operations, whole.from_start) == (None, {}, None)
    assert stopped_words(whole.stopped).endswith("`stop_when[1]`: load2: nothing was answered for 10 s")


def test_a_host_that_was_told_never_counts_as_the_one_that_broke_the_rule() -> None:
    """It may count fewer seconds: its program began late, or stood still."""
    whole = summed({"load": stopped(24.0, "late", "load2"), "load2": stopped(25.0, "late")})
    assert whole.stopped == BrokenRule(seconds=25.0, rule=1, why="late", host="load2")


def test_a_load_that_was_ended_in_its_warm_up_is_told_from_its_start() -> None:
    first = stopped(8.0, "late", cpu_cores=1.0)
    from_start = stopped(12.0, "late", "load", cpu_cores=3.0)
    told = stopped(12.0, "late", "load", cpu_cores=2.0).model_copy(update={"from_start": from_start})
    whole = summed({"load": first, "load2": told})
    assert whole.judged_after(timedelta(0)).cpu_cores == 3.0
    assert whole.judged_after(timedelta(0)).stopped == whole.stopped
