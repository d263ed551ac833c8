"""What each format tells of operations that were not answered: how many, when, and of which operation."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.campaigns.interval_logs import STARTED_AT_S, every_second, line, log, payload

from plimsoll.analysis.attempt.judgement import Run
from plimsoll.analysis.attempt.service_level_evaluation import judge_reading
from plimsoll.analysis.logs.formats import Reading, ReadOptions, RunFile, read_run
from plimsoll.domain.keys.service_level import ServiceLevel
from plimsoll.domain.text.errors import LogError
from plimsoll.domain.text.units import parse_duration

NOSQLBENCH = "logging histograms for session s"
SAMPLES = Path(__file__).parents[3] / "samples"


def times(name: str, counts: list[int], *, comment: str = "", tag: str = "", value: int = 1) -> RunFile:
    """Return a log with so many values in each of its seconds."""
    lines = every_second([[value] * count for count in counts], tag, per_ms=10**6 if comment else 1000)
    return RunFile(name, log(lines, comment=comment))


def nosqlbench(**counts: list[int]) -> RunFile:
    lines = [one for tag, each in counts.items() for one in every_second([[7] * n for n in each], tag, per_ms=10**6)]
    return RunFile("nb.hdr", log(lines, comment=NOSQLBENCH))


def ycsb(name: str, *counts: int) -> RunFile:
    return times(f"run/{name}.hdr", list(counts), comment=f"[Logging for: {name}]", value=len(name))


def told(found: Reading) -> list[tuple[str, str, dict[float, int]]]:
    """Return operation, kind, and the number at each time from the log's start."""
    start_s = found.tracks[0].starts[0] if found.tracks else found.samples[0].start_s
    return [
        (one.operation, one.kind, {round(at - start_s, 3): int(n) for at, n in zip(one.at_s, one.counts, strict=True)})
        for one in found.failures
    ]


def read(*files: RunFile, **options: Any) -> Reading:
    return read_run(files, ReadOptions(**options))


def test_what_a_log_does_not_tell_is_not_none() -> None:
    for file in (times("x.hdr-intended-reads", [1, 1]), ycsb("READ", 1, 1), nosqlbench(result=[1, 1])):
        assert (read(file).errors, read(file).failures) == (None, ())


def test_the_log_of_errors_beside_those_of_tlp_stress() -> None:
    found = read(times("r.hdr-intended-mutations", [5, 5, 5]), times("r.hdr.errors", [0, 2, 1], value=3))
    assert (found.errors, told(found)) == ({"errors": 3}, [("", "errors", {1.5: 2, 2.5: 1})])


def test_failures_of_both_measures_of_ycsb_are_counted_once() -> None:
    files = [ycsb("READ", 5, 5), ycsb("Intended-READ", 5, 5), ycsb("READ-FAILED", 0, 2)]
    expected = {"FAILED": 2}, [("reads", "FAILED", {1.5: 2})]
    both = [[*files, ycsb("Intended-READ-FAILED", 0, 2)], [*files[:2], ycsb("HdrREAD-FAILED", 0, 2)]]
    both[1].append(ycsb("HdrIntended-READ-FAILED", 0, 2))  # of `measurementtype=hdrhistogram+histogram`
    for found in (read(*files), *(read(*several) for several in both)):
        assert (found.errors, told(found)) == expected
    alone = read(*files[:2], ycsb("Intended-READ-FAILED", 0, 2), ycsb("UPDATE", 3, 3), ycsb("UPDATE-NOT_FOUND", 1, 0))
    assert alone.errors == {"FAILED": 2, "NOT_FOUND": 1}


def test_a_first_stub_of_failures_counts() -> None:
    """YCSB opens the file at the first failure, amid the time between two status lines."""
    lines = [line(0.75, 0.25, payload([1, 1]), per_ms=10**6), line(1, 1, payload([1]), per_ms=10**6)]
    failed = RunFile("run/READ-FAILED.hdr", log(lines, comment="[Logging for: READ-FAILED]"))
    assert told(read(ycsb("READ", 5, 5), failed)) == [("reads", "FAILED", {0.875: 2, 1.5: 1})]


def test_failed_tries_of_nosqlbench_are_those_without_a_success() -> None:
    apart = read(nosqlbench(kv_result=[10, 12, 10], kv_result_success=[10, 8, 10]))
    assert (apart.errors, told(apart)) == ({"failed tries": 4}, [("", "failed tries", {1.5: 4})])
    assert [one.among_times for one in apart.failures] == [False]
    among = read(nosqlbench(cycles_responsetime=[10, 12, 10], result=[10, 12, 10], result_success=[10, 8, 10]))
    assert [(one.total, one.among_times) for one in among.failures] == [(4, True)]


def test_an_operation_that_ends_between_two_records_has_not_failed() -> None:
    assert read(nosqlbench(result=[10, 9, 10], result_success=[9, 10, 10])).errors == {}
    assert told(read(nosqlbench(result=[10, 9, 10], result_success=[9, 10, 8]))) == [("", "failed tries", {2.5: 2})]


def test_error_timers_of_nosqlbench_count_where_results_do_not() -> None:
    timers = {"errortimers_ALL": [0, 3], "errortimers_ReadTimeout": [0, 2], "errortimers_Other": [0, 1]}
    assert read(nosqlbench(result=[5, 5], **timers)).errors == {"ReadTimeout": 2, "Other": 1}


def test_activities_that_tags_do_not_name_are_not_added_up() -> None:
    twice = [one for record in every_second([[7]] * 5, "result", per_ms=10**6) for one in (record, record)]
    with pytest.raises(LogError, match="several activities' records with the tag result"):
        read(RunFile("nb.hdr", log(twice, comment=NOSQLBENCH)))


def test_tags_that_are_named_like_failures_are_counted_where_they_are_not_judged() -> None:
    lines = [*every_second([[1] * 5] * 2, "get"), *every_second([[1], [2, 2]], "get-failed")]
    file = RunFile("own.hlog", log(lines))
    with pytest.raises(LogError, match=r"named like failures.*\n.*counted as such where `--tags` does not name them"):
        read(file)
    found = read(file, tags=("get",))
    assert (found.errors, told(found)) == ({"get-failed": 3}, [("get-failed", "get-failed", {0.5: 1, 1.5: 2})])


def latte(**sample: int) -> Reading:
    report = json.loads(gzip.decompress((SAMPLES / "latte.json.gz").read_bytes()))
    report["conf"]["rate"] = {"rate": 500.0, "rate_sine_amplitude": None}
    report["result"]["log"][20] |= sample
    return read(RunFile("latte.json", json.dumps(report).encode()))


def test_failed_calls_of_latte_are_among_its_times() -> None:
    """In the form of the rate that ScyllaDB's latte 0.49 writes."""
    found = latte(cycle_error_count=3, req_error_count=5)
    assert (found.attempted_ops_s, found.errors) == (500.0, {"failed cycles": 5})
    [failures] = found.failures
    middle = found.tracks[0].starts[20] + found.tracks[0].lengths[20] / 2
    assert (failures.among_times, failures.at_s.tolist()) == (True, [pytest.approx(middle)])
    assert (latte().errors, latte().failures) == ({}, ())


HEAD = ",,Mutations,,,Reads,,,Deletes,,,Errors,\nTimestamp, Elapsed Time,Count,Count,Count,Count,1min (errors/s)\n"


def table(*errors: int) -> RunFile:
    rows = [f"2021-11-09T20:02:{3 * step:02d}.5Z,{step},{step * 9},{step},0,{n},0" for step, n in enumerate(errors)]
    return RunFile("metrics.csv", (HEAD + "\n".join(rows) + "\n").encode())


def test_cumulative_errors_of_a_csv_are_failures_between_its_rows() -> None:
    found = read(table(1, 1, 4, 4))
    [failures] = found.failures
    assert found.errors == {"errors": 4}
    assert (failures.at_s - failures.at_s[0]).tolist() == [0.0, 6.0]
    assert failures.counts.tolist() == [1, 3]
    assert read(table(0, 0)).errors == {}
    with pytest.raises(
        LogError, match=r"the row of 2021-11-09T20:02:06.500000\+00:00 has an earlier time, or fewer errors"
    ):
        read(table(0, 4, 1))


def test_a_log_and_a_csv_that_tell_the_same_failures_count_them_once() -> None:
    csv = RunFile("metrics.csv", table(0, 2).data.replace(b"2021-11-09T20:02", b"2026-11-20T19:00"))
    files = [times("r.hdr-intended-mutations", [5, 5]), times("r.hdr.errors", [0, 2], value=3), csv]
    assert sum(one.total for one in read(*files).failures) == 2


WRK2 = """\
  Thread Stats   Avg      Stdev     99%   +/- Stdev
  Latency Distribution (HdrHistogram - Recorded Latency)
  Detailed Percentile spectrum:
       Value   Percentile   TotalCount 1/(1-Percentile)
       0.123     1.000000         1000          inf
#[Max     =        9.868, Total count    =         1000]
  1000 requests in 10.00s, 3.94MB read
"""
SOCKET = "  Socket errors: connect 0, read 3, write 0, timeout 12\n  Non-2xx or 3xx responses: 7\n"


def test_failures_that_wrk2_names() -> None:
    assert read(RunFile("wrk.txt", WRK2.encode())).errors == {}
    failed = read(RunFile("wrk.txt", (WRK2 + SOCKET).encode()))
    assert failed.errors == {"read": 3, "timeout": 12, "non-2xx or 3xx responses": 7}
    assert read(RunFile("t.txt", WRK2.partition("  1000 requests")[0].encode())).errors is None


def status(second: int, *operations: str, at: str | None = None) -> str:
    clock = at or f"10:{second // 60:02d}:{second % 60:02d}:500"
    figures = "Max=9, Min=1, Avg=2, 90=3, 99=4, 99.9=5, 99.99=9"
    brackets = "".join(f"[{name}: Count={count}, {figures}] " for name, count in map(str.split, operations))
    return f"2025-03-30 {clock} {second} sec: 9 operations; 1 current ops/sec; {brackets}\n"


def console(*lines: str) -> Reading:
    return read(RunFile("ycsb.out", "".join(lines).encode()))


def test_statuses_and_summary_tell_the_same_failures_once() -> None:
    lines = [status(0), status(10, "READ 90", "READ-FAILED 2"), status(20, "READ 90", "READ-FAILED 1")]
    summary = "[OVERALL], RunTime(ms), 20000\n[READ], Operations, 180\n[READ], Return=OK, 180\n"
    assert console(*lines).errors == {"FAILED": 3}
    one = console(*lines, summary, "[READ], Return=ERROR, 3\n[READ-FAILED], Operations, 3\n")
    assert (one.errors, told(one)) == ({"ERROR": 3}, [("reads", "ERROR", {5: 2, 15: 1})])
    several = console(*lines, summary, "[READ], Return=ERROR, 2\n[READ], Return=NOT_FOUND, 3\n")
    assert (several.errors, [one.total for one in several.failures]) == ({"FAILED": 5}, [3])
    silent = console(status(0), status(10, "READ 90"), summary, "[READ], Return=ERROR, 3\n")
    assert (silent.errors, silent.failures) == ({"ERROR": 3}, ())
    batched = console(status(0), status(10, "READ 90"), summary, "[INSERT], Return=BATCHED_OK, 3\n")
    assert batched.errors == {}


def test_both_measures_of_a_failure_on_the_console_are_one() -> None:
    both = ["READ 90", "Intended-READ 90", "READ-FAILED 2", "Intended-READ-FAILED 2"]
    assert told(console(status(0), status(10, *both))) == [("reads", "FAILED", {5: 2})]
    assert console(status(0), status(10, "Intended-READ 90", "Intended-READ-FAILED 2")).errors == {"FAILED": 2}


def met(found: Reading) -> bool | None:
    """Tell whether the p99 of every interval of 10 s after 20 s of warm-up is below 1 s."""
    level = ServiceLevel(percentile=99, interval=parse_duration("10s"), below=parse_duration("1s"))
    return judge_reading(found, Run(warmup=parse_duration("20s")), [level]).met


def test_failures_of_the_first_status_whose_time_no_status_begins_came_before_the_run() -> None:
    later = [status(second, "READ 900") for second in range(20, 80, 10)]
    found = console(status(10, "READ 900", "READ-FAILED 20"), *later)
    assert (told(found), found.errors) == ([("reads", "FAILED", {-5: 20})], {"FAILED": 20})
    assert met(found)
    assert not any("of another time" in note for note in found.notes)


def test_failures_of_a_first_stub_that_is_left_out_came_before_the_run() -> None:
    figures = [line(0, 0.5, payload([7] * 20), per_ms=10**6)]
    read_times = figures + [line(0.5 + 10 * n, 10, payload([7] * 900), per_ms=10**6) for n in range(6)]
    failed_times = figures + [line(0.5 + 10 * n, 10, payload([]), per_ms=10**6) for n in range(6)]
    lines = {"READ": read_times, "READ-FAILED": failed_times}
    files = [RunFile(f"run/{name}.hdr", log(own, comment=f"[Logging for: {name}]")) for name, own in lines.items()]
    found = read(*files)
    assert (told(found), found.errors) == ([("reads", "FAILED", {-0.25: 20})], {"FAILED": 20})
    assert met(found)
    assert not any("of another time" in note for note in found.notes)


@pytest.mark.parametrize("after", ["11:00:20:500", "09:00:20:500", "10:00:57:500"])
def test_times_of_a_console_are_its_own_seconds_where_the_clock_on_the_wall_is_set(after: str) -> None:
    lines = [status(0), status(10, "READ 9"), status(20, "READ 9", at=after)]
    assert [one.length_s for one in console(*lines).samples] == [10.0, 10.0]


def test_seconds_that_go_back_are_of_several_runs() -> None:
    with pytest.raises(LogError, match=r"ycsb.out, line 3: its seconds go back from 10 to 0: the output of several"):
        console(status(0), status(10, "READ 9"), status(0, at="10:00:20:500"), status(10, "READ 9", at="10:00:30:500"))


def test_times_of_failures_are_on_the_clock_of_the_tracks() -> None:
    found = read(ycsb("READ", 5, 5), ycsb("READ-FAILED", 1, 0))
    assert np.allclose(found.failures[0].at_s, STARTED_AT_S + 0.5)


def test_failures_of_another_time_have_no_times_of_this_run() -> None:
    """YCSB leaves the file of an earlier run where none fails in a later one."""
    old = ycsb("READ-FAILED", 1, 0)
    earlier = RunFile(old.name, old.data.replace(str(int(STARTED_AT_S)).encode(), b"1761991200"))
    found = read(ycsb("READ", 5, 5), earlier)
    assert (found.errors, found.failures) == ({"FAILED": 1}, ())
    assert any("READ-FAILED.hdr: tells failures of another time than the other files" in note for note in found.notes)


def test_an_operation_of_which_none_was_answered_has_samples_of_none() -> None:
    with pytest.raises(LogError, match="where nothing was answered there is none, and the load was not carried"):
        read(ycsb("READ-FAILED", 3, 2))
    told_on_console = console(status(0), status(10, "READ-FAILED 3", "UPDATE 5"), status(20, "UPDATE 5"))
    assert [(one.operation, one.count) for one in told_on_console.samples] == [("writes", 5), ("reads", 0)] * 2
    assert console(status(0), status(10, "READ-FAILED 3")).samples[0].count == 0


def test_a_status_on_both_outputs_is_one() -> None:
    lines = [status(0), status(10, "READ 9"), status(20, "READ 8", "READ-FAILED 1")]
    found = console(*(line for line in lines for _ in "12"))
    assert ([one.count for one in found.samples], found.errors) == ([9, 8], {"FAILED": 1})


def test_a_part_of_a_log_beside_the_whole_is_given_twice() -> None:
    whole = times("a.hlog", [5, 6, 7, 8])
    part = RunFile("b.hlog", whole.data[: whole.data.rindex(b"3.000,")])
    with pytest.raises(LogError, match="holds the same records as"):
        read(whole, part)


def test_a_log_of_failures_without_a_record_says_that_there_were_none() -> None:
    times = RunFile("x.hdr-intended-selects", log(every_second([[1000]] * 20)))
    found = read_run([times, RunFile("x.hdr.errors", log([]))], ReadOptions())
    assert (found.errors, found.failures) == ({}, ())
    assert read_run([times], ReadOptions()).errors is None
