"""Small logs of other people's tools, each of a kind that was once judged wrongly: the right verdict, or a question."""

import json
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.testing import CliRunner

from plimsoll.analysis.attempt.judgement import Judgement, Run
from plimsoll.analysis.attempt.service_level_evaluation import judge_logs
from plimsoll.analysis.logs.formats import Reading, ReadOptions, RunFile, read_run
from plimsoll.cli import cli
from plimsoll.domain.keys.service_level import ServiceLevel

CASES = zipfile.Path(Path(__file__).parents[3] / "samples" / "cases.zip")


class Case(NamedTuple):
    """Files, what is told of them, and what comes of it.

    `met` None: they are refused. `counts`: operations of each judged interval. `said`: part of a reason or a remark.
    """

    files: str
    met: bool | None
    said: str = ""
    unit: Any = None
    counts: tuple[int, ...] = ()
    forced: str | None = None
    tags: tuple[str, ...] = ()


# Counts and maxima: HdrHistogram's Python library on the same records.
TABLE = [
    Case("us-default-ratio/us.hlog", None, "most writers divide by 10⁶ whatever the unit is"),
    Case("us-default-ratio/us.hlog", False, "150.015 ms", unit="us", counts=(10_000, 10_000)),
    Case("us-default-ratio/us.hlog", True, unit="ns", counts=(10_000, 10_000)),
    Case("latte-tags/plain.hlog", True, "(cycles), cycle time, 20,000 values", counts=(20_000, 20_000)),
    Case("latte-tags/prefix.hlog", True, "(g1.cycles), cycle time, 20,000 values", counts=(20_000, 20_000)),
    Case("latte-tags/plain.hlog", None, "are they two measures", unit="ns", forced="hdr"),
    Case("latte-tags/plain.hlog", None, "its values are in ns, not in us: latte writes ns", unit="us"),
    Case("scylla-bench-two-measures/ns.hdr", None, "the unit of its `-hdr-latency-units`"),
    Case("scylla-bench-two-measures/ns.hdr", False, "(raw), service time, 20,000", unit="ns", counts=(10_000, 10_000)),
    Case("scylla-bench-two-measures/ns.hdr", True, unit="ns", tags=("raw",), counts=(10_000, 10_000)),
    Case("scylla-bench-two-measures/ns.hdr", None, "not known to write co-fixed, raw", forced="cassandra-stress"),
    Case("scylla-bench-two-measures/endtime.hdr", None, "the second column holds end times"),
    Case("scylla-bench-two-measures/endtime.hdr", False, "holds end times", unit="ns", counts=(10_000, 10_000)),
    Case(
        "mixed-measures/reads-fixed.log mixed-measures/writes-unthrottled.log",
        False,
        "writes-unthrottled.log (WRITE-st): judged on service time",
        counts=(20_000, 20_000),
    ),
    Case("mixed-measures/reads-fixed.log", True, "(READ-st), service time, 20,000 values", counts=(10_000, 10_000)),
    Case("mixed-measures/writes-unthrottled.log", False, "no response times", counts=(10_000, 10_000)),
    Case("nb/mixed.hdr", False, "(writes.result): judged on service time", counts=(20_000, 20_000)),
    Case("ycsb-verify/READ.hdr ycsb-verify/VERIFY.hdr", False, "VERIFY is left out", counts=(20_000, 20_000)),
    Case("ycsb-verify/VERIFY.hdr", None, "neither response nor service times"),
    Case("ycsb-verify/st-min.log", True, "UPDATE of the first status line", counts=(200,)),
    Case("ycsb-same/READ.hdr ycsb-same/Intended-READ.hdr", False, "READ.hdr, service time, 44,000 values"),
    Case("js-normalizing-offset/js.hlog", None, "does not say in which unit"),
    Case("js-normalizing-offset/js.hlog", False, "150.077 ms at 10 s", unit="ns", counts=(10_000, 10_000)),
    Case("encodings/bom.hlog", None, "does not say in which unit"),
    Case("encodings/bom.hlog", False, "150.077 ms at 10 s", unit="ns", counts=(10_000, 10_000)),
    Case("encodings/comma.hlog", None, "line 5: has decimal commas"),
    Case("cql-stress/cs.hdr", False, "158.728 ms at 10 s", counts=(150, 150, 150)),
    Case("jhiccup/hiccup.hlog", None, "how long a JVM or its machine stood still"),
    Case("memtier/m_FULL_RUN_1.hgrm", None, "one histogram of the whole run"),
    Case("nb-5.17/nb521.hdr", False, "1509.949 ms at 20 s", counts=(200, 200, 200, 200)),
    Case("pgbench-aborted/abort.24733 pgbench-aborted/abort.24733.1", None, "abort.24733.1, client 2: ends 28.904 s"),
    Case("pgbench-aborted/abort.24733.1", None, "no transaction of client 0, 1: the log of a thread is missing"),
    Case("pgbench-clock-back/back.log", None, "line 801: begins 7.800 s before the line before it of the same client"),
    Case("pgbench-clock-back/control.log", False, "400.127 ms at 30 s", counts=(200,) * 7),
    Case("pgbench-skipped/nolimit.17894", False, "2926.591 ms at 10 s", counts=(382, 406, 378)),
    Case("pgbench-tries/tries.19907 pgbench-tries/tries.19907.1", False, "judged on service time"),
    Case("ycsb-rounding/READ.hdr", False, "160.127 ms at 20 s", counts=(1600,) * 6),
]

FAILED = [
    ("pgbench-skipped/limit.15736", {"skipped": 124}, [("", "skipped", 11.869, 14.624)]),
    ("pgbench-skipped/nolimit.17894", {}, []),
    ("ycsb-hdr-failed/data/a/80/READ.hdr", None, []),
    (
        "ycsb-hdr-failed/data/a/80/READ.hdr ycsb-hdr-failed/data/a/80/READ-FAILED.hdr",
        {"FAILED": 84},
        [("reads", "FAILED", 5, 115)],
    ),
    ("ycsb-console-failed/failed.log", {"FAILED": 10_000}, [("reads", "FAILED", 35, 45)]),
    ("ycsb-console-stall/stall.log", {}, []),
    ("nb-5.17/nb521.hdr", {}, []),
    ("cql-stress/cs.hdr", None, []),
]


def read(files: str) -> Reading:
    return read_run([RunFile(name, (CASES / name).read_bytes()) for name in files.split()], ReadOptions())


@pytest.mark.parametrize(("files", "errors", "failures"), FAILED)
def test_failures_are_told_with_the_times_at_which_they_were_due(files: str, errors: Any, failures: Any) -> None:
    found = read(files)
    assert found.errors == errors
    start_s = found.tracks[0].starts[0] if found.tracks else found.samples[0].start_s
    told = [(one.operation, one.kind, one.at_s[0] - start_s, one.at_s[-1] - start_s) for one in found.failures]
    assert [one[:2] for one in told] == [one[:2] for one in failures]
    assert [one[2:] for one in told] == [pytest.approx(one[2:], abs=1e-3) for one in failures]


def test_percentiles_of_rounded_ranks_leave_open_what_their_histograms_miss() -> None:
    """Two of 1,600 took 150 ms: the 99.9th percentile has rank 1,599, which YCSB's releases round to 1,598."""
    found = judged(Case("ycsb-rounding/status.log", None))
    assert not found.valid
    assert "leave open whether p99.9 of every 10s interval below 100ms in 4 of 6" in found.reasons[0]


@pytest.mark.parametrize("name", ["stall.log", "stall-zero.log"])
def test_a_status_without_an_operation_is_a_sample_of_none(name: str) -> None:
    found = read(f"ycsb-console-stall/{name}")
    assert [one.count for one in found.samples if one.series == "READ"] == [10_000] * 3 + [0, 0, 4500, 10_000, 10_000]


def judged(case: Case) -> Judgement:
    files = {name: (CASES / name).read_bytes() for name in case.files.split()}
    options: dict[str, Any] = {"unit": case.unit, "forced": case.forced, "tags": case.tags}
    return judge_logs(files, Run(warmup=timedelta(0)), [ServiceLevel()], **options)


@pytest.mark.parametrize("case", TABLE, ids=lambda case: f"{case.files} {case.unit} {case.forced}")
def test_each_gets_the_right_verdict_or_is_refused(case: Case) -> None:
    found = judged(case)
    assert found.met is case.met, found.reasons
    rows = found.intervals.select("judged")
    assert not case.counts or tuple(row.count for row in rows) == case.counts
    assert bool(found.unit_taken) is (case.met is not None)
    left_out = [one.sentence for one in found.left_out]
    worst = [f"{row.max_ms:.3f} ms at {row.start_s:g} s" for row in rows if row.met is False]
    assert not case.said or any(case.said in one for one in (*found.reasons, *found.notes, *left_out, *worst))


def test_unit_and_what_is_left_out_are_in_both_outputs(tmp_path: Path) -> None:
    arguments = ["judge", CASES.root.extract("mixed-measures/reads-fixed.log", tmp_path)]
    found = json.loads(CliRunner().invoke(cli, [*arguments, "--json"]).stdout)
    assert (found["unit"], found["unit_why"]) == ("ns", "cassandra-stress writes ns")
    assert [(one["operation"], one["measure"], one["count"]) for one in found["left_out"]] == [
        ("reads", "service time", 20_000),
        ("reads", "wait time", 20_000),
    ]
    text = CliRunner().invoke(cli, arguments).stdout
    assert "- values are taken to be in ns: cassandra-stress writes ns" in text
    assert f"- left out: {arguments[1]} (READ-st), service time, 20,000 values" in text
