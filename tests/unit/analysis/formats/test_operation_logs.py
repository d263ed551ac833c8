"""Logs with a line for each operation, of programs that Plimsoll does not know."""

import gzip
from collections.abc import Iterable
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.analysis.attempt.judgement import Run
from plimsoll.analysis.attempt.service_level_evaluation import judge_reading
from plimsoll.analysis.logs.formats import Reading, ReadOptions, RunFile, read_run
from plimsoll.analysis.logs.hdr.histograms import Decoder, reported_values
from plimsoll.analysis.logs.operations import Track
from plimsoll.domain.keys.log_words import COORDINATED_OMISSION, pairs
from plimsoll.domain.keys.service_level import ServiceLevel
from plimsoll.domain.text.errors import LogError
from plimsoll.domain.text.units import parse_duration

START_S = 1_761_991_200
COLUMNS = "time=ts,latency=elapsed_ms,ok=success"


def file(*lines: str, name: str = "run.csv") -> RunFile:
    return RunFile(name, "".join(f"{line}\n" for line in lines).encode())


def read(*files: RunFile, columns: str = COLUMNS, **options: object) -> Reading:
    return read_run(files, ReadOptions(columns=pairs([columns]), **options))  # type: ignore[arg-type]


def values(track: Track) -> list[list[int]]:
    """Return the reported values of each record, µs."""
    reported = reported_values()
    found = [Decoder("us").merge_used([record], track.name) for record in track.records]
    return [[int(reported[slot]) for slot in np.flatnonzero(counts) for _ in range(counts[slot])] for counts in found]


def rows(times_s: Iterable[float], took_ms: float = 2, ok: str = "true") -> list[str]:
    return [f"{START_S + at_s:.3f},{took_ms},{ok}" for at_s in times_s]


def test_operations_count_in_the_second_of_their_end_and_failures_in_that_of_their_send() -> None:
    found = read(
        file("ts,elapsed_ms,success", f"{START_S},500,true", f"{START_S}.9,1.5,false", f"{START_S}.9,200,true")
    )
    [track], [failures] = found.tracks, found.failures
    assert values(track) == [[500_223], [200_063]]
    assert found.started_at == datetime.fromtimestamp(START_S, UTC)
    assert (failures.kind, failures.operation, failures.at_s.tolist()) == ("failed", "", [START_S + 0.5])
    assert (found.errors, failures.counts.tolist()) == ({"failed": 1}, [1])
    assert any(COORDINATED_OMISSION in note for note in found.notes)
    assert found.unit.why == "counted in us, of times in ms"


@pytest.mark.parametrize(
    ("columns", "line"),
    [
        ("due=t:s,latency=l:us", "t,l\n1761991200.25,1234"),
        ("due=t,latency=l:us", "t,l\n1761991200250,1234"),
        ("due=t,latency=l_ns", 't;"l_ns"\n1761991200250000;1234000'),
        ("due=t,latency=l:us", "t\tl\n2025-11-01T10:00:00.250Z\t1234"),
        ("due=t,latency=l:us", "t|l\n2025-11-01 10:00:00.25|1234"),
        ("due=1,latency=3:us", "1761991200250000000,x,1234"),
        ("due=1,latency=3:us", "when,what,long\n1761991200.25,x,1234"),
        ("due=1,latency=3:us,delimiter=space", "1761991200.25   x  1234"),
        ("due=a.t,latency=a.l:us", '{"a":{"t":"2025-11-01T11:00:00.25+01:00","l":1234}}'),
        ("due=t:ms,end=e:ms", "t,e\n1761991200250,1761991200251.234"),
        ("end=e:us,response=l:us", "e,l\n1761991200251234,1234"),
    ],
)
def test_the_same_operation_in_many_forms(columns: str, line: str) -> None:
    found = read(RunFile("f", f"{line}\n".encode()), columns=columns)
    assert [values(track) for track in found.tracks] == [[[1_234]]]
    assert found.tracks[0].starts[0] == pytest.approx(START_S + 0.25, abs=1e-5)
    assert found.notes == ()


def test_times_may_count_from_the_runs_start() -> None:
    found = read(file("offset,l", "0.25,1", "1.5,1"), columns="due=offset:s,latency=l:ms")
    assert (values(found.tracks[0]), found.started_at) == ([[1_000], [1_000]], None)


def test_a_header_that_names_its_columns_as_the_option_does_needs_no_option() -> None:
    found = read_run([file("due_ms,latency_us,operation,ok", "0,1200,read,OK", "900,7,insert,KO")], ReadOptions())
    assert {track.operation: values(track) for track in found.tracks} == {"reads": [[1_200]], "writes": [[]]}
    assert [(failures.operation, failures.kind) for failures in found.failures] == [("writes", "failed")]


@pytest.mark.parametrize(
    ("head", "line", "columns", "message"),
    [
        ("t,l", "0.5,3", "time=t,latency=l:ms", "does not say the unit of its times"),
        ("t_s,l", "0.5,3", "time=t_s,latency=l", "does not say the unit of its latencies"),
        ("t_s,l", "noon,3", "time=t_s,latency=l:ms", "'noon' in column t_s is neither a number nor a date"),
        ("t_s,l", "0.5,3", "time=t_s,latency=took", "has no column took in its first line: t_s, l"),
        ("t_s,l,rc", "0.5,3,FINE", "time=t_s,latency=l:ms,ok=rc", "'FINE' in column rc is an answer"),
        ("t_s,l", "0.5,4000000", "time=t_s,latency=l:ms", "a latency of 4,000 s"),
        ("t_s,l", "0.5,-1", "time=t_s,latency=l:ms", "a latency below zero"),
    ],
)
def test_what_is_not_said_is_asked_for_and_what_can_not_be_is_refused(
    head: str, line: str, columns: str, message: str
) -> None:
    with pytest.raises(LogError, match=message) as refused:
        read(file(head, line), columns=columns)
    assert refused.value.where.startswith("run.csv")
    assert refused.value.mend


def test_unit_gives_that_of_latencies_and_must_not_contradict_a_name() -> None:
    log = file("t_s,l", "0.5,3")
    assert values(read(log, columns="due=t_s,latency=l", unit="ms").tracks[0]) == [[3_001]]
    with pytest.raises(LogError, match="are in us, by the name or the unit of column l_us, not in ms"):
        read(file("t_s,l_us", "0.5,3"), columns="due=t_s,latency=l_us", unit="ms")


@pytest.mark.parametrize(
    ("values_of_ok", "errors"),
    [
        (("200", "302", "404", "503"), {"404": 1, "503": 1}),
        (("OK", "KO", "ok", "timeout"), {"failed": 1, "timeout": 1}),
        (("1", "0", "TRUE", "No"), {"failed": 2}),
    ],
)
def test_words_and_statuses_tell_what_was_answered(values_of_ok: tuple[str, ...], errors: dict[str, int]) -> None:
    lines = [f"{place / 10},1,{word}" for place, word in enumerate(values_of_ok)]
    assert read(file("t_s,l,rc", *lines), columns="due=t_s,latency=l:ms,ok=rc").errors == errors


def test_the_user_says_which_values_are_answers_and_an_errors_text_is_its_kind() -> None:
    log = file("t_s,l,rc,why", "0,1,0,", "0.1,,7,timed out", "0.2,1,9,")
    found = read(log, columns="due=t_s,latency=l:ms,ok=rc:0|9,error=why")
    assert (found.errors, values(found.tracks[0])) == ({"7": 1}, [[1_000, 1_000]])
    assert read(log, columns="due=t_s,latency=l:ms,error=why").errors == {"timed out": 1}


def test_where_no_column_tells_of_failures_they_are_unknown() -> None:
    assert read(file("t_s,l", "0,1"), columns="due=t_s,latency=l:ms").errors is None
    assert read(file("t_s,l,ok", "0,1,true"), columns="due=t_s,latency=l:ms,ok=ok").errors == {}


def test_where_no_line_of_json_tells_of_failures_they_are_unknown() -> None:
    """A key that is misspelt is in no line, and one of failures alone may be in none."""
    fine, failing = '{"t_s":0,"l":1}', '{"t_s":0.1,"l":1,"why":"timed out"}'
    columns = "due=t_s,latency=l:ms,error=why"
    assert read(file(fine), columns=columns).errors is None
    for value in ('""', "null", "false"):
        assert read(file(f'{{"t_s":0,"l":1,"why":{value}}}'), columns=columns).errors == {}
    assert read(file(fine, failing), columns=columns).errors == {"timed out": 1}
    assert read(file('{"t_s":0,"l":1,"rc":0}'), columns="due=t_s,latency=l:ms,ok=rc:0,error=why").errors == {}


def hung(*failing: tuple[float, float], until_s: float, pause_s: float = 0.05) -> RunFile:
    """Return the log of answers every so often up to that time, and of failures: when sent, and how long waited for."""
    answered = [(at_s, 2.0, "true") for at_s in np.arange(0, until_s, pause_s).tolist()]
    every = sorted([*answered, *((at_s, 1000 * length_s, "false") for at_s, length_s in failing)])
    return file("ts,elapsed_ms,success", *(f"{START_S + at_s:.3f},{took_ms},{ok}" for at_s, took_ms, ok in every))


@pytest.mark.parametrize("windows", ["aligned", "sliding"])
@pytest.mark.parametrize(
    ("log", "valid", "stalls_s"),
    [
        # All threads wait until they give up, and send anew then
        (hung(*[(31.0, 30.0)] * 9, *[(61.5, 0.1)] * 9, until_s=31), True, {40.0, 50.0}),
        # They never send anew: the interval before has missed, and the rest may lie behind the load's end
        (hung(*[(31.0, 30.0)] * 9, until_s=31), True, set()),
        # One of many waits beyond the load's end: nothing is known of that time
        (hung((20.5, 40.0), until_s=30), False, set()),
    ],
)
def test_nothing_is_answered_while_operations_wait_until_they_time_out(
    log: RunFile, valid: bool, stalls_s: set[float], windows: str
) -> None:
    level = ServiceLevel.model_validate({"percentile": 99, "interval": "10s", "below": "100ms", "windows": windows})
    judged = judge_reading(read(log), Run(warmup=parse_duration("0s")), [level])
    assert judged.valid is valid
    assert not valid or judged.met is False
    assert stalls_s <= set(judged.stalls_s)
    if valid and windows == "aligned":  # what may lie behind the load's end is not judged
        assert judged.levels[0].missed == 1 + len(stalls_s)
        assert judged.achieved_ops_s == pytest.approx(620 / (60 if stalls_s else 40), rel=0.1)
    assert valid or "no operation" in judged.reasons[0]


def test_other_operations_count_where_those_of_the_service_level_may_be_over() -> None:
    reads = [(at_s, 2.0, "read", "true") for at_s in np.arange(0, 30, 0.05).tolist()]
    writes = [(at_s, 2.0, "write", "true") for at_s in np.arange(0.01, 60, 0.05).tolist()]
    every = sorted([*reads, *writes, *[(29.5, 31_000.0, "read", "false")] * 9])
    lines = (f"{START_S + at_s:.3f},{took_ms},{name},{ok}" for at_s, took_ms, name, ok in every)
    log = file("ts,elapsed_ms,op,success", *lines)
    level = ServiceLevel.model_validate({"percentile": 99, "interval": "10s", "below": "100ms", "operations": "reads"})
    judged = judge_reading(read(log, columns=f"{COLUMNS},operation=op"), Run(warmup=parse_duration("0s")), [level])
    assert sum(row.count for row in judged.intervals.select("judged", "writes")) == 1200


def test_a_run_in_which_nothing_was_answered_covers_its_time() -> None:
    found = read(file("ts,elapsed_ms,success", *rows(np.arange(0, 5, 0.5), ok="false")))
    assert values(found.tracks[0]) == [[]] * 5
    assert (found.errors, found.failures[0].total) == ({"failed": 10}, 10)


def test_rows_of_several_threads_may_be_out_of_order_but_a_clock_may_not_go_back() -> None:
    times = [*np.arange(0, 10, 0.1), 9.0, 9.2]
    assert read(file("ts,elapsed_ms,success", *rows(times))).tracks
    with pytest.raises(LogError, match=r"goes back by 8\.\d+ s: the clock was set") as refused:
        read(file("ts,elapsed_ms,success", *rows([*np.arange(0, 10, 0.1), *np.arange(1.5, 12, 0.1)])))
    assert refused.value.where == "run.csv, line 102"


def test_long_operations_that_were_sent_long_before_they_are_written_are_in_order() -> None:
    lines = [*rows(np.arange(0, 9, 0.1)), f"{START_S},9000,true", *rows(np.arange(9, 12, 0.1))]
    assert read(file("ts,elapsed_ms,success", *lines)).tracks


def test_a_clock_that_was_set_forward_leaves_a_silence_which_a_stall_does_not() -> None:
    begin = rows(np.arange(0, 10, 0.02))
    with pytest.raises(LogError, match=r"nothing ends and nothing is under way for \d s, 10 s after its begin"):
        read(file("ts,elapsed_ms,success", *begin, *rows(np.arange(14.5, 25, 0.02))))
    stalled = f"{START_S + 9.99:.3f},4600,true"
    assert read(file("ts,elapsed_ms,success", *begin, stalled, *rows(np.arange(14.5, 25, 0.02)))).tracks


def test_a_slow_load_is_silent_by_chance() -> None:
    assert read(file("ts,elapsed_ms,success", *rows([0, 4, 5, 12, 13, 20, 31]))).tracks


def test_the_logs_of_two_threads_are_one_run_and_one_that_ends_before_the_other_is_a_fault() -> None:
    first = file("ts,elapsed_ms,success", *rows(np.arange(0, 30, 0.1)), name="a")
    level = ServiceLevel(percentile=90, interval=parse_duration("5s"), below=parse_duration("1s"))
    whole = file("ts,elapsed_ms,success", *rows(np.arange(0.3, 30, 0.1)), name="b")
    assert judge_reading(read(first, whole), Run(warmup=parse_duration("0s")), [level]).met
    early = file("ts,elapsed_ms,success", *rows(np.arange(0.3, 13, 0.1)), name="b")
    judged = judge_reading(read(first, early), Run(warmup=parse_duration("0s")), [level])
    assert not judged.valid
    assert "b: ends 17" in judged.reasons[0]
    with pytest.raises(LogError, match="holds the same records as a"):
        read(first, RunFile("b", first.data))


def test_a_line_of_garbage_is_named_and_a_last_line_cut_short_is_left_out() -> None:
    lines = rows([0, 0.1, 0.2])
    with pytest.raises(LogError, match="no line of a log of operations: '##'") as refused:
        read(file("ts,elapsed_ms,success", lines[0], "##", lines[1]))
    assert refused.value.where == "run.csv, line 3"
    with pytest.raises(LogError, match=r"holds no time, or no latency: '1761991200\.000', 'x'"):
        read(file("ts,elapsed_ms,success", lines[0], f"{START_S}.000,x,true"))
    cut = "\n".join(["ts,elapsed_ms,success", *lines])[:-6]
    found = read(RunFile("run.csv", cut.encode()))
    assert values(found.tracks[0]) == [[2_000, 2_000]]
    assert "run.csv, line 4: the last line is cut short" in found.notes[0]


def test_a_row_with_more_fields_than_the_header_is_refused_as_its_columns_may_be_shifted() -> None:
    header, columns = "t_s,latency_ms,operation,ok", "due=t_s,latency=latency_ms,operation=operation,ok=ok"
    with pytest.raises(LogError, match="has 5 fields, the header 4") as refused:
        read(file(header, "0,1,items,True", "0.1,1,items?ids=1,2,True"), columns=columns)
    assert (refused.value.where, "quote texts" in refused.value.mend) == ("run.csv, line 3", True)
    quoted = read(file(header, "0,1,items,True", '0.1,1,"items?ids=1,2",True'), columns=columns)
    assert {track.operation for track in quoted.tracks} == {"items", "items?ids=1,2"}


def test_lines_of_json_are_checked_like_those_of_csv() -> None:
    good = '{"t":1761991200,"l":1}'
    with pytest.raises(LogError, match="no line of a log of operations") as refused:
        read(file(good, '{"t":17', good), columns="due=t,latency=l:ms")
    assert refused.value.where == "run.csv, line 2"
    found = read(RunFile("f", f'{good}\n{{"t":17'.encode()), columns="due=t,latency=l:ms")
    assert (values(found.tracks[0]), len(found.notes)) == ([[1_000]], 1)


def test_a_time_far_off_and_a_line_without_end_are_refused() -> None:
    with pytest.raises(LogError, match="a time is damaged"):
        read(file("ts,elapsed_ms,success", *rows([0, 0.1]), "2761991200,2,true"))
    with pytest.raises(LogError, match="is longer than"):
        read(file("ts,elapsed_ms,success", f"{START_S},{'1' * (1 << 20)},true"))


def test_only_some_rows_count_where_the_user_says_so_and_tags_name_operations() -> None:
    log = file("kind,t_s,l,op", "Metric,x,x,x", "Point,0,1,read", "Point,0.5,2,ping")
    columns = "due=t_s,latency=l:ms,operation=op,only=kind:Point"
    assert {track.operation for track in read(log, columns=columns).tracks} == {"reads", "ping"}
    assert [track.operation for track in read(log, columns=columns, tags=("read",)).tracks] == ["reads"]


@pytest.mark.parametrize("tags", [("read", "pnig"), ("pnig",)])
@pytest.mark.parametrize("form", ["{0},{1},{2}", '{{"t_s":{0},"l":{1},"op":"{2}"}}'])
def test_a_tag_that_names_no_operation_is_refused(tags: tuple[str, ...], form: str) -> None:
    lines = [form.format(at_s, 1, name) for at_s, name in ((0, "read"), (0.5, "ping"))]
    log = file(*lines) if "{" in lines[0] else file("t_s,l,op", *lines)
    with pytest.raises(LogError, match="no line has the operation 'pnig'") as refused:
        read(log, columns="due=t_s,latency=l:ms,operation=op", tags=tags)
    assert refused.value.mend.startswith("did you mean 'ping'?")


def test_tags_are_refused_where_no_column_names_operations() -> None:
    named, unnamed = file("due_s,latency_ms,operation", "0,1,read"), file("due_s,latency_ms", "0,1", name="other.csv")
    with pytest.raises(LogError, match="no line has the operation 'read'") as refused:
        read_run([named, unnamed], ReadOptions(tags=("read",)))
    assert (refused.value.where, refused.value.mend) == ("other.csv", "leave `--tags` out: no line has any operation")


def test_an_operation_that_is_called_like_the_total_does_not_replace_it() -> None:
    lines = [f"{place / 10},{500 if place % 2 else 5},{'slow' if place % 2 else 'all'},OK" for place in range(200)]
    log = file("due_s,latency_ms,operation,ok", *lines, "19.9,1,all,KO")
    level = ServiceLevel(percentile=99, interval=parse_duration("10s"), below=parse_duration("100ms"))
    found = read_run([log], ReadOptions())
    judged = judge_reading(found, Run(warmup=parse_duration("0s")), [level])
    assert judged.met is False
    assert judged.intervals.operations == ("operation all", "slow")
    assert [failures.operation for failures in found.failures] == ["operation all"]
    named = judge_reading(
        read_run([log], ReadOptions(kinds={"all": "reads"})), Run(warmup=parse_duration("0s")), [level]
    )
    assert named.intervals.operations == ("reads", "slow")


def test_a_log_and_its_gz_are_one_log_given_twice() -> None:
    log = file("ts,elapsed_ms,success", *rows([0, 0.1, 1.2]))
    with pytest.raises(LogError, match=r"holds the same records as run\.csv"):
        read(log, RunFile("run.csv.gz", gzip.compress(log.data)))


@pytest.mark.parametrize("first_ms", [2, 7])
def test_a_first_row_of_numbers_is_no_header(first_ms: int) -> None:
    found = read(file(f"{START_S}.1,{first_ms}", f"{START_S}.2,7"), columns="due=1,latency=2:ms")
    assert sum(map(len, values(found.tracks[0]))) == 2


def test_a_run_too_long_for_its_operations_and_files_says_what_helps() -> None:
    times_s = range(0, 600_001, 100)
    long = [file("due_s,latency_ms", *(f"{at_s}.{one},1" for at_s in times_s), name=f"{one}.csv") for one in (0, 1)]
    with pytest.raises(LogError, match=r"hold 600,00\d s of 2 operations or files") as refused:
        read_run(long, ReadOptions())
    assert "a shorter run" in refused.value.mend
    assert "operation" not in refused.value.mend
    named = file("due_s,latency_ms,operation", *(f"{at_s},1,{at_s % 200}" for at_s in times_s))
    with pytest.raises(LogError, match="hold 600,000 s of 2 operations or files") as refused:
        read_run([named], ReadOptions())
    assert "`--columns` without `operation`" in refused.value.mend


def test_too_many_names_are_no_operations() -> None:
    log = file("t_s,l,op", *(f"0.{number:03d},1,{number}" for number in range(200)))
    with pytest.raises(LogError, match="has more than 100 operations"):
        read(log, columns="due=t_s,latency=l:ms,operation=op")


def test_columns_and_another_format_contradict_each_other() -> None:
    with pytest.raises(LogError, match="not of JMeter results"):
        read_run([file("ts,l", "0,1")], ReadOptions(columns={"time": "ts", "latency": "l"}), "jmeter")


def test_many_chunks_count_like_one() -> None:
    times = np.sort(np.random.default_rng(7).uniform(0, 40, 70_000))
    found = read(file("ts,elapsed_ms,success", *rows(times)))
    counts = [len(of_second) for of_second in values(found.tracks[0])]
    assert sum(counts) == 70_000
    assert min(counts[:-1]) > 1_000


def test_a_number_that_no_time_can_be_is_named_with_its_line() -> None:
    with pytest.raises(LogError, match="holds no time, or no latency") as refused:
        read(file("ts,elapsed_ms,success", *rows([0]), "17619912000120002000,2,true"))
    assert refused.value.where == "run.csv, line 3"
    with pytest.raises(LogError, match="holds no time"):
        read(file("t_us,l", "1761991200012000200013000,10"), columns="time=t_us,latency=l:us")


@pytest.mark.parametrize("role", ["ok", "operation", "error", "only=COLUMN:1"])
def test_a_column_that_is_not_there_is_refused_and_never_left_out(role: str) -> None:
    name, _, column = role.partition("=")
    columns = f"due=t_s,latency=l:ms,{name}={(column or 'COLUMN').replace('COLUMN', 'sucess')}"
    with pytest.raises(LogError, match="has no column sucess") as refused:
        read(file("t_s,l,success", "0,1,true"), columns=columns)
    assert "did you mean 'success'" in refused.value.mend
    if name == "operation":
        with pytest.raises(LogError, match="has no column sucess"):
            read(file('{"t_s":0,"l":1}'), columns=columns.replace(":1", ""))


def test_a_column_whose_name_is_there_twice_is_asked_about() -> None:
    log = file("t_s,l,l,x,x", "0,1,9,a,b")
    with pytest.raises(LogError, match="has several columns l") as refused:
        read(log, columns="due=t_s,latency=l:ms")
    assert "by its number" in refused.value.mend
    assert values(read(log, columns="due=1:s,latency=3:ms").tracks[0]) == [[9_007]]


def test_an_outcome_that_is_empty_is_asked_about() -> None:
    with pytest.raises(LogError, match="whether '' in column rc is an answer") as refused:
        read(file("t_s,l,rc", "0,1,OK", "0.1,1,"), columns="due=t_s,latency=l:ms,ok=rc")
    assert refused.value.where == "run.csv, line 3"


@given(
    st.integers(0, 60),
    st.integers(0, 60),
    st.one_of(st.binary(max_size=12), st.sampled_from([b"9" * 400, b"nan", b"-1", b'"', b"\r", b"1e300"])),
)
def test_a_damaged_log_is_read_or_refused_and_nothing_else(begin: int, length: int, put_in: bytes) -> None:
    whole = b"due_ms,latency_us,operation,ok\n0,1200,read,OK\n900,7,insert,KO\n1900,3,scan,OK\n"
    found = read_or_refused(whole[:begin] + put_in + whole[begin + length :])
    assert found is None or found.tracks


def read_or_refused(data: bytes) -> Reading | None:
    try:
        return read_run([RunFile("run.csv", data)], ReadOptions())
    except LogError:
        return None
