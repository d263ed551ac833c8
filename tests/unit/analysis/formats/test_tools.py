"""Logs of operations of well-known load generators: lines that they wrote, or of the form that their sources write."""

import gzip
from collections.abc import Mapping

import pytest

from plimsoll.analysis.logs.formats import Reading, ReadOptions, RunFile, read_run
from plimsoll.analysis.logs.hdr.histograms import Decoder
from plimsoll.domain.keys.log_words import COORDINATED_OMISSION
from plimsoll.domain.text.errors import LogError

JMETER = (
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,"
    "grpThreads,allThreads,URL,Latency,IdleTime,Connect\n"
)
JMETER_ROWS = (
    "1761991200012,14,select,200,OK,users 1-1,text,true,,120,0,8,8,null,14,0,0\n"
    '1761991200020,220,insert,500,"Lock\nwait",users 1-2,text,false,"Test failed, twice",120,0,8,8,null,220,0,0\n'
)
HEY = (
    "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n"
    "0.0027,0.0007,0.0000,0.0001,0.0016,0.0001,200,0.0444\n"
    "0.1032,0.0011,0.0000,0.0001,0.0016,0.0002,503,0.0450\n"
)
OHA = (
    "request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status\n"
    "0.0018,0.000025,0.000129,0.00072,0.00104,2,200\n"
    "0.0021,0,0,0.0009,0.00112,2,503\n"
)
VEGETA_CSV = (
    "1795861145967527853,200,3839604,0,2,,b2s=,,0,GET,http://127.0.0.1:18765/,Q29u\n"
    "1795861146987560971,503,44457928,0,2,503 Service Unavailable,b2s=,,51,GET,http://127.0.0.1:18765/,Q29u\n"
    "1795861147007826439,0,1583480,0,0,connection refused,,,2,GET,http://127.0.0.1:18765/,\n"
)
VEGETA_JSON = (
    '{"attack":"","seq":0,"code":200,"timestamp":"2026-11-28T10:19:05.967527853Z","latency":3839604,"bytes_out":0,'
    '"bytes_in":2,"error":"","body":"b2s=","method":"GET","url":"http://127.0.0.1:18765/","headers":{}}\n'
    '{"attack":"","seq":51,"code":503,"timestamp":"2026-11-28T10:19:06.987560971Z","latency":44457928,"bytes_out":0,'
    '"bytes_in":2,"error":"503 Service Unavailable","body":"b2s=","method":"GET","url":"http://127.0.0.1:18765/"}\n'
    '{"attack":"","seq":2,"code":0,"timestamp":"2026-11-28T10:19:07.007826439Z","latency":1583480,"bytes_out":0,'
    '"bytes_in":0,"error":"connection refused","body":null,"method":"GET","url":"http://127.0.0.1:18765/"}\n'
)
K6_CSV = (
    "metric_name,timestamp,metric_value,check,error,error_code,expected_response,group,method,name,proto,scenario,"
    "service,status,subproto,tls_version,url,extra_tags,metadata\n"
    "http_reqs,1795861152,1.000000,,,,true,,GET,http://db/,HTTP/1.1,a,,200,,,http://db/,,\n"
    "http_req_duration,1795861152,0.718345,,,,true,,GET,http://db/,HTTP/1.1,a,,200,,,http://db/,,\n"
    "http_req_duration,1795861152,3.5,,,1503,false,,GET,http://db/,HTTP/1.1,a,,503,,,http://db/,,\n"
    "http_req_sending,1795861152,0.025036,,,,true,,GET,http://db/,HTTP/1.1,a,,200,,,http://db/,,\n"
    "dropped_iterations,1795861153,3.000000,,,,,,,,,a,,,,,,,\n"
)
K6_JSON = (
    '{"type":"Metric","data":{"name":"http_req_duration","type":"trend","contains":"time"},"metric":"http_req_duration"}\n'
    '{"metric":"http_req_duration","type":"Point","data":{"time":"2026-11-28T10:19:12.142274645Z","value":0.718345,'
    '"tags":{"expected_response":"true","status":"200"}}}\n'
    '{"metric":"http_req_duration","type":"Point","data":{"time":"2026-11-28T10:19:12.2Z","value":3.5,'
    '"tags":{"expected_response":"false","status":"503","error_code":"1503"}}}\n'
    '{"metric":"dropped_iterations","type":"Point","data":{"time":"2026-11-28T10:19:13.183772892Z","value":3,'
    '"tags":{"scenario":"a"}}}\n'
)
GATLING = (
    "RUN\tbasic.Sim\tsim\t1761991200000\t \t3.9.5\n"
    "USER\tScn\tSTART\t1761991200100\n"
    "REQUEST\t\tselect\t1761991200110\t1761991200124\tOK\t \n"
    'REQUEST\tgroup\tselect\t1761991200110\t1761991201110\tKO\tstatus "503", found\n'
    "USER\tScn\tEND\t1761991201200\n"
)
GATLING_2 = (
    "RUN\tbasic.Sim\t\tsim\t1761991200000\t \t2.0\n"
    "REQUEST\tScn\t1\t\tselect\t1761991200110\t1761991200124\tOK\t \n"
    "REQUEST\tScn\t2\t\tselect\t1761991200110\t1761991201110\tKO\tlate\n"
)
YCSB_RAW = (
    "[OVERALL], RunTime(ms), 2345\n"
    "READ latency raw data: op, timestamp(ms), latency(us)\n"
    "READ,1761991200012,1213\n"
    "READ,1761991200914,151213\n"
    "[READ], Total Operations, 2\n"
    "UPDATE latency raw data: op, timestamp(ms), latency(us)\n"
    "UPDATE,1761991200013,900\n"
    "READ-FAILED latency raw data: op, timestamp(ms), latency(us)\n"
    "READ-FAILED,1761991200500,10\n"
)
GO_YCSB = (
    "operation,timestamp_us,latency_us\n"
    "READ,1761991200012000,1213\n"
    "TOTAL,1761991200012000,1213\n"
    "READ_MODIFY_WRITE,1761991200012000,1213\n"
    "READ_ERROR,1761991200013000,10\n"
)
FIO = "0, 169029, 0, 4096, 0\n12, 8861, 1, 4096, 0\n1220, 220100, 0, 4096, 0\n"

WRITTEN: Mapping[str, tuple[str, str, dict[str, list[int]], dict[str, int] | None]] = {
    "jmeter.jtl": ("JMeter results (JTL as CSV)", JMETER + JMETER_ROWS, {"reads": [1], "writes": [0]}, {"500": 1}),
    "nohead.jtl": ("JMeter results (JTL as CSV)", JMETER_ROWS, {"reads": [1], "writes": [0]}, {"500": 1}),
    "hey.csv": ("hey results (CSV)", HEY, {"": [1]}, {"503": 1}),
    "oha.csv": ("oha results (CSV)", OHA, {"": [1]}, {"503": 1}),
    "vegeta.csv": ("vegeta results", VEGETA_CSV, {"": [1, 0]}, {"503": 1, "connection refused": 1}),
    "vegeta.json": ("vegeta results", VEGETA_JSON, {"": [1, 0]}, {"503": 1, "connection refused": 1}),
    "k6.csv": ("k6 results", K6_CSV, {"": [1, 0]}, {"1503": 1, "dropped_iterations": 3}),
    "k6.json": ("k6 results", K6_JSON, {"": [1, 0]}, {"1503": 1, "dropped_iterations": 3}),
    "simulation.log": ("Gatling simulation.log", GATLING, {"reads": [1, 0]}, {'status "503", found': 1}),
    "older.log": ("Gatling simulation.log", GATLING_2, {"reads": [1, 0]}, {"late": 1}),
    "raw.log": ("YCSB raw measurements", YCSB_RAW, {"reads": [2], "writes": [1]}, {"FAILED": 1}),
    "go.csv": ("go-ycsb measurements (CSV)", GO_YCSB, {"reads": [1]}, {"ERROR": 1}),
    "f_clat.1.log": ("fio latency log", FIO, {"reads": [1, 1], "writes": [1, 0]}, {}),
}


def read(text: str, name: str, **options: object) -> Reading:
    return read_run([RunFile(name, text.encode())], ReadOptions(**options))  # type: ignore[arg-type]


def counts(reading: Reading) -> dict[str, list[int]]:
    """Return the number of operations in each record, by operation."""
    decoder = Decoder("us")
    return {
        track.operation: [int(decoder.merge_used([record], track.name).sum()) for record in track.records]
        for track in reading.tracks
    }


@pytest.mark.parametrize("name", WRITTEN)
def test_operations_count_by_second_and_failures_are_told_apart(name: str) -> None:
    title, text, answered, errors = WRITTEN[name]
    found = read(text, name)
    assert (found.title, counts(found), found.errors) == (title, answered, errors)
    assert sum(failures.total for failures in found.failures) == sum((errors or {}).values())
    assert any(COORDINATED_OMISSION in note for note in found.notes)


@pytest.mark.parametrize("name", WRITTEN)
def test_a_unit_that_contradicts_a_tools_own_is_refused(name: str) -> None:
    if name in ("simulation.log", "older.log"):
        return  # it has starts and ends, in one unit
    unit = "us" if name not in ("raw.log", "go.csv") else "ms"
    with pytest.raises(LogError, match=f"not in {unit}"):
        read(WRITTEN[name][1], name, unit=unit)


def test_dropped_iterations_stand_in_the_second_in_which_they_were_due() -> None:
    [dropped] = [failures for failures in read(K6_JSON, "k6.json").failures if failures.kind == "dropped_iterations"]
    assert dropped.counts.tolist() == [3]
    assert int(dropped.at_s[0]) == 1_795_861_153


def test_another_trend_of_k6_is_judged_by_its_name() -> None:
    waiting = K6_CSV.replace("http_req_duration", "http_req_waiting")
    with pytest.raises(LogError, match="holds no operation that is judged") as refused:
        read(waiting.replace("dropped_iterations", "vus"), "k6.csv")
    assert "--tags grpc_req_duration" in refused.value.mend
    assert counts(read(waiting, "k6.csv", tags=("http_req_waiting",))) == {"http_req_waiting": [1, 0]}


@pytest.mark.parametrize("name", ["k6.csv", "k6.json"])
def test_a_grpc_request_of_k6_is_answered_where_its_status_is_0(name: str) -> None:
    head = K6_CSV.splitlines(keepends=True)[0]
    row = "grpc_req_duration,1795861152,3.5,,,,,,Get,,,a,svc,{},,,db:50051,,\n"
    if name == "k6.json":
        head = K6_JSON.splitlines(keepends=True)[0].replace("http_req", "grpc_req")
        row = (
            '{{"metric":"grpc_req_duration","type":"Point","data":{{"time":"2026-11-28T10:19:12.2Z","value":3.5,'
            '"tags":{{"status":"{}"}}}}}}\n'
        )
    found = read(head + "".join(map(row.format, (0, 0, 1, 14))), name, tags=("grpc_req_duration",))
    assert (counts(found), found.errors) == ({"grpc_req_duration": [2]}, {"1": 1, "14": 1})


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("a.jtl", JMETER + JMETER_ROWS), ("b.jtl", JMETER_ROWS.replace("17619912000", "17619912001"))),
        (("a.log", GATLING), ("b.log", GATLING_2)),
    ],
    ids=["with and without a header", "of two versions"],
)
def test_files_in_several_forms_are_added_up_where_these_are_no_two_outputs_of_one_run(
    first: tuple[str, str], second: tuple[str, str]
) -> None:
    both = read_run([RunFile(name, text.encode()) for name, text in (first, second)], ReadOptions())
    alone = [read(text, name) for name, text in (first, second)]
    assert len(both.tracks) == sum(len(reading.tracks) for reading in alone)
    assert sum((both.errors or {}).values()) == sum(sum((reading.errors or {}).values()) for reading in alone) == 2


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("run_clat.1.log", FIO), ("run_lat.1.log", FIO.replace(", 0\n", ", 1\n"))),
        (("k6.csv", K6_CSV), ("k6.json", K6_JSON)),
        (("vegeta.csv", VEGETA_CSV), ("vegeta.json", VEGETA_JSON)),
    ],
)
def test_two_forms_or_measures_of_the_same_operations_are_not_added_up(
    first: tuple[str, str], second: tuple[str, str]
) -> None:
    files = [RunFile(name, text.encode()) for name, text in (first, second)]
    with pytest.raises(LogError, match="are of several forms or measures") as refused:
        read_run(files, ReadOptions())
    assert refused.value.where == f"{first[0]}, {second[0]}"


def test_the_logs_of_several_jobs_of_fio_are_one_run() -> None:
    other = FIO.replace("4096", "8192").replace("8861", "9999")
    files = [RunFile("run_clat.1.log", FIO.encode()), RunFile("run_clat.2.log", other.encode())]
    assert len(read_run(files, ReadOptions()).tracks) == 4


def test_a_first_row_of_numbers_is_no_header_though_they_are_those_of_columns() -> None:
    assert counts(read("1, 169029, 0, 4096, 0\n2, 8861, 0, 4096, 0\n", "f_clat.1.log")) == {"reads": [2]}


@pytest.mark.parametrize("variables", [',"user"', ',"MY VAR","OTHER"'])
def test_a_header_of_jmeter_names_its_sample_variables_in_quotation_marks(variables: str) -> None:
    values = ",bob" * variables.count(",")
    row = f"1761991200012,14,select,200,OK,users 1-1,text,true,,120,0,8,8,null,14,0,0{values}\n"
    assert counts(read(JMETER.replace("\n", f"{variables}\n") + row, "run.jtl")) == {"reads": [1]}


@pytest.mark.parametrize(
    "name", ["jmeter.jtl", "k6.csv", "k6.json", "go.csv", "vegeta.json", "hey.csv", "f_clat.1.log"]
)
def test_a_tag_that_no_row_has_is_refused(name: str) -> None:
    with pytest.raises(LogError, match="no line has the operation 'selekt'") as refused:
        read(WRITTEN[name][1], name, tags=("selekt",))
    known = {
        "jmeter.jtl": "did you mean 'select'",
        "k6.csv": "http_req_sending",
        "go.csv": "READ",
        "f_clat.1.log": "0, 1",
    }
    assert known.get(name, "") in refused.value.mend


def test_transactions_of_jmeter_beside_their_samples_are_asked_about() -> None:
    transaction = (
        '1761991200012,234,both,200,"Number of samples in transaction : 2, number of failing samples : 1",u,,false,,1,'
        "0,8,8,null,14,0,0\n"
    )
    with pytest.raises(LogError, match="holds 1 transactions beside") as refused:
        read(JMETER + JMETER_ROWS + transaction, "jmeter.jtl")
    assert "--tags LABEL" in refused.value.mend
    assert counts(read(JMETER + JMETER_ROWS + transaction, "j", tags=("select",))) == {"reads": [1]}


def test_ycsbs_intended_times_are_judged_where_there_are_any_and_unknown_names_are_asked_about() -> None:
    both = YCSB_RAW + YCSB_RAW.replace("READ", "Intended-READ").replace("UPDATE", "Intended-UPDATE")
    found = read(both, "raw.log")
    assert {track.name for track in found.tracks} == {"raw.log (Intended-READ)", "raw.log (Intended-UPDATE)"}
    assert found.errors == {"FAILED": 1}
    with pytest.raises(LogError, match="'PING' is not known to be an operation"):
        read(YCSB_RAW.replace("READ", "PING"), "raw.log")


def test_hey_and_oha_do_not_tell_what_had_no_answer() -> None:
    for text, name in ((HEY, "hey.csv"), (OHA, "oha.csv")):
        found = read(text.replace("503", "200"), name)
        assert found.errors is None
        assert any("writes no line for a request without an answer" in note for note in found.notes)


def test_a_log_of_hey_that_is_full_is_refused() -> None:
    head, row, _ = HEY.splitlines(keepends=True)
    with pytest.raises(LogError, match="is full"):
        read(head + row * 1_000_000, "hey.csv")


def test_logs_of_an_older_fio_do_not_tell_their_unit() -> None:
    older = "0, 169, 0, 4096\n12, 8, 1, 4096\n"
    with pytest.raises(LogError, match="does not say the unit"):
        read(older, "f_lat.1.log")
    assert counts(read(older, "f_lat.1.log", unit="us")) == {"reads": [1], "writes": [1]}


def test_a_gatling_log_whose_first_request_comes_late_is_recognised_by_its_first_line() -> None:
    users = "".join(f"USER\tScn\tSTART\t{1761991200100 + number}\n" for number in range(4_000))
    head, rest = GATLING.split("USER", 1)
    assert counts(read(f"{head}{users}USER{rest}", "simulation.log")) == {"reads": [1, 0]}


def test_results_of_jmeter_without_their_columns_of_success_do_not_tell_failures() -> None:
    rows = "1761991200012,14,select,200\n1761991200020,220,insert,500\n"
    by_code = read(f"timeStamp,elapsed,label,responseCode\n{rows}", "run.jtl")
    assert by_code.errors == {"500": 1}
    assert read("timeStamp,elapsed,label\n1761991200012,14,select\n", "run.jtl").errors is None


def test_what_go_ycsb_writes_of_an_operation_a_second_time_is_left_out_and_named() -> None:
    left_out = {(one.name, one.count) for one in read(GO_YCSB, "go.csv").left_out}
    assert left_out == {("go.csv (TOTAL)", 1), ("go.csv (READ_MODIFY_WRITE)", 1)}


def test_requests_that_gatling_could_not_make_were_due_and_not_sent() -> None:
    error = "ERROR\tbroken: No attribute named 'missing' is defined \t1761991201020\n"
    [unsent] = [one for one in read(GATLING + error, "simulation.log").failures if one.kind == "not sent"]
    assert (unsent.operation, unsent.total, unsent.at_s.tolist()) == ("", 1, [1761991201.02])


@pytest.mark.parametrize("named", ["Intended-READ", "READ"])
def test_ycsbs_raw_times_have_the_remarks_of_its_other_forms(named: str) -> None:
    notes = read(YCSB_RAW.replace("READ", named), "raw.log").notes
    assert any("where it ran with a `-target`" in note for note in notes) == (named != "READ")
    assert any("`measurement.interval=op`" in note for note in notes)


def test_a_console_of_ycsb_with_raw_times_is_one_however_many_status_lines_come_first() -> None:
    status = "2026-11-28 14:01:31:372 10 sec: 2470 operations; 235.78 current ops/sec; READ count: 5, average\n"
    console = f"Command line: -t\nRaw data measurement: will output to stdout.\n{status * 1_000}{YCSB_RAW}"
    assert counts(read(console, "console.txt")) == {"reads": [2], "writes": [1]}


def test_a_gz_is_searched_for_what_is_unsound_like_a_plain_log() -> None:
    head, row, _ = HEY.splitlines(keepends=True)
    with pytest.raises(LogError, match="is full"):
        read_run([RunFile("hey.csv.gz", gzip.compress((head + row * 1_000_000).encode(), 1))], ReadOptions())


@pytest.mark.parametrize(("name", "text"), [("raw.log", YCSB_RAW), ("go.csv", GO_YCSB)])
def test_a_part_of_a_log_by_operation_lacks_operations_and_is_no_shorter_run(name: str, text: str) -> None:
    packed = gzip.compress(text.encode())
    for part in (text[:-4].encode(), packed[:-12], gzip.compress(text.encode(), 0)[:-8]):
        with pytest.raises(LogError, match=r"is cut short, and .* others are missing"):
            read_run([RunFile(name, part)], ReadOptions())
