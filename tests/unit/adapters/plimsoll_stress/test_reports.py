import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from plimsoll.adapters.generators.plimsoll_stress.reports import (
    is_ready,
    last_progress,
    log_end,
    parse_summary,
    response_time_logs,
    seconds,
)
from plimsoll.domain.attempt.load_summary import BrokenRule
from plimsoll.domain.text.errors import LoadError


def progress_line(phase: Any, elapsed: Any, planned: Any, achieved: Any, **errors: Any) -> Any:
    line = {"phase": phase, "elapsed_s": elapsed, "planned_s": planned, "achieved_ops_s": achieved, "errors": errors}
    return json.dumps({**line, "in_flight": 0, "backlog": 0}) + "\n"


def test_the_last_whole_line_of_progress_counts() -> None:
    text = (
        '_s": 3}\n' + progress_line("warmup", 5, 40, 990.5) + progress_line("measure", 12, 40, 1001.0) + '{"phase": "me'
    )
    progress = last_progress(text)
    assert progress is not None
    assert (progress.phase, progress.achieved_ops_s, progress.left) == ("load", 1001.0, timedelta(seconds=28))


def test_a_drain_that_lasts_longer_than_planned_has_nothing_left() -> None:
    progress = last_progress(progress_line("drain", 43, 40, 12.0))
    assert progress is not None
    assert (progress.phase, progress.left) == ("load", timedelta(0))


def test_errors_of_all_kinds_are_summed() -> None:
    progress = last_progress(progress_line("measure", 12, 40, 1001.0, timeout=2, connection=40))
    assert progress is not None
    assert progress.errors == 42


def test_what_has_no_answer_after_the_timed_run_is_counted() -> None:
    line = json.loads(progress_line("drain", 43, 40, 12.0)) | {"in_flight": 12, "backlog": 30}
    during = json.loads(progress_line("measure", 12, 40, 12.0)) | {"in_flight": 12, "backlog": 30}
    found = [last_progress(json.dumps(one) + "\n") for one in (line, during)]
    assert [one and one.missing for one in found] == [42, None]


def test_how_service_levels_fare_is_told_once_an_interval_is_judged() -> None:
    met = {"level": "99.9/10s/100ms", "last_ms": 45.25, "worst_ms": 60.0, "judged": 2, "missed": 0}
    missed = {"level": "99/1s/50ms/reads", "last_ms": None, "worst_ms": 151.2, "judged": 20, "missed": 1}
    line = json.loads(progress_line("measure", 30, 40, 12.0)) | {"watch": [met, missed, {**met, "judged": 0}]}
    progress = last_progress(json.dumps(line) + "\n")
    assert progress is not None
    assert tuple(map(str, progress.levels)) == (
        "p99.9/10s/100ms: met so far, last 45.2 ms, highest 60 ms",
        "p99/1s/50ms/reads: 1 of 20 intervals missed, last no answer, highest 151 ms",
    )


def test_no_progress_yet() -> None:
    assert last_progress("") is None
    assert last_progress('{"phase": "populate"') is None


def test_the_end_of_a_log_is_its_last_whole_interval() -> None:
    head = '#[StartTime: 1.0 (seconds since epoch)]\n"StartTimestamp",…\n'
    text = head + "0.000,1.000,3.2,HIST\n1.000,1.000,3.2,HIST\n2.000,1.0"
    assert log_end(text) == timedelta(seconds=2)
    assert log_end("#[StartTime: 1.0]\n") is None


def test_response_time_logs_by_operation() -> None:
    names = ["m.hdr-selects", "m.hdr-intended-selects", "m.hdr-mutations", "m.hdr-intended-mutations", "m.hdr.errors"]
    assert response_time_logs(names) == {"reads": "m.hdr-intended-selects", "writes": "m.hdr-intended-mutations"}
    assert response_time_logs(["m.csv"]) == {}


def part(seconds: Any, writes: Any, reads: Any, errors: Any) -> dict[str, Any]:
    return {
        "seconds": seconds,
        "attempted_ops_s": 1000,
        "achieved_ops_s": (writes + reads) / seconds,
        "completed": writes + reads,
        "operations": operations(writes, reads),
        "errors": errors,
        "generator": {
            "schedule_lag_ms": {"p99": 1.5, "max": 9.25},
            "in_flight_max": 17,
            "backlog_max": 3,
            "cpu_seconds": 12.0,
            "cpu_cores": 0.4,
            "gc_count": 1,
            "gc_ms": 3,
            "hiccup_max_ms": 4.5,
        },
    }


def operations(writes: Any, reads: Any) -> dict[str, Any]:
    return {"mutations": {"completed": writes, "errors": 0}, "selects": {"completed": reads, "errors": 0}}


SILENT: dict[str, Any] = {"failures": [], "server_warnings": {"count": 0, "first": []}}
SUMMARY: dict[str, Any] = {
    "complete": True,
    "reason": None,
    "generator": "plimsoll.stress 0123abcd",
    "workload": "BasicTimeSeries",
    "started": "2026-01-31T12:00:00.123Z",
    "ended": "2026-01-31T12:01:00Z",
    "populate": None,
    "run": {
        "started": "2026-01-31T12:00:05Z",
        "duration_s": 40,
        "warmup_s": 10,
        "drain_s": 0.1,
        "attempted_ops_s": 1000,
        "scheduled": 40_000,
        "completed": 39_990,
        "operations": operations(31_995, 7_995),
        "shares": {"mutations": 0.8, "selects": 0.2},
        **SILENT,
        "errors": {"read_timeout": 3, "overflow": 0, "unfinished": 7},
        "warmup": part(10.0, 8_000, 1_990, {"read_timeout": 2, "overflow": 0, "unfinished": 0}),
        "measured": part(30.0, 23_994, 6_004, {"read_timeout": 1, "overflow": 0, "unfinished": 0}),
    },
}


def test_a_summary_counts_the_judged_time() -> None:
    summary = parse_summary(json.dumps(SUMMARY))
    assert summary.complete
    assert summary.reason == ""
    assert summary.started_at == datetime(2026, 1, 31, 12, 0, 5, tzinfo=UTC)
    assert (summary.duration_s, summary.warmup_s) == (40.0, 10.0)
    assert summary.attempted_ops_s == 1000
    assert summary.achieved_ops_s == 29_998 / 30
    assert summary.operations == {"writes": 23_995, "reads": 6_005}
    assert summary.errors == {"read_timeout": 1, "unfinished": 7}
    assert (summary.failed, summary.total) == (8, 30_008)
    assert (summary.cpu_cores, summary.in_flight_max, summary.backlog_max) == (0.4, 17, 3)
    assert summary.generator == "plimsoll.stress 0123abcd"
    assert (summary.schedule_lag_p99_ms, summary.schedule_lag_max_ms, summary.hiccup_max_ms) == (1.5, 9.25, 4.5)


@pytest.mark.parametrize(("rows_s", "several"), [(None, False), (0.0, False), (1000.0, False), (100_000.0, True)])
def test_rows_are_told_where_operations_have_several(rows_s: Any, several: bool) -> None:
    measured = SUMMARY["run"]["measured"] | {"achieved_ops_s": 1000.0} | ({} if rows_s is None else {"rows_s": rows_s})
    summary = parse_summary(json.dumps(SUMMARY | {"run": SUMMARY["run"] | {"measured": measured}}))
    assert (summary.rows_s, summary.has_several_rows) == (rows_s, several)


def test_a_run_that_was_ended_as_its_outcome_was_certain_says_when() -> None:
    assert parse_summary(json.dumps(SUMMARY)).decided_s is None
    decided = {**SUMMARY, "run": {**SUMMARY["run"], "decided_s": 30}}
    assert parse_summary(json.dumps(decided)).decided_s == 30


def test_a_run_that_a_rule_ended_says_which_and_why() -> None:
    broken = {"seconds": 33, "rule": 1, "why": "no operation was answered for 10 s"}
    summary = parse_summary(json.dumps({**SUMMARY, "run": {**SUMMARY["run"], "stopped": broken}}))
    assert summary.stopped == BrokenRule(seconds=33, rule=1, why="no operation was answered for 10 s")
    assert (summary.ended_s, summary.operations["writes"]) == (33, 23_995)


def test_a_run_that_a_rule_ended_in_its_warm_up_is_counted_from_its_start() -> None:
    run = {**SUMMARY["run"], "operations": operations(8_000, 1_990), "errors": {"read_timeout": 2, "unfinished": 0}}
    idle = {**part(1.0, 0, 0, {}), "seconds": 0.0, "achieved_ops_s": 0.0}
    broken = {"seconds": 8, "rule": 0, "why": "too slow"}
    summary = parse_summary(json.dumps({**SUMMARY, "run": {**run, "measured": idle, "stopped": broken}}))
    assert (summary.duration_s, summary.warmup_s, summary.achieved_ops_s) == (10.0, 0.0, 999.0)
    assert summary.operations == {"writes": 8_000, "reads": 1_990}
    assert summary.errors == {"read_timeout": 2}


def test_a_run_that_a_rule_ended_after_its_warm_up_has_the_figures_of_the_whole_run_too() -> None:
    broken = {"seconds": 40, "rule": 0, "why": "too slow"}
    measured = {**SUMMARY["run"]["measured"], "rows_s": 40.0}
    warmup = {**SUMMARY["run"]["warmup"], "rows_s": 80.0}
    warmup["generator"] = {**warmup["generator"], "hiccup_max_ms": 99.5, "schedule_lag_ms": {"p99": 0.5, "max": 50.0}}
    run = {**SUMMARY["run"], "warmup": warmup, "measured": measured, "stopped": broken}
    summary = parse_summary(json.dumps({**SUMMARY, "run": run}))
    assert summary.judged_after(timedelta(seconds=10)) is summary
    whole = summary.judged_after(timedelta(0))
    assert (whole.duration_s, whole.warmup_s, whole.achieved_ops_s, whole.rows_s) == (40, 0, 39_988 / 40, 50)
    assert (whole.operations, whole.errors) == (
        {"writes": 31_995, "reads": 7_995},
        {"read_timeout": 3, "unfinished": 7},
    )
    assert (whole.hiccup_max_ms, whole.schedule_lag_p99_ms, whole.schedule_lag_max_ms) == (99.5, 1.5, 50.0)
    assert (whole.stopped, whole.from_start) == (summary.stopped, None)


def test_a_run_that_never_started_has_a_reason_and_no_figures() -> None:
    summary = parse_summary(json.dumps({**SUMMARY, "complete": False, "reason": "no connection", "run": None}))
    assert (summary.complete, summary.reason) == (False, "no connection")
    assert summary.started_at is None
    assert summary.achieved_ops_s is None


def test_no_summary_is_no_complete_run() -> None:
    assert parse_summary("").reason == "the load generator left no summary"
    assert not parse_summary("").complete


@pytest.mark.parametrize("text", [json.dumps(SUMMARY)[9:], "[]"])
def test_a_part_of_a_summary_is_said_to_be_damaged(text: str) -> None:
    with pytest.raises(LoadError, match=r"the load's summary\.json is damaged"):
        parse_summary(text)


def test_the_generators_own_seconds_are_those_of_the_timed_run() -> None:
    def line(phase: str, second: int) -> str:
        fields = {"time": f"2026-11-21T17:20:{second:02}.022402Z", "phase": phase, "errors": {}}
        waiting = {"in_flight": 50, "backlog": 700, "schedule_lag_ms": {"p99": 0.2, "max": 1.7}}
        return json.dumps({**fields, **waiting, "hiccup_max_ms": 26.14, "gc_ms": 3, "cpu_cores": 0.297})

    text = "\n".join([line("populate", 1), line("warmup", 2), line("measure", 3), line("measure", 4)[:40]])
    found = list(seconds(text))
    assert [one.at.second for one in found] == [2, 3]
    assert (found[0].hiccup_ms, found[0].gc_ms, found[0].cpu_cores) == (26.14, 3, 0.297)
    assert (found[0].in_flight, found[0].backlog, found[0].lag_ms) == (50, 700, 1.7)


@pytest.mark.parametrize(
    ("settle", "left"),
    [
        ({"settled": False, "compactions_left": 12, "waited_s": 600.0}, 12),
        ({"settled": True, "compactions_left": 0, "waited_s": 3.0}, 0),
        ({"settled": None, "compactions_left": None, "waited_s": 0.0}, None),
        (None, None),
    ],
)
def test_compactions_that_were_left_when_it_stopped_waiting_are_told(settle: Any, left: Any) -> None:
    text = json.dumps({**SUMMARY, "populate": {"completed": 10, "settle": settle, **SILENT}})
    assert parse_summary(text).compactions_left == left


def test_nodes_that_did_not_answer_whether_compactions_were_left_are_told() -> None:
    settle = {"settled": False, "compactions_left": None, "problem": "Query timed out\nafter PT10S", "waited_s": 600.0}
    summary = parse_summary(json.dumps({**SUMMARY, "populate": {"completed": 10, "settle": settle, **SILENT}}))
    assert summary.compactions_left is None
    assert summary.remarks == ("whether compactions of populating were left is not known: Query timed out after PT10S",)


def test_a_progress_file_whose_last_line_says_ready_waits_for_the_start() -> None:
    ready = json.dumps({"time": "2026-11-22T12:00:00Z", "phase": "ready"}) + "\n"
    before = progress_line("populate", 1, 2, 3)
    assert is_ready(before + ready)
    assert not is_ready(before)
    assert not is_ready(before + ready + progress_line("warmup", 1, 2, 3))
    assert not is_ready(before + ready[:-1])
    assert not is_ready("")
    assert list(seconds(before + ready)) == []


def test_what_the_database_said_is_told_with_its_statements() -> None:
    def said(count: int, message: str) -> dict[str, Any]:
        return {"operation": "looks", "message": message, "statement": "SELECT 1\n FROM t", "count": count}

    failures = [said(3, "Bad: LIMIT"), {**said(1, "1 replica failed"), "kind": "write_failure"}]
    run = {**SUMMARY["run"], "failures": failures, "server_warnings": {"count": 1200, "first": []}}
    populate = {"settle": None, "failures": [], "server_warnings": {"count": 1, "first": [said(1, "tombstones")]}}
    found = parse_summary(json.dumps({**SUMMARY, "run": run, "populate": populate}))
    assert found.failures == (
        "the timed run: looks failed as `other` 3 times, first: Bad: LIMIT — SELECT 1 FROM t",
        "the timed run: looks failed as `write_failure` 1 time, first: 1 replica failed — SELECT 1 FROM t",
    )
    assert found.remarks == (
        "populating: the database sent 1 warning with its answers",
        "populating: it warned of looks 1 time, first: tombstones — SELECT 1 FROM t",
        "the timed run: the database sent 1,200 warnings with its answers",
    )
    assert parse_summary(json.dumps(SUMMARY)).remarks == ()
