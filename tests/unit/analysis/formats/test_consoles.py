"""Consoles and logs with figures of intervals: cassandra-stress, sysbench, pgbench's log of intervals."""

from collections.abc import Callable

import pytest

from plimsoll.analysis.attempt.judgement import Judgement, Run
from plimsoll.analysis.attempt.service_level_evaluation import judge_reading
from plimsoll.analysis.logs.formats import Reading, ReadOptions, RunFile, read_run
from plimsoll.domain.keys.log_words import COORDINATED_OMISSION
from plimsoll.domain.keys.service_level import ServiceLevel
from plimsoll.domain.text.errors import LogError
from plimsoll.domain.text.units import parse_duration

STRESS = (
    "Running WRITE with 200 threads for 1000000 iteration\n"
    "type       total ops,    op/s,    pk/s,   row/s,    mean,     med,     .95,     .99,    .999,     max,   time,"
    "   stderr, errors,  gc: #,  max ms,  sum ms,  sdv ms,      mb\n"
)
SYSBENCH = "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\nThreads started!\n\n"


def stress(total: int, time_s: float, most: float = 20.0, errors: int = 0, p99: float = 10.0) -> str:
    return (
        f"total, {total:13}, 42991, 42991, 42991, 4.6, 1.5, 10.9, {p99:.1f}, 15.3, {most:.1f}, {time_s:.1f}, 0.00000, "
        f"{errors:6}, 1, 49, 49, 0, 612\n"
    )


def sysbench(end_s: int, ms: float, *, tps: float = 500.0, errors: float = 0.0) -> str:
    return (
        f"[ {end_s}s ] thds: 16 tps: {tps:.2f} qps: 9970.12 (r/w/o: 6980.21/1992.21/997.70) lat (ms,99%): {ms:.2f} "
        f"err/s: {errors:.2f} reconn/s: 0.00\n"
    )


def read(text: str, *more: str) -> Reading:
    files = [RunFile(f"f{number}", one.encode()) for number, one in enumerate((text, *more))]
    return read_run(files, ReadOptions())


def judged(reading: Reading, below: str, *, percentile: float = 99.0, interval: str = "10s") -> Judgement:
    level = ServiceLevel(percentile=percentile, interval=parse_duration(interval), below=parse_duration(below))
    return judge_reading(reading, Run(warmup=parse_duration("0s")), [level])


def test_a_line_of_cassandra_stress_is_a_sample_of_the_time_since_the_one_before() -> None:
    found = read(STRESS + stress(1000, 1.0) + stress(3000, 2.0, errors=1) + "\nResults:\n")
    assert found.title == "cassandra-stress console output"
    assert [(one.start_s, one.length_s, one.count) for one in found.samples] == [(0.0, 1.0, 1000), (1.0, 1.0, 2000)]
    assert (found.errors, found.failures[0].counts.tolist(), found.failures[0].at_s.tolist()) == (
        {"errors": 1},
        [1],
        [1.5],
    )
    assert judged(found, "30ms", interval="1s").met
    assert judged(found, "5ms", interval="1s").met is False
    assert any(COORDINATED_OMISSION in note for note in found.notes)


def test_errors_of_a_line_miss_in_its_own_interval_and_those_of_the_last_one_count() -> None:
    for failing in range(3):
        lines = [stress(1000 * number, float(number), errors=20 * (number == failing + 1)) for number in (1, 2, 3)]
        rows = judged(read(STRESS + "".join(lines)), "30ms", interval="1s").intervals.select("judged")
        assert [row.failed for row in rows] == [20 * (number == failing) for number in range(3)]
        assert [row.met for row in rows] == [number != failing for number in range(3)]


def test_errors_of_a_line_after_seconds_without_one_are_of_the_last_of_them() -> None:
    lines = [stress(1000 * number, float(number)) for number in (1, 2, 3)] + [stress(4000, 6.0, errors=7)]
    assert read(STRESS + "".join(lines)).failures[0].at_s.tolist() == [5.5]


def test_seconds_in_which_nothing_ended_have_no_line_and_are_empty_samples() -> None:
    lines = [stress(1000 * number, float(number)) for number in (1, 2, 3)] + [stress(4000, 6.0)]
    found = read(STRESS + "".join(lines))
    assert [one.count for one in found.samples] == [1000, 1000, 1000, 0, 0, 1000]


def test_a_value_that_is_rounded_to_the_bound_proves_nothing() -> None:
    on_the_edge = judged(read(STRESS + stress(1000, 1.0, most=20.0)), "20ms", percentile=100, interval="1s")
    assert not on_the_edge.valid
    assert judged(read(STRESS + stress(1000, 1.0, most=19.9)), "20ms", percentile=100, interval="1s").met
    assert judged(read(STRESS + stress(1000, 1.0, most=20.1)), "20ms", percentile=100, interval="1s").met is False


def test_a_damaged_line_is_named_and_a_last_one_cut_short_is_left_out() -> None:
    with pytest.raises(LogError, match="is a damaged line of an interval") as refused:
        read(STRESS + "total, 12x, 1\n" + stress(3000, 2.0))
    assert refused.value.where == "f0, line 3"
    found = read(STRESS + stress(1000, 1.0) + stress(3000, 2.0)[:40])
    assert len(found.samples) == 1
    assert "the last line is cut short" in found.notes[0]


LOST = "FATAL: mysql_stmt_execute() returned error 2013 (Lost connection to MySQL server during query)\n"


@pytest.mark.parametrize(
    "console",
    [
        lambda slow: SYSBENCH + "".join(sysbench(end_s, slow if end_s == 20 else 5.0) for end_s in (10, 20, 30)) + LOST,
        lambda slow: (
            STRESS + "".join(stress(9000 * n, 10.0 * n, p99=slow if n == 2 else 5.0) for n in (1, 2, 3)) + "\nFAILURE\n"
        ),
    ],
)
def test_a_tool_that_gave_up_proves_no_met_but_a_miss(console: Callable[[float], str]) -> None:
    """What the database did not answer at the end was neither sent again nor told."""
    found = judged(read(console(5.0)), "10ms", percentile=98)
    assert not found.valid
    assert "the tool gave up" in found.reasons[0]
    missed = judged(read(console(500.0)), "10ms")
    assert (missed.valid, missed.met) == (True, False)


def test_lines_of_sysbench_before_1_0_are_named() -> None:
    line = "[  10s] threads: 128, tps: 5081.05, reads/s: 71277.04, writes/s: 20342.28 response time: 100.12ms (99%)\n"
    with pytest.raises(LogError, match=r"is of sysbench 0\.5"):
        read("sysbench 0.5:  multi-threaded system evaluation benchmark\n\n" + line)


@pytest.mark.parametrize(
    "text", [STRESS + stress(9, 2.0) + stress(99, 1.0), SYSBENCH + sysbench(20, 5) + sysbench(10, 5)]
)
def test_several_runs_in_one_output_are_refused(text: str) -> None:
    with pytest.raises(LogError, match="the seconds do not go on"):
        read(text)


def test_one_percentile_of_sysbench_decides_as_far_as_its_rank_and_its_rounding_allow() -> None:
    found = read(SYSBENCH + sysbench(10, 25.74) + sysbench(20, 125.74))
    assert [(one.start_s, one.length_s, one.count) for one in found.samples] == [(0.0, 10.0, 5000), (10.0, 10.0, 5000)]
    assert judged(found, "100ms").met is False
    assert judged(found, "130ms").met
    assert judged(found, "130ms", percentile=95.0).met
    assert not judged(found, "130ms", percentile=99.9).valid
    assert not judged(found, "126ms").valid  # within 0.9 %


def test_what_sysbench_ignored_or_reconnected_for_has_failed_in_its_interval() -> None:
    found = read(SYSBENCH + sysbench(10, 5.0) + sysbench(20, 5.0, errors=0.5))
    assert (found.errors, found.failures[0].counts.tolist()) == ({"errors": 5}, [5])
    assert found.failures[0].at_s.tolist() == [15.0]


def test_a_rank_that_sysbench_rounds_down_proves_a_lower_percentile_which_is_named() -> None:
    found = read(SYSBENCH + sysbench(1, 4.57, tps=1789.0))
    assert not judged(found, "100ms", interval="1s").valid
    assert judged(found, "100ms", percentile=98.96, interval="1s").met
    assert "sysbench rounds ranks to the nearest: its p99 is at least p98.96, which it proves" in found.notes


def test_a_queue_of_more_than_a_seconds_work_was_not_answered() -> None:
    queue = "[ 10s ] queue length: 700, concurrency: 16\n"
    assert read(SYSBENCH + sysbench(10, 5.0) + queue).errors == {"left in sysbench's queue": 700}
    assert read(SYSBENCH + sysbench(10, 5.0) + queue.replace("700", "40")).errors == {}


def test_sysbench_without_intervals_or_with_events_of_another_test() -> None:
    with pytest.raises(LogError, match="has no line of an interval"):
        read(SYSBENCH + "General statistics:\n")
    found = read("[ 1s ] thds: 1 eps: 1789.65 lat (ms,99%): 4.57\n[ 2s ] thds: 1 eps: 1763.46 lat (ms,99%): 4.57\n")
    assert [one.count for one in found.samples] == [1790, 1763]


def test_the_least_and_the_greatest_time_decide_a_log_of_intervals_on_one_side_of_the_bound() -> None:
    found = read("".join(f"{1761991200 + 10 * n} 5601 1542744 483552416 61 2573\n" for n in range(3)))
    assert (found.title, len(found.samples)) == ("pgbench log of intervals", 3)
    assert judged(found, "3ms").met
    assert judged(found, "1ms").valid is False
    assert judged(found, "0.06ms").met is False
    assert any(COORDINATED_OMISSION in note for note in found.notes)


def test_what_pgbench_skipped_or_failed_in_an_interval_is_told_apart_by_the_columns_of_its_release() -> None:
    before_15 = read("1761991200 5601 1542744 483552416 61 2573 12345 1234567 1 900 600\n" * 1)
    assert (before_15.samples[0].count, before_15.errors) == (5001, {"skipped": 600})
    since_15 = read("1795861264 324 1484154 9501648008 802 22677 139654 249604510 5 5192 24 3 4 5 6\n")
    assert (since_15.samples[0].count, since_15.errors) == (324, {"skipped": 24, "serialization": 5, "deadlock": 6})
    assert not any(COORDINATED_OMISSION in note for note in since_15.notes)


def test_each_threads_log_of_intervals_has_samples_of_its_own() -> None:
    first = "1795861258 20551 1839921 4875247317 23 8995 0 0 0 0 0 0 0 0 0\n1795861260 1 9 9 9 9 0 0 0 0 0 0 0 0 0\n"
    second = first.replace("8995", "89950")
    found = read(first, second)
    assert sum(one.count for one in found.samples) == 2 * 20552
    assert judged(found, "50ms", interval="2s").valid is False
    assert judged(found, "90ms", interval="2s").met
    with pytest.raises(LogError, match="is no line of pgbench's log of intervals") as refused:
        read(first + "x\n")
    assert refused.value.where == "f0, line 3"
