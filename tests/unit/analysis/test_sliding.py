"""Sliding windows against windows counted one by one from the operations themselves."""

from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from tests.support.campaigns.interval_logs import every_second, log

from plimsoll.analysis.attempt.judgement import Judgement, Run
from plimsoll.analysis.attempt.service_level_evaluation import judge_logs
from plimsoll.domain.keys.service_level import ServiceLevel

LEVEL = ServiceLevel(percentile=90, interval=timedelta(seconds=5), below=timedelta(milliseconds=1))


def judge(files: dict[str, list[list[int]]], warmup_s: float = 0, *, sliding: bool = True, **options: Any) -> Judgement:
    logs = {name: log(every_second(seconds, length_s=options.get("length_s", 1.0))) for name, seconds in files.items()}
    level = LEVEL.model_copy(update={"windows": "sliding" if sliding else "aligned"})
    return judge_logs(logs, Run(warmup=timedelta(seconds=warmup_s)), [level])


def naive(seconds: list[list[int]], warmup: int) -> list[tuple[float, int, bool]]:
    """Return start, count and whether the 90th percentile is below 1,000 µs of every 5 s from the end of warm-up on."""
    found = []
    for start in range(warmup, len(seconds) - 4):
        values = sorted(value for second in seconds[start : start + 5] for value in second)
        found.append((float(start), len(values), values[int(np.ceil(0.9 * len(values))) - 1] < 1000))
    return found


@pytest.mark.parametrize("warmup", [0, 7])
def test_every_window_of_two_operations_equals_one_counted_by_hand(warmup: int) -> None:
    rng = np.random.default_rng(3)
    reads, writes = ([rng.integers(1, 1200, rng.integers(1, 9)).tolist() for _ in range(40)] for _ in range(2))
    found = judge({"r.hdr-intended-selects": reads, "r.hdr-intended-mutations": writes}, warmup)
    expected = naive([[*a, *b] for a, b in zip(reads, writes, strict=True)], warmup)
    assert [(row.start_s, row.count, row.met) for row in found.intervals.select("judged")] == expected
    assert found.levels[0].missed == sum(not met for *_, met in expected)
    assert found.levels[0].judged == len(expected) == 40 - warmup - 4


def test_aligned_intervals_are_among_them_so_nothing_that_missed_is_lost() -> None:
    rng = np.random.default_rng(4)
    seconds = [rng.integers(1, 1150, 6).tolist() for _ in range(40)]
    aligned, slid = (judge({"x.hlog": seconds}, sliding=sliding) for sliding in (False, True))
    rows = {row.start_s: row for row in slid.intervals.select("judged")}
    for row in aligned.intervals.select("judged"):
        assert (rows[row.start_s].count, rows[row.start_s].judged_ms) == (row.count, row.judged_ms)
    assert slid.levels[0].missed >= aligned.levels[0].missed
    assert (slid.operations, slid.achieved_ops_s) == (aligned.operations, aligned.achieved_ops_s)
    assert "windows slide: one of 5 records begins every 1 s" in slid.notes


def test_records_as_long_as_windows_slide_no_finer_than_aligned_ones() -> None:
    seconds = [[10], [20], [2000]]
    found = judge({"x.hlog": seconds}, length_s=5.0)
    assert [(row.start_s, row.met) for row in found.intervals.select("judged")] == [(0, True), (5, True), (10, False)]


@pytest.mark.parametrize(
    ("next_us", "reasons"), [(10, ("1 of 11 windows of 5s holds no operation, the first at 6 s",)), (5_500_000, ())]
)
def test_a_window_without_any_operation_misses_where_one_was_under_way(next_us: int, reasons: tuple[str, ...]) -> None:
    seconds = [[10], *[[]] * 3, [10], [10], *[[]] * 5, [next_us], [10], *[[]] * 2]
    aligned, slid = (judge({"x.hlog": seconds}, sliding=sliding) for sliding in (False, True))
    assert aligned.valid
    assert slid.reasons == reasons
    assert (6.0, False) in [(row.start_s, row.met) for row in slid.intervals.select("judged")]


@pytest.mark.parametrize("next_us", [1_200_000, 3_000_000])
def test_an_operation_shorter_than_a_window_was_not_under_way_in_all_of_it(next_us: int) -> None:
    seconds = [[10] * 100, *[[]] * 3, *[[10] * 100] * 2, *[[]] * 5, [next_us] + [10] * 100, [10] * 100, *[[]] * 2]
    assert judge({"x.hlog": seconds}).reasons == ("1 of 11 windows of 5s holds no operation, the first at 6 s",)


def test_windows_that_slide_have_no_reasons_of_aligned_intervals() -> None:
    assert judge({"x.hlog": [*[[10]] * 5, *[[]] * 5, *[[10]] * 20]}).reasons == (
        "1 of 26 windows of 5s holds no operation, the first at 5 s",
    )


def test_records_that_do_not_divide_windows_are_refused() -> None:
    found = judge({"x.hlog": [[1]] * 10}, length_s=2.0)
    assert "do not" in found.reasons[0]


def test_percentiles_over_time_can_not_slide() -> None:
    head = b"2020-01-10 16:21:30:000 0 sec: 0 operations; \n"
    status = b"2020-01-10 16:21:35:000 5 sec: 9 operations; 1 current ops/sec; [READ: Count=9, Max=9, 99=9]\n"
    found = judge_logs(
        {"x": head + status}, Run(warmup=timedelta(0)), [LEVEL.model_copy(update={"windows": "sliding"})]
    )
    assert "sliding windows can't be made of it" in found.reasons[0]


def test_both_kinds_of_windows_are_judged_in_one_run_and_the_table_is_of_the_first() -> None:
    rng = np.random.default_rng(4)
    seconds = [rng.integers(1, 1150, 6).tolist() for _ in range(40)]
    aligned, slid = (judge({"x.hlog": seconds}, sliding=sliding) for sliding in (False, True))
    levels = [LEVEL, LEVEL.model_copy(update={"windows": "sliding"})]

    both = judge_logs({"x.hlog": log(every_second(seconds))}, Run(warmup=timedelta(0)), levels)

    assert both.levels == (aligned.levels[0], slid.levels[0])
    assert (both.intervals, both.maxima, both.notes) == (aligned.intervals, aligned.maxima, aligned.notes)
    assert [str(one.service_level) for one in both.levels] == [
        "p90 of every 5s interval below 1ms",
        "p90 of every sliding 5s window below 1ms",
    ]
