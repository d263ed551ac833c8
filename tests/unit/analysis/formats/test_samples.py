"""Real output of load generators, judged: every figure here was found by other means than Plimsoll's."""

import gzip
import json
from datetime import timedelta
from math import ceil
from pathlib import Path
from typing import Any

import pytest
from hdrh.histogram import HdrHistogram

from plimsoll.analysis.attempt.judgement import Judgement, Run
from plimsoll.analysis.attempt.service_level_evaluation import judge_logs
from plimsoll.domain.keys.service_level import ServiceLevel

SAMPLES = Path(__file__).parents[3] / "samples"


def judge(*names: str, **options: Any) -> Judgement:
    files = {name: (SAMPLES / name).read_bytes() for name in names}
    return judge_logs(files, Run(warmup=timedelta(seconds=20)), [ServiceLevel()], **options)


def test_cassandra_stress() -> None:
    found = judge("cassandra-stress.hdr")
    assert (found.format, found.valid, found.met) == ("cassandra-stress HDR log", True, False)
    # Counts and maxima: Java's HdrHistogram on tags head-rt and insert-rt; the stub of 0.503 s is the one cut off.
    assert [(row.count, row.max_ms) for row in found.intervals.select("judged")] == [
        (4998, 143.785983),
        (5002, 284.426239),
        (5000, 1805.647871),
        (4988, 585.105407),
    ]
    assert (found.levels[0].missed, found.levels[0].judged, found.levels[0].not_judged) == (4, 4, 1)


def test_latte_report_equals_its_histograms_read_by_another_library() -> None:
    found = judge("latte.json.gz")
    assert (found.format, found.met, found.errors) == ("latte report (JSON)", True, {})
    log = json.loads(gzip.decompress((SAMPLES / "latte.json.gz").read_bytes()))["result"]["log"]
    for place, row in enumerate(found.intervals.select("judged")):
        merged = HdrHistogram(1, 3_600_000_000_000, 3)
        for sample in log[20 + 10 * place : 30 + 10 * place]:
            for function in sample["cycle_latency_by_fn"].values():
                merged.add(HdrHistogram.decode(function["histogram"]))
        assert row.count == merged.get_total_count() == sum(one["cycle_count"] for one in log[20 + 10 * place :][:10])
        values = sorted(
            (one.value_iterated_to, one.total_count_to_this_value) for one in merged.get_recorded_iterator()
        )
        expected = next(value for value, reached in values if reached >= ceil(0.999 * row.count))
        assert row.p99_9_ms == merged.get_highest_equivalent_value(expected) / 1e6
    assert found.intervals.operations == ("reads", "writes")
    assert "latte.json.gz: 473.9 of 500 ops/s asked for were reached (94.8%)" in found.notes


def test_a_last_sample_of_several_seconds_is_left_out_of_a_latte_report() -> None:
    """As a busy host makes it: the last 4 s of 60 are one sample, 55 s are judged."""
    report = json.loads(gzip.decompress((SAMPLES / "latte.json.gz").read_bytes()))
    log = report["result"]["log"]
    log[56]["duration_s"] = sum(sample["duration_s"] for sample in log[56:])
    del log[57:]
    run = Run(warmup=timedelta(seconds=15), duration=timedelta(seconds=55))
    found = judge_logs({"latte.json": json.dumps(report).encode()}, run, [ServiceLevel()])
    assert found.valid, found.reasons
    assert len(found.intervals.select("judged")) == 4
    assert "latte.json: the last sample covers 4.000 s of a run that ended: it is left out" in found.notes


def test_latte_report_and_latte_log_hold_the_same_operations() -> None:
    report, log = judge("latte.json.gz"), judge("latte.hlog")
    counts = [[row.count for row in one.intervals.select("judged")] for one in (report, log)]
    assert counts[0] == counts[1] == [4953, 4981, 4996, 4993]
    assert any("due in a stall" in note for note in log.notes)


def test_stock_tlp_stress_can_not_be_judged_and_says_what_it_does_tell() -> None:
    found = judge("tlp-stress.csv")
    assert (found.valid, found.levels, found.errors) == (False, (), {})
    assert "percentiles (p99) are service times from a reservoir" in found.reasons[0]
    assert [(one.operation, one.count) for one in found.whole_run] == [("writes", 48_365), ("reads", 12_149)]
    # (48365 - 1614 + 12149 - 410) operations from 18:48:55.860 to 18:50:53.962
    assert "tlp-stress.csv: 495.2 ops/s from its first row to its last, from cumulative counts" in found.notes
    assert any("populating (500 a thread) counts in Elapsed Time, which is 13 s" in note for note in found.notes)
    assert "tlp-stress.csv: the last row is a stub of 1.1 s" in found.notes


@pytest.mark.parametrize(
    ("name", "operation", "count", "p50", "p99_9", "highest"),
    [
        # Row that reaches ceil(0.5 · n), ceil(0.999 · n) operations: 509 and 1017, 2578 and 5150
        ("easy-stress-reads.txt", "reads", 1018, 0.87, 221.25, 250.61),
        ("easy-stress-mutations.txt", "writes", 5155, 1.02, 238.03, 253.76),
    ],
)
def test_easy_stress_holds_figures_of_the_whole_run_only(
    name: str, operation: str, count: int, p50: float, p99_9: float, highest: float
) -> None:
    found = judge(name)
    assert not found.valid
    assert "whole run only" in found.reasons[0]
    assert (found.whole_run[0].operation, found.whole_run[0].count) == (operation, count)
    values = found.whole_run[0].values_ms
    assert (values[50.0], values[99.9], values[100.0]) == (p50, p99_9, highest)


@pytest.mark.parametrize(
    ("name", "form", "judged", "errors"),
    [
        # By sorting: count, values of rank ceil(0.5 · n) and ceil(0.999 · n), failures begun in the interval.
        (
            "ycsb-raw.txt",
            "YCSB raw measurements",
            [(147, 10.346, 25.141, 4), (144, 10.278, 23.774, 5)],
            {"NOT_FOUND": 4, "ERROR": 8},
        ),
        (
            "oha.csv",
            "oha results (CSV)",
            [(173, 49.521127, 120.83911, 2), (173, 50.636634, 166.85322, 5)],
            {"503": 13},
        ),
        (
            "gatling-simulation.log",
            "Gatling simulation.log",
            [(92, 45, 117, 2), (97, 46, 122, 3)],
            {
                "j.i.IOException: Premature close": 1,
                "status.find.in([200, 209], 304), found 503": 4,
                "status.find.is(200), but actually found 503": 2,
            },
        ),
        ("go-ycsb.csv", "go-ycsb measurements (CSV)", [(250, 0.213, 10.702, 11)], {"ERROR": 11}),
    ],
)
def test_logs_of_operations(
    name: str, form: str, judged: list[tuple[int, float, float, int]], errors: dict[str, int]
) -> None:
    level = ServiceLevel(interval=timedelta(seconds=3))
    files = {name: (SAMPLES / name).read_bytes()}
    found = judge_logs(files, Run(warmup=timedelta(seconds=1)), [level])
    assert (found.format, found.errors) == (form, errors)
    for row, (count, p50, p99_9, failed) in zip(found.intervals.select("judged"), judged, strict=True):
        assert (row.count, row.failed) == (count, failed), row
        assert (row.p50_ms, row.p99_9_ms) == pytest.approx((p50, p99_9), rel=0.001)


def test_a_table_of_nothing_is_a_count_of_none() -> None:
    assert judge("easy-stress-deletes.txt").whole_run[0].count == 0
