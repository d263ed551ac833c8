from dataclasses import replace

import pytest

from plimsoll.analysis.attempt.intervals import IntervalRow, IntervalTable
from plimsoll.analysis.attempt.judgement import Judgement, MissedInterval
from plimsoll.analysis.attempt.missed_intervals import distinct, short_of_rate, when_stopped, with_failures
from plimsoll.domain.attempt.load_summary import BrokenRule
from plimsoll.domain.keys.service_level import ServiceLevel
from plimsoll.domain.keys.timing import StopRule

LEVEL = ServiceLevel()


def judgement(*counts: int) -> Judgement:
    """Return judged intervals of 10 s after a warm-up of 10 s, with these numbers of operations."""
    rows = [
        IntervalRow(10.0 * place, 10.0, "judged", "all", count, count / 10, 1, 1, 1, 1, 1, 1)
        for place, count in enumerate(counts, 1)
    ]
    warmup = IntervalRow(0.0, 10.0, "warm-up", "all", 1, 0.1, 1, 1, 1, 1, 1, 1)
    return Judgement(intervals=IntervalTable((warmup, *rows)))


def test_an_interval_short_of_its_rate_is_a_missed_one() -> None:
    (one,) = short_of_rate(judgement(10_000, 7_000, 9_901, 11_000), 1000.0, LEVEL)
    assert (one.start_s, one.end_s, one.late_ms) == (20.0, 30.0, pytest.approx(3000.0))


def test_an_interval_in_which_too_many_operations_failed_is_a_missed_one() -> None:
    found = judgement(10_000, 10_000, 10_000)
    warmup, *rows = found.intervals.rows
    failing = [replace(row, failed=failed) for row, failed in zip(rows, (30, 5, 0), strict=True)]
    assert [one.start_s for one in with_failures(Judgement(IntervalTable((warmup, *failing))), LEVEL)] == [10.0]


def test_failures_without_a_time_are_of_every_interval() -> None:
    assert [one.start_s for one in with_failures(judgement(10_000, 10_000), LEVEL)] == [10.0, 20.0]


def test_an_interval_that_missed_for_several_reasons_counts_once_by_the_worst() -> None:
    slow, late = MissedInterval(10.0, 20.0, 300.0, 110.0), MissedInterval(10.0, 20.0, 120.0, 110.0)
    assert distinct([MissedInterval(20.0, 30.0, 1.0, 110.0), late, slow]) == (
        slow,
        MissedInterval(20.0, 30.0, 1.0, 110.0),
    )


def test_that_nothing_was_answered_comes_before_other_reasons() -> None:
    silent, slow = (
        MissedInterval(10.0, 20.0, 10_000.0, 110.0, is_silent=True),
        MissedInterval(10.0, 20.0, 12_000.0, 110.0),
    )
    assert distinct([slow, silent]) == (silent,)


@pytest.mark.parametrize("silent", [True, False])
def test_the_time_before_a_load_was_stopped_is_silent_where_the_rule_says_so(silent: bool) -> None:
    rule = StopRule.model_validate({"errors": "5%", "within": "10s"})
    broken = BrokenRule(seconds=37.0, rule=0, why="nothing was answered for 10 s", silent=silent)
    assert when_stopped(rule, broken) == MissedInterval(27.0, 37.0, 500.0, 500.0, silent)
