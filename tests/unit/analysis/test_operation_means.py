from dataclasses import replace

import pandas as pd
import pytest
from tests.support.campaigns.outcomes import campaign_of

from plimsoll.analysis.campaign.by_load import OperationP99, p99_by_operation
from plimsoll.analysis.campaign.cell_results import cell_results

NAN = float("nan")


def intervals(*rows: tuple[str, str, int, float]) -> pd.DataFrame:
    """Make a table of phase, operation, count and p99 in ms."""
    return pd.DataFrame(rows, columns=["phase", "operation", "count", "p99_ms"])


def means(outcome: str, *repeats: pd.DataFrame) -> tuple[OperationP99, ...]:
    """Return those of one variant at one load; `repeats` has the intervals of each attempt."""
    data = campaign_of({"a": {1000: outcome}})
    attempts = tuple(replace(one, intervals=table) for one, table in zip(data.attempts, repeats, strict=True))
    return p99_by_operation(cell_results(replace(data, attempts=attempts)))


def judged(operation: str, *values: float) -> pd.DataFrame:
    return intervals(*(("judged", operation, 100, value) for value in values))


def test_the_mean_of_judged_intervals_is_taken_for_each_operation_alone() -> None:
    table = intervals(
        ("warm-up", "all", 500, 900.0),
        ("warm-up", "reads", 100, 900.0),
        ("judged", "all", 500, 50.0),
        ("judged", "writes", 400, 2.0),
        ("judged", "reads", 100, 10.0),
        ("judged", "all", 5, 60.0),
        ("judged", "writes", 4, 5.0),
        ("judged", "reads", 1, 40.0),
        ("partial", "reads", 1, 700.0),
    )
    reads, writes = means("m", table)
    assert (reads.variant, reads.load_ops_s, reads.operation) == ("a", 1000, "reads")
    assert (reads.repeats, reads.intervals) == (1, 2)
    assert (reads.low_ms, reads.median_ms, reads.high_ms) == (25.0, 25.0, 25.0)
    assert (writes.operation, writes.median_ms) == ("writes", 3.5)


def test_repeats_give_the_lowest_the_median_and_the_highest_mean() -> None:
    (reads,) = means("mxm", judged("reads", 1.0, 3.0), judged("reads", 30.0), judged("reads", 4.0, 5.0, 6.0))
    assert (reads.low_ms, reads.median_ms, reads.high_ms) == (2.0, 5.0, 30.0)
    assert (reads.repeats, reads.intervals, reads.unanswered) == (3, 6, 0)


def test_an_interval_without_an_answer_is_counted_and_in_no_mean() -> None:
    stalled = intervals(("judged", "reads", 10, 8.0), ("judged", "reads", 0, NAN), ("judged", "reads", 10, 4.0))
    (reads,) = means("x", stalled)
    assert (reads.median_ms, reads.intervals, reads.unanswered) == (6.0, 2, 1)


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame(),
        judged("all", 7.0),
        intervals(("judged", "reads", 0, NAN)),
        intervals(("judged", "reads", 5, NAN), ("judged", "reads", 5, 2.0)),
        intervals(("warm-up", "reads", 5, 2.0)),
    ],
    ids=["no table", "no single operation", "never answered", "p99 unknown", "nothing judged"],
)
def test_a_repeat_that_cannot_tell_is_left_out(table: pd.DataFrame) -> None:
    assert means("m", table) == ()
    (reads,) = means("mm", table, judged("reads", 5.0))
    assert (reads.repeats, reads.low_ms, reads.high_ms) == (1, 5.0, 5.0)


def test_only_the_attempt_that_counts_is_read() -> None:
    assert means("i", judged("reads", 5.0)) == ()
    (reads,) = means("d", judged("reads", 500.0), judged("reads", 5.0))
    assert (reads.repeats, reads.median_ms) == (1, 5.0)


def test_operations_come_by_name_whichever_repeat_has_them() -> None:
    both = pd.concat([judged("writes", 1.0), judged("deletes", 2.0)])
    assert [one.operation for one in means("mm", judged("writes", 1.0), both)] == ["deletes", "writes"]
