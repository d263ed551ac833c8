"""A whole run on a quiet node: files, counts, units, mix."""

import csv
import re
from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.integration.stress.program import Program
from tests.support.nodes.slowness import not_slow
from tests.support.suite.tries import tries

RATE, SECONDS, WARMUP, THREADS, POPULATE = 400, 7, 3, 4, 50
PUBLISHED = (
    *("-d", f"{SECONDS}s", "-p", "100M", "-c", "50", "--pg", "sequence", "-t", str(THREADS), "-r", "0.2"),
    *("--rate", str(RATE), "--populate", str(POPULATE), "--response-time-warmup", f"{WARMUP}s"),
)
LOGS = ("-mutations", "-selects", "-intended-mutations", "-intended-selects")


@pytest.fixture(scope="module")
def finished(program: Program, node: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    """Provide one run with the published command line's options."""
    from tests.integration.stress.program import Files

    files = Files(tmp_path_factory.mktemp("run"))
    for _ in tries():
        ended = program.run("run", "BasicTimeSeries", *PUBLISHED, "--host", node.address, "--rf", "1", *files.options)
        assert ended.returncode == 0, ended.stderr
        if not stood_still(files):
            break
    return ended, files


def stood_still(files: Any) -> bool:
    """Tell whether the machine, the generator or the node stood still: no second is then as on a quiet node."""
    lines = [line for line in files.progress if line["phase"] != "populate"]
    is_silent = any(line["schedule_lag_ms"]["max"] == 0 for line in lines[:SECONDS])
    return is_silent or len(lines) > SECONDS + 1 or max(line["hiccup_max_ms"] for line in lines) > 1_000


@pytest.fixture(scope="module")
def files(finished: tuple[Any, Any]) -> Any:
    return finished[1]


def test_every_operation_of_the_schedule_is_accounted_for(files: Any) -> None:
    run = files.summary["run"]
    assert run["scheduled"] == RATE * SECONDS
    assert run["completed"] + sum(run["errors"].values()) == run["scheduled"]
    assert not_slow(run["errors"]) == {}
    for prefix in ("-intended-", "-"):
        logged = files.completed(prefix)
        assert logged.total() == run["completed"]
        assert logged == {name: counts["completed"] for name, counts in run["operations"].items()}


@pytest.mark.parametrize("name", LOGS)
def test_a_log_has_a_record_for_every_second_of_the_timed_run(files: Any, name: Any) -> None:
    records = files.log(name)
    spans = [(record.start_s, record.end_s) for record in records[:SECONDS]]
    assert spans == [(second, second + 1) for second in range(SECONDS)]
    assert len(records) <= SECONDS + 1
    assert all(0 < record.end_s - record.start_s <= 1 for record in records[SECONDS:])


def test_all_logs_have_the_same_start_which_is_a_whole_second_and_the_summarys(files: Any) -> None:
    headers = set()
    for name in LOGS:
        text = (files.folder / f"m.hdr{name}").read_text()
        headers.add(tuple(re.findall(r"#\[(?:Base|Start)Time: ([0-9.]+)", text)))
        assert f"warm-up: the first {WARMUP} s" in text
        assert "microseconds" in text
        assert "#[Histogram log format version 1.3]" in text
    ((base, start),) = headers
    assert base == start
    assert base.endswith(".000")
    assert float(base) == datetime.fromisoformat(files.summary["run"]["started"]).timestamp()


def test_response_time_is_never_below_service_time(files: Any) -> None:
    for operation in ("mutations", "selects"):
        pairs = zip(files.log(f"-intended-{operation}"), files.log(f"-{operation}"), strict=True)
        for response, service in pairs:
            assert response.histogram.total_count == service.histogram.total_count
            assert response.histogram.get_max_value() >= service.histogram.get_max_value()


def test_the_values_are_microseconds(files: Any) -> None:
    """A write on this machine takes more than 20 µs, and on average less than 5 s."""
    for record in files.log("-mutations")[:SECONDS]:
        assert record.histogram.get_min_value() > 20
        assert record.histogram.get_mean_value() < 5_000_000


def test_one_in_five_operations_is_a_read(files: Any) -> None:
    operations = files.completed()
    assert 0.15 < operations["selects"] / operations.total() < 0.25


def test_populating_is_per_thread_and_in_no_log(finished: tuple[Any, Any]) -> None:
    ended, files = finished
    populate = files.summary["populate"]
    assert populate["scheduled"] == populate["completed"] == POPULATE * THREADS
    assert "populating: 200 rows" in ended.stdout
    assert datetime.fromisoformat(populate["started"]) < datetime.fromisoformat(files.summary["run"]["started"])


def test_the_csv_file_has_31_columns_every_three_seconds(files: Any) -> None:
    lines = (files.folder / "m.csv").read_text().splitlines()
    assert lines[0].startswith("# plimsoll.stress run at ")
    assert lines[1].startswith("# run BasicTimeSeries -d 7s -p 100M")
    groups, header, *rows = csv.reader(lines[2:])
    assert len(groups) == len(header) == 31
    assert [(column, name) for column, name in enumerate(groups) if name] == [
        (2, "Mutations"),
        (11, "Reads"),
        (20, "Deletes"),
        (29, "Errors"),
    ]
    assert header[2:11] == [
        "Count",
        *(f"Latency ({name})" for name in ("min", "p50", "p90", "p99", "p99.9", "p99.99", "max")),
        "1min (req/s)",
    ]
    assert {len(row) for row in rows} == {31}
    assert [row[1] for row in rows][:2] == ["3", "6"]
    assert len(rows) == 3
    assert all(datetime.fromisoformat(row[0]) for row in rows)


def test_the_csv_file_counts_all_operations_and_gives_milliseconds(files: Any) -> None:
    last = (files.folder / "m.csv").read_text().splitlines()[-1].split(",")
    operations = files.completed()
    assert (int(last[2]), int(last[11])) == (operations["mutations"], operations["selects"])
    assert last[20:29] == ["0", *["0.000"] * 8]
    first = [float(value) for value in (files.folder / "m.csv").read_text().splitlines()[4].split(",")[3:10]]
    assert first == sorted(first)
    longest = max(record.histogram.get_max_value() for record in files.log("-intended-mutations")[:3])
    assert first[-1] == pytest.approx(longest / 1000, rel=0.01)


def test_progress_has_a_line_a_second_through_all_phases(files: Any) -> None:
    lines = files.progress
    timed = [line for line in lines if line["phase"] in ("warmup", "measure")]
    assert [line["elapsed_s"] for line in timed] == list(range(1, SECONDS + 1))
    assert [line["phase"] for line in timed] == ["warmup"] * WARMUP + ["measure"] * (SECONDS - WARMUP)
    assert {line["planned_s"] for line in timed} == {SECONDS}
    assert {line["attempted_ops_s"] for line in lines} == {RATE}
    assert lines[0]["phase"] == "populate"
    last = timed[-1]
    accounted = last["completed"] + sum(last["errors"].values()) + last["in_flight"] + last["backlog"]
    # What ended between the last second's end and the look at what is under way is in the record of the drain alone.
    drained = sum(record.histogram.total_count for name in LOGS[2:] for record in files.log(name)[SECONDS:])
    assert accounted >= RATE * SECONDS - drained
    for line in timed:
        assert line["cpu_cores"] > 0
        assert line["schedule_lag_ms"]["max"] >= line["schedule_lag_ms"]["p99"] > 0
        assert line["hiccup_max_ms"] >= 0
        assert not_slow(line["errors"]) == {}


def test_the_summary_tells_warm_up_and_measured_part_apart(files: Any) -> None:
    summary = files.summary
    run = summary["run"]
    assert (summary["complete"], summary["reason"], summary["exit_code"]) == (True, None, 0)
    assert (run["warmup"]["seconds"], run["measured"]["seconds"]) == (WARMUP, SECONDS - WARMUP)
    assert run["warmup"]["completed"] <= RATE * WARMUP
    records = [*files.log("-intended-mutations")[WARMUP:SECONDS], *files.log("-intended-selects")[WARMUP:SECONDS]]
    assert run["measured"]["completed"] == sum(record.histogram.total_count for record in records)
    assert run["measured"]["achieved_ops_s"] == run["measured"]["completed"] / (SECONDS - WARMUP)
    generator = run["measured"]["generator"]
    assert 1 <= generator["in_flight_max"] <= THREADS * 50
    assert datetime.fromisoformat(summary["ended"]) - datetime.fromisoformat(run["started"]) >= timedelta(
        seconds=SECONDS
    )


def test_nothing_ends_before_it_was_meant_to_start(files: Any) -> None:
    """By the end of each second, at most the operations due by then have ended."""
    ended = 0
    logs = zip(files.log("-intended-mutations"), files.log("-intended-selects"), strict=True)
    for second, records in enumerate(logs, start=1):
        ended += sum(record.histogram.total_count for record in records)
        assert ended <= RATE * second
