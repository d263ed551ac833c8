"""YCSB's forms, by its sources (OneMeasurementHdrHistogram, StatusThread); the figures are made here."""

import pytest
from tests.support.campaigns.interval_logs import STARTED_AT_S, every_second, line, log, payload

from plimsoll.analysis.logs.formats import ReadOptions, RunFile, Sample, WholeRun, read_run
from plimsoll.domain.text.errors import LogError

STATUS = """\
2020-01-10 16:21:30:213 0 sec: 0 operations; est completion in 0 second 
2020-01-10 16:21:40:213 10 sec: 1000 operations; 100 current ops/sec; est completion in 10 seconds [READ: Count=900, Max=90111, Min=149, Avg=231.21, 50=200, 90=791, 99=1955, 99.9=21000, 99.99=90111] [UPDATE: Count=100, Max=5003, Min=210, Avg=400, 50=300, 90=900, 99=4000, 99.9=5003, 99.99=5003] 
2020-01-10 16:21:50:212 20 sec: 1500 operations; 50 current ops/sec; est completion in 5 seconds [READ: Count=500, Max=1000, Min=149, Avg=231,21, 50=200, 90=791, 99=955, 99.9=1000, 99.99=1000] [CLEANUP: Count=4, Max=9, Min=1, Avg=2, 50=2, 90=9, 99=9, 99.9=9, 99.99=9]
[OVERALL], RunTime(ms), 20000
[TOTAL_GCS_G1_Young_Generation], Count, 2
[TOTAL_GC_TIME_%_G1_Young_Generation], Time(%), 0.16093433878977376
[TOTAL_GC_TIME_%], Time(%), 0.16093433878977376
[READ], Operations, 1400
[READ], AverageLatency(us), 231.2
[READ], MaxLatency(us), 90111
[READ], 50thPercentileLatency(us), 200
[READ], 99thPercentileLatency(us), 1955
[READ], 99.9PercentileLatency(us), 21000
[READ], Return=OK, 1400
[UPDATE], Operations, 100
[UPDATE], Return=OK, 100
[UPDATE-FAILED], Operations, 3
[UPDATE], Return=ERROR, 3
"""  # noqa: E501, W291


def hdr(name: str, value: int = 1) -> RunFile:
    head = f"#[Logging for: {name}]\n".encode()
    return RunFile(f"run/{name}.hdr", head + log(every_second([[value]] * 3, per_ms=10**6), base_time=False))


def test_intended_times_are_judged_beside_others_of_the_run() -> None:
    files = [hdr("READ"), hdr("Intended-READ", 2), hdr("UPDATE", 3), hdr("Intended-UPDATE", 4), hdr("CLEANUP", 5)]
    found = read_run(files, ReadOptions())
    assert found.title == "YCSB HDR log"
    assert [(track.name, track.operation) for track in found.tracks] == [
        ("run/Intended-READ.hdr", "reads"),
        ("run/Intended-UPDATE.hdr", "writes"),
    ]
    assert any("where it ran with a `-target`" in note for note in found.notes)


def test_others_are_taken_for_service_times() -> None:
    found = read_run([hdr("READ"), hdr("INSERT", 2)], ReadOptions())
    assert [track.operation for track in found.tracks] == ["reads", "writes"]
    assert any("coordinated omission" in note for note in found.notes)
    assert any("measurement.interval=both" in note for note in found.notes)


def test_times_of_failures_and_operations_made_of_others_are_left_out() -> None:
    found = read_run([hdr("READ"), hdr("READ-FAILED", 2), hdr("READ-MODIFY-WRITE", 3), hdr("UPDATE", 4)], ReadOptions())
    assert [track.operation for track in found.tracks] == ["reads", "writes"]
    assert any("READ-MODIFY-WRITE is left out" in note for note in found.notes)


def test_a_first_stub_with_absolute_times_as_old_ycsb_wrote_them() -> None:
    lines = [line(STARTED_AT_S - 0.005, 0.66, payload([1]), per_ms=10**6)]
    lines += [line(STARTED_AT_S + 0.655 + second, 1.0, payload([2]), per_ms=10**6) for second in range(3)]
    file = RunFile("READ.hdr", b"#[Logging for: READ]\n" + log(lines, base_time=False))
    found = read_run([file], ReadOptions())
    assert [record.length_s for record in found.tracks[0].records] == [1.0, 1.0, 1.0]
    assert found.tracks[0].records[0].start_s == pytest.approx(STARTED_AT_S + 0.655)
    assert any("the first record covers 0.66 s only" in note for note in found.notes)


def test_of_two_stubs_at_the_end_the_very_last_is_left_out() -> None:
    lengths = [1.0, 1.0, 1.0, 0.125, 0.001]
    lines = [line(sum(lengths[:place]), length, payload([2]), per_ms=10**6) for place, length in enumerate(lengths)]
    found = read_run([RunFile("READ.hdr", b"#[Logging for: READ]\n" + log(lines))], ReadOptions())
    assert [record.length_s for record in found.tracks[0].records] == lengths[:-1]
    assert any("ends with two stubs" in note for note in found.notes)


def test_stubs_at_both_ends_are_told_as_they_are_left_out() -> None:
    """Of the few records in between none is taken for a last stub but one."""
    lengths = [0.66, 1.0, 0.125, 0.001]
    lines = [line(sum(lengths[:place]), length, payload([2]), per_ms=10**6) for place, length in enumerate(lengths)]
    found = read_run([RunFile("READ.hdr", b"#[Logging for: READ]\n" + log(lines))], ReadOptions())
    assert [record.length_s for record in found.tracks[0].records] == lengths[1:]
    assert not any("ends with two stubs" in note for note in found.notes)


def test_status_lines_are_samples_of_the_time_since_the_line_before() -> None:
    found = read_run([RunFile("ycsb.out", STATUS.encode())], ReadOptions())
    first = found.samples[0]
    assert [(one.operation, one.count, one.length_s) for one in found.samples] == [
        ("reads", 900, 10.0),
        ("writes", 100, 10.0),
        ("reads", 500, 9.999),
        ("writes", 0, 9.999),
    ]
    assert first.values_ms == {100.0: 90.111, 50.0: 0.2, 90.0: 0.791, 99.0: 1.955, 99.9: 21.0, 99.99: 90.111}
    assert found.samples[2].start_s - first.start_s == 10.0
    assert any("coordinated omission" in note for note in found.notes)


def test_the_summary_tells_whole_run_figures_and_errors() -> None:
    found = read_run([RunFile("ycsb.out", STATUS.encode())], ReadOptions())
    assert found.whole_run == (
        WholeRun("reads", 1400, {50.0: 0.2, 99.0: 1.955, 99.9: 21.0, 100.0: 90.111}),
        WholeRun("writes", 100),
    )
    assert found.errors == {"ERROR": 3}


def test_without_a_summary_failures_are_counted_from_status_lines() -> None:
    statuses = STATUS.partition("[OVERALL]")[0]
    assert read_run([RunFile("ycsb.out", statuses.encode())], ReadOptions()).errors == {}
    failing = statuses.replace("[UPDATE: ", "[UPDATE-FAILED: ")
    assert read_run([RunFile("ycsb.out", failing.encode())], ReadOptions()).errors == {"FAILED": 100}


def test_intended_samples_come_first() -> None:
    both = STATUS.replace("[READ: ", "[Intended-READ: ").replace("[UPDATE: ", "[Intended-UPDATE: ")
    found = read_run([RunFile("ycsb.out", both.encode())], ReadOptions())
    assert isinstance(found.samples[0], Sample)
    assert not any("coordinated omission" in note for note in found.notes)


def test_averages_alone_can_not_be_judged() -> None:
    line_of = "2019-05-31 13:17:06:245 10 sec: 100 operations; 10 current ops/sec; [READ AverageLatency(us)=782.17]\n"
    found = read_run([RunFile("ycsb.out", line_of.encode())], ReadOptions())
    assert (found.samples, found.obstacles) == (
        (),
        ("ycsb.out: no status line has percentiles (run YCSB with `-s`)",),
    )


def test_of_one_folder_each_operation_has_its_best_measure_and_what_is_left_out_is_counted() -> None:
    found = read_run([hdr("READ"), hdr("Intended-READ", 2), hdr("UPDATE", 3), hdr("VERIFY", 4)], ReadOptions())
    assert [track.name for track in found.tracks] == ["run/Intended-READ.hdr", "run/UPDATE.hdr"]
    assert [(one.name, one.measure, one.count) for one in found.left_out] == [
        ("run/READ.hdr", "service time", 3),
        ("run/VERIFY.hdr", "other figures", 3),
    ]
    assert any("VERIFY is left out: the client's own check" in note for note in found.notes)


def test_logs_with_equal_records_are_two_measures_or_operations_but_not_two_copies() -> None:
    files = [hdr("READ"), hdr("Intended-READ"), hdr("UPDATE"), hdr("Intended-UPDATE")]
    assert [track.operation for track in read_run(files, ReadOptions()).tracks] == ["reads", "writes"]
    with pytest.raises(LogError, match="holds the same records as"):
        read_run([files[0], RunFile("copy.hdr", files[0].data)], ReadOptions())


@pytest.mark.parametrize("name", ["TX-COMMIT", "READS", "web-requests"])
def test_a_measurement_that_ycsb_does_not_make_is_asked_about(name: str) -> None:
    files = [hdr("READ"), hdr(name, 2)]
    with pytest.raises(LogError, match=f"YCSB is not known to write {name}(.|\n)*--operation"):
        read_run(files, ReadOptions())
    named_file = read_run(files, ReadOptions(unit="us", kinds={name.lower(): "writes"}))
    assert [track.operation for track in named_file.tracks] == ["reads", "writes"]
    line_of = STATUS.replace("[UPDATE: ", f"[{name}: ")
    with pytest.raises(LogError, match=f"YCSB is not known to measure {name}"):
        read_run([RunFile("ycsb.out", line_of.encode())], ReadOptions())
    named = read_run([RunFile("ycsb.out", line_of.encode())], ReadOptions(kinds={name.lower(): "writes"}))
    assert [one.operation for one in named.samples] == ["reads", "writes"] * 2


def test_operations_of_one_kind_are_samples_of_their_own() -> None:
    both = STATUS.replace("[CLEANUP: Count=4,", "[INSERT: Count=7,").replace("[CLEANUP", "[INSERT")
    found = read_run([RunFile("ycsb.out", both.encode())], ReadOptions())
    assert [(one.operation, one.series, one.count) for one in found.samples[-3:]] == [
        ("reads", "READ", 500),
        ("writes", "UPDATE", 0),
        ("writes", "INSERT", 7),
    ]


def test_a_status_of_several_lines_is_read_to_its_end() -> None:
    """As `measurementtype=hdrhistogram+histogram` writes it: an operation begins on the line of the one before."""
    several = STATUS.replace("[READ: ", "[HdrREAD: ").replace(
        "] [UPDATE: ", "]\n[BucketREAD AverageLatency(us)=9] [HdrUPDATE: "
    )
    found = read_run([RunFile("ycsb.out", several.encode())], ReadOptions())
    assert [(one.operation, one.count) for one in found.samples[:2]] == [("reads", 900), ("writes", 100)]


def test_a_status_that_is_cut_short_is_left_out_if_it_is_the_last_and_else_an_error() -> None:
    first, second, third = STATUS.splitlines()[:3]
    found = read_run([RunFile("ycsb.out", "\n".join([first, second, third[:-30]]).encode())], ReadOptions())
    assert [(one.operation, one.count) for one in found.samples] == [("reads", 900), ("writes", 100)]
    assert "ycsb.out, line 3: the last status is cut short (was YCSB killed?); those before it count" in found.notes
    with pytest.raises(LogError, match=r"ycsb\.out, line 2: is a damaged status line"):
        read_run([RunFile("ycsb.out", "\n".join([first, second[:-30], third]).encode())], ReadOptions())
    for damaged in (second.replace(" 16:", " 61:"), second.replace("99.9=21000", "99..9=21000")):
        with pytest.raises(LogError, match=r"ycsb\.out, line 2: is a damaged status line"):
            read_run([RunFile("ycsb.out", "\n".join([first, damaged, third]).encode())], ReadOptions())


def test_verify_on_the_console_is_no_operation() -> None:
    found = read_run([RunFile("ycsb.out", STATUS.replace("[UPDATE: ", "[VERIFY: ").encode())], ReadOptions())
    assert {one.operation for one in found.samples} == {"reads"}
    assert ("VERIFY", 100) in [(one.name, one.count) for one in found.left_out]


def test_a_first_status_line_of_unknown_length_is_left_out_and_counted() -> None:
    found = read_run([RunFile("ycsb.out", STATUS.split("\n", 1)[1].encode())], ReadOptions())
    assert [(one.operation, one.count) for one in found.samples] == [("reads", 500), ("writes", 0)]
    assert [one.count for one in found.left_out if "first status line" in one.name] == [900, 100]


def test_outputs_of_two_runs_are_refused() -> None:
    file = RunFile("a.out", STATUS.encode())
    with pytest.raises(LogError, match="each of a run of its own"):
        read_run([file, RunFile("b.out", file.data)], ReadOptions())


@pytest.mark.parametrize("name", ["READ2", "tx.READ", "READ@node", "MY READ"])
def test_an_operation_of_any_name_on_the_console_is_asked_about_and_never_dropped(name: str) -> None:
    with pytest.raises(LogError, match=f"YCSB is not known to measure {name}"):
        read_run([RunFile("ycsb.out", STATUS.replace("[UPDATE: ", f"[{name}: ").encode())], ReadOptions())


@pytest.mark.parametrize("figures", [" AverageLatency(us)=5]", ": Count=9, Max=9, Min=9, Avg=9, 95=9]"])
def test_averages_beside_percentiles_are_refused(figures: str) -> None:
    text = STATUS.replace("[CLEANUP: ", f"[UPDATE{figures} [CLEANUP: ").replace(
        "[UPDATE: Count=100", "[INSERT: Count=100"
    )
    with pytest.raises(LogError, match=r"has averages alone of UPDATE, but percentiles of READ"):
        read_run([RunFile("ycsb.out", text.encode())], ReadOptions())


def test_an_operation_twice_in_a_status_is_damage() -> None:
    with pytest.raises(LogError, match=r"line 2: is a damaged status line"):
        read_run([RunFile("ycsb.out", STATUS.replace("[UPDATE: ", "[READ: ").encode())], ReadOptions())


def test_a_summary_alone_tells_the_whole_run_and_is_not_judged() -> None:
    summary = STATUS[STATUS.index("[OVERALL]") :]
    found = read_run([RunFile("ycsb.out", summary.encode())], ReadOptions())
    assert found.samples == ()
    assert found.obstacles == ("ycsb.out: no status line has percentiles (run YCSB with `-s`)",)
    assert {one.operation: one.count for one in found.whole_run} == {"reads": 1400, "writes": 100}


@pytest.mark.parametrize("left", ["[UPD", "[UPDATE:", "[UPDATE: Cou", ""])
def test_a_last_status_that_ends_before_all_its_operations_is_left_out(left: str) -> None:
    first, second = STATUS.splitlines()[:2]
    third = second.partition("[UPDATE")[0].replace(":40:", ":50:").replace("10 sec", "20 sec") + left
    found = read_run([RunFile("ycsb.out", "\n".join([first, second, third]).encode())], ReadOptions())
    assert [(one.operation, one.count) for one in found.samples] == [("reads", 900), ("writes", 100)]
    assert any("the last status is cut short" in note for note in found.notes)


@pytest.mark.parametrize("begun", ["[READ: C", "[READ: Count=1, ", "[READ: Count=1, 99=1, "])
def test_a_status_of_many_brackets_that_are_not_closed_is_soon_read(begun: str) -> None:
    lines = f"2024-01-01 10:00:00:000 1 sec: 1 operations; {begun * 10_000}]\n"
    assert not read_run([RunFile("ycsb.out", lines.encode())], ReadOptions()).samples
