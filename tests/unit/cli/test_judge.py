import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.support.campaigns.interval_logs import every_second, line, log, payload
from typer.testing import CliRunner, Result

from plimsoll.cli.judge import judge

FAST, SLOW = 1_000, 250_000
KEYS = [
    "verdict",
    "reasons",
    "service_level",
    "intervals",
    "maxima",
    "judged",
    "missed",
    "not_judged",
    "by_operation",
    "format",
    "whole_run",
    "errors",
    "unit",
    "unit_why",
    "left_out",
    "failed_share",
]
PERCENTILES = ["p50_ms", "p90_ms", "p99_ms", "p99_9_ms", "max_ms"]
WHENCE = "does not say whether times count from the schedule or from the send (coordinated omission)"
FEW = (
    "p99.9 of an interval of 10s is decided by fewer than 10 operations at 5 ops/s: 1,000 ops/s would do, or intervals "
    "of 2000s at 5 ops/s"
)
NOT_TOLD = "the files do not tell how many operations failed"
ARGUMENTS = ["--warmup", "10s", "--interval", "10s", "--percentile", "99.9", "--below", "100ms"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def met(folder: Path) -> list[str]:
    (folder / "r.hdr-intended-mutations").write_bytes(log(every_second([[FAST] * 4] * 33)))
    (folder / "r.hdr-intended-selects").write_bytes(log(every_second([[2 * FAST]] * 33)))
    return ["r.hdr-intended-mutations", "r.hdr-intended-selects"]


@pytest.fixture
def missed(folder: Path) -> list[str]:
    seconds = [[FAST] * 5] * 20 + [[FAST] * 4 + [SLOW]] + [[FAST] * 5] * 9
    (folder / "missed.hlog").write_bytes(log(every_second(seconds)))
    return ["missed.hlog"]


def run(*arguments: str) -> Result:
    app = typer.Typer()
    app.command()(judge)
    return CliRunner().invoke(app, arguments)


def document(*arguments: str) -> tuple[int, dict[str, Any]]:
    result = run(*arguments, "--json")
    return result.exit_code, json.loads(result.stdout)


def test_the_json_object_of_a_met_service_level_is_exactly_the_documented_one(met: list[str]) -> None:
    code, found = document(*met, *ARGUMENTS)
    assert code == 0
    assert list(found) == KEYS
    assert found["verdict"] == "met"
    assert found["reasons"] == [FEW, NOT_TOLD]
    level = {"percentile": 99.9, "interval": "10s", "below": "100ms", "operations": "all", "windows": "aligned"}
    assert found["service_level"] == level
    assert found["intervals"] == [
        {
            "start_s": start,
            "duration_s": 10.0,
            "count": 50,
            "rate_ops_s": 5.0,
            "p50_ms": 1.0,
            "p90_ms": 2.0,
            "p99_ms": 2.0,
            "p99_9_ms": 2.0,
            "max_ms": 2.0,
            "met": True,
            "failed": 0,
        }
        for start in (10.0, 20.0)
    ]
    assert found["maxima"] == {"p50_ms": 1.0, "p90_ms": 2.0, "p99_ms": 2.0, "p99_9_ms": 2.0, "max_ms": 2.0}
    assert (found["judged"], found["missed"], found["not_judged"]) == (2, 0, 1)
    assert found["by_operation"] == {
        "reads": dict.fromkeys(PERCENTILES, 2.0),
        "writes": dict.fromkeys(PERCENTILES, 1.0),
    }
    assert (found["format"], found["whole_run"], found["errors"]) == ("HdrHistogram interval log", [], None)


def test_a_missed_service_level_exits_with_1_and_says_where_and_by_how_much(missed: list[str]) -> None:
    code, found = document(*missed, *ARGUMENTS)
    assert (code, found["verdict"], found["judged"], found["missed"]) == (1, "missed", 2, 1)
    assert [interval["met"] for interval in found["intervals"]] == [True, False]
    assert found["reasons"] == [
        "p99.9 is not below 100 ms in 1 of 2 intervals: the first begins at 20 s, the worst has 250.111 ms at 20 s",
        f"missed.hlog: {WHENCE}",
        FEW,
        NOT_TOLD,
    ]


def test_a_share_for_a_percentile_is_asked_about(missed: list[str]) -> None:
    result = run(*missed, "--percentile", "0.999")
    assert result.exit_code == 2
    assert "0.999 is in per cent" in result.output
    assert "Write 99.9" in result.output


def test_a_percentile_with_enough_operations_above_it_has_no_note(met: list[str]) -> None:
    assert document(*met, "--percentile", "50")[1]["reasons"] == [NOT_TOLD]
    assert document(*met, "--percentile", "100")[1]["reasons"] == [NOT_TOLD]


def test_the_percentile_and_the_bound_asked_for_are_judged(missed: list[str]) -> None:
    assert document(*missed, "--percentile", "50")[0] == 0
    assert document(*missed, "--below", "251ms")[0] == 0
    assert document(*missed, "--below", "250.111ms")[0] == 1


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "can't be read (No such file or directory)"),
        (b"", "holds no interval record"),
        (b"count,p99\n", "is of no format that is known here: it begins with 'count,p99'"),
        (log(line(second, 1.0, payload([FAST])) for second in range(30) if second != 15), "a gap of 1.000 s"),
        (log(every_second([[FAST]] * 15 + [[]] * 15)), "1 of 2 intervals of 10s holds no operation"),
    ],
    ids=["missing", "empty", "another file", "a gap", "an empty interval"],
)
def test_what_is_no_measurement_exits_with_2_and_prints_one_object(folder: Path, content: Any, reason: str) -> None:
    if content is not None:
        (folder / "x.hlog").write_bytes(content)
    code, found = document("x.hlog", *ARGUMENTS)
    assert (code, found["verdict"]) == (2, "invalid")
    assert list(found) == KEYS
    assert reason in found["reasons"][0]


def test_a_folder_is_unreadable(folder: Path) -> None:
    code, found = document(str(folder))
    assert code == 2
    assert "can't be read (Is a directory)" in found["reasons"][0]


def test_one_log_named_twice_is_refused(missed: list[str]) -> None:
    code, found = document(*missed, *missed)
    assert code == 2
    assert found["reasons"] == ["missed.hlog: stands twice among the logs (give each log once)"]


def test_service_times_beside_response_times_are_refused(met: list[str], folder: Path) -> None:
    (folder / "r.hdr-mutations").write_bytes(log(every_second([[FAST] * 3] * 33)))
    code, found = document(*met, "r.hdr-mutations")
    assert code == 2
    assert "r.hdr-mutations: holds service times" in found["reasons"][0]


def test_a_log_cut_short_is_judged_as_far_as_it_goes_and_that_is_said(missed: list[str], folder: Path) -> None:
    whole = (folder / "missed.hlog").read_bytes()
    (folder / "cut.hlog").write_bytes(whole[:-20])
    code, found = document("cut.hlog", *ARGUMENTS)
    assert (code, found["verdict"], found["judged"], found["not_judged"]) == (0, "met", 1, 1)
    assert found["reasons"] == [
        "cut.hlog, line 34: the last line is cut short (was its writer killed?); the records before it count",
        f"cut.hlog: {WHENCE}",
        FEW,
        NOT_TOLD,
    ]


def test_operations_can_be_named_and_units_given(folder: Path) -> None:
    (folder / "c.hdr").write_bytes(log(every_second([[5_000_000]] * 10, "head")))
    code, found = document("c.hdr", "--unit", "ns", "--operation", "head=reads")
    assert code == 0
    assert found["by_operation"]["reads"]["max_ms"] == pytest.approx(5.0, rel=1e-3)


def test_the_text_marks_the_missed_intervals_and_ends_with_the_verdict(missed: list[str]) -> None:
    result = run(*missed, *ARGUMENTS)
    lines = result.stdout.splitlines()
    assert result.exit_code == 1
    assert lines[0].split() == [
        "start",
        "s",
        "count",
        "ops/s",
        "p50",
        "ms",
        "p90",
        "ms",
        "p99",
        "ms",
        "p99.9",
        "ms",
        "max",
        "ms",
    ]
    assert lines[1].split() == ["10", "50", "5.0", "1.000", "1.000", "1.000", "1.000", "1.000"]
    assert lines[2].split() == ["20", "50", "5.0", "1.000", "1.000", "250.111", "250.111", "250.111", "missed"]
    assert lines[-1] == "Missed: p99.9 of every 10s interval below 100ms: missed in 1 of 2."


def test_the_text_shows_reads_and_writes_apart(met: list[str]) -> None:
    lines = [one.split() for one in run(*met, *ARGUMENTS).stdout.splitlines()]
    assert ["all", "1.000", "2.000", "2.000", "2.000", "2.000"] in lines
    assert ["reads", *["2.000"] * 5] in lines
    assert ["writes", *["1.000"] * 5] in lines


def test_the_text_of_an_invalid_measurement_gives_the_reason(folder: Path) -> None:
    (folder / "empty.hlog").write_bytes(b"")
    result = run("empty.hlog")
    assert result.exit_code == 2
    assert result.stdout.splitlines() == [
        "- empty.hlog: holds no interval record (give the interval log as HistogramLogWriter (or `--hdr`) wrote it, "
        "plain or gz)",
        "Invalid: this is no sound measurement, so p99.9 of every 10s interval below 100ms is neither met nor missed.",
    ]


def test_a_file_that_is_not_there_is_no_unsound_measurement(folder: Path) -> None:
    result = run("none.hlog")
    assert (result.exit_code, result.stdout) == (1, "")
    assert str(result.exception) == "none.hlog: can't be read (No such file or directory)"


def test_sliding_windows_find_what_falls_on_both_sides_of_a_border(folder: Path) -> None:
    seconds = [[FAST] * 500 for _ in range(30)]
    for second in (19, 20):
        seconds[second] = [FAST] * 497 + [SLOW] * 3
    (folder / "x.hlog").write_bytes(log(every_second(seconds)))
    aligned, slid = document("x.hlog"), document("x.hlog", "--windows", "sliding")
    assert (aligned[0], aligned[1]["judged"], aligned[1]["missed"]) == (0, 3, 0)
    assert (slid[0], slid[1]["judged"], slid[1]["missed"]) == (1, 21, 9)
    assert [one["start_s"] for one in slid[1]["intervals"]] == [float(second) for second in range(21)]


def test_what_tells_of_the_whole_run_only_is_shown_and_not_judged(folder: Path) -> None:
    sample = Path(__file__).parents[2] / "samples" / "easy-stress-reads.txt"
    code, found = document(str(sample))
    assert (code, found["verdict"], found["format"]) == (2, "invalid", "percentile table of a whole run")
    assert found["whole_run"] == [
        {
            "operation": "reads",
            "count": 1018,
            "percentiles_ms": {"50": 0.87, "90": 11.08, "99": 177.21, "99.9": 221.25, "100": 250.61},
            "below_bound": False,
        }
    ]
    assert "Whole run, reads: 1,018 operations: p50 0.870 ms" in run(str(sample)).stdout


def test_failures_that_a_file_tells_are_named(met: list[str], folder: Path) -> None:
    head = ",,Mutations,,,Reads,,,Deletes,,,Errors,\nTimestamp, Elapsed Time,Count,Latency (p99),1min (req/s),"
    row = "2026-01-31T12:00:00Z,3,10,1.0,0.0,10,1.0,0.0,0,0.0,0.0,7,0.0\n"
    (folder / "r.csv").write_text(
        head + "Count,Latency (p99),1min (req/s),Count,Latency (p99),1min (req/s),Count,1min (errors/s)\n" + row
    )
    found = document(*met, "r.csv")[1]
    assert (found["verdict"], found["errors"], found["failed_share"]) == ("missed", {"errors": 7}, 7 / 172)
    assert "7 operations of the whole run failed: each counts as slower than the bound" in found["reasons"]
    assert "4.070% of operations failed; less than 0.1% may" in found["reasons"]


def test_any_log_of_operations_is_judged_by_its_columns(folder: Path) -> None:
    lines = ["ts;elapsed_ms;success", *(f"{1761991200 + at / 10:.1f};{at % 7}.5;true" for at in range(300))]
    (folder / "run.csv").write_text("\n".join(lines) + "\n")
    columns = ["--columns", "time=ts,latency=elapsed_ms", "--columns", "ok=success"]
    code, found = document("run.csv", *columns, "--percentile", "90")
    assert (code, found["verdict"], found["judged"], found["errors"]) == (0, "met", 3, {})
    assert found["format"] == "log of operations"


def test_a_format_that_is_forced_must_be_one(missed: list[str]) -> None:
    result = run(*missed, "--format", "csv")
    assert result.exit_code == 2
    assert "cassandra-stress" in result.stderr
    assert document(*missed, "--format", "hdr")[0] == 1


@pytest.mark.parametrize(
    "wrong",
    [
        ["--warmup", "30"],
        ["--interval", "0s"],
        ["--below", "100"],
        ["--percentile", "0"],
        ["--percentile", "100.5"],
        ["--unit", "s"],
        ["--windows", "hopping"],
        ["--operation", "head"],
        ["--operation", "head=both"],
        ["--columns", "time=ts"],
        ["--columns", "ts"],
    ],
)
def test_wrong_options_exit_with_2_and_name_the_option(missed: list[str], wrong: Any) -> None:
    result = run(*missed, *wrong)
    assert result.exit_code == 2
    assert wrong[0] in result.stderr


def test_judging_imports_nothing_heavy(met: list[str]) -> None:
    others = ("pandas", "pyarrow", "altair", "great_expectations", "boto3", "airflow", "scipy", "numpy.ma")
    # The many models of a definition take a tenth of the time in which the biggest cell is judged
    heavy = (*others, "plimsoll.domain.keys.definition_keys", "plimsoll.services")
    code = (
        f"import sys; from plimsoll.cli import cli; cli(['judge', *{met!r}, '--json'], standalone_mode=False); "
        f"print(sorted(set({heavy!r}) & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_strangers_log_gives_the_terminal_no_orders(folder: Path) -> None:
    (folder / "x.hlog").write_bytes(b"#[StartTime: 1 (\x1b]0;mine\x07)]\n\x1b[2J\x1b]0;mine\x07,1,2\n")
    assert not {"\x1b", "\x07"} & set(run("x.hlog").output)
