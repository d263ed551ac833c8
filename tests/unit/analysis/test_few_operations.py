from datetime import timedelta

import pytest

from plimsoll.analysis.attempt.few_operations import decided_by_few, few_in_intervals
from plimsoll.analysis.attempt.intervals import IntervalRow, IntervalTable
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.keys.service_level import ServiceLevel
from plimsoll.services.definitions.reference import parse_definition

LEVEL = ServiceLevel(percentile=99, interval=timedelta(seconds=10))
TEXT = """
name: few
title: Few operations
system: {version: 4.0.1, nodes: 3}
variants: [{id: g1, jvm: {jdk: openjdk-11.0.13, collector: G1, heap: 512M}}]
timing: {duration: 60s, warmup: 0s}
"""


def table(*counts: int, operation: str = "all") -> IntervalTable:
    rows = (
        IntervalRow(
            start_s=10.0 * number,
            duration_s=10.0,
            phase="judged",
            operation=operation,
            count=count,
            rate_ops_s=count / 10,
            judged_ms=1.0,
            met=True,
            p50_ms=1.0,
            p90_ms=1.0,
            p99_ms=1.0,
            p99_9_ms=1.0,
            max_ms=1.0,
        )
        for number, count in enumerate(counts)
    )
    return IntervalTable(tuple(rows))


def test_repeats_of_a_cell_have_the_same_note() -> None:
    first, second = (list(few_in_intervals(table(*counts), [LEVEL])) for counts in ((501, 498), (500, 496)))
    assert (
        first
        == second
        == [
            "p99 of an interval of 10s is decided by fewer than 10 operations at 50 ops/s: 100 ops/s would do, or "
            "intervals of 20s at 50 ops/s"
        ]
    )


def test_single_intervals_with_few_operations_are_counted_and_empty_ones_are_not() -> None:
    (note,) = few_in_intervals(table(1000, 500, 0, 1000), [LEVEL])
    assert "at 50 ops/s in 1 of 3 intervals: 100 ops/s would do" in note
    assert list(few_in_intervals(table(1000, 0), [LEVEL])) == []


def test_only_the_operations_of_the_service_level_count() -> None:
    reads = LEVEL.model_copy(update={"operations": "reads"})
    assert list(few_in_intervals(table(10), [reads])) == []
    (note,) = few_in_intervals(table(10, operation="reads"), [reads])
    assert note.startswith("p99 of reads of an interval of 10s is decided by fewer than 10 operations at 1 ops/s")


@pytest.mark.parametrize(
    ("keys", "rates"),
    [
        ("loads: [100/s, 2000/s]", ["at 100 ops/s:"]),
        ("loads: [1000/s, 2000/s]", []),
        ("loads: [2000/s]\nservice_levels: [{operations: reads}]", ["at 400 ops/s:"]),
        (
            "loads: [1000/s]\nstages: [{id: top}, {id: low, loads: [10/s]}, {id: half, loads: {share: 50%, of: top}}]",
            ["at 10 ops/s:"],
        ),
    ],
)
def test_a_definition_has_a_note_for_each_stage_and_level_with_few_operations(keys: str, rates: list[str]) -> None:
    found = list(decided_by_few(resolve(parse_definition(f"{TEXT}{keys}\n", "few.yaml")).parts))
    assert len(found) == len(rates)
    assert all(rate in note for rate, note in zip(rates, found, strict=True))
