from collections.abc import Sequence

import pandas as pd
import pytest
from tests.support.campaigns.outcomes import attempt_of, definition_of

from plimsoll.analysis.campaign.cell_results import AttemptData
from plimsoll.domain.campaign.cell import Cell
from plimsoll.report.charts.timeline import (
    interval_points,
    pause_points,
    points_per_panel,
)

SHAPE = {"a": {10_000: "m"}}


def attempt_with(
    ms: Sequence[float | None], missed: Sequence[int] = (), pauses: pd.DataFrame | None = None, warm_up: int = 0
) -> AttemptData:
    """Return an attempt with one 10 s interval per value; `missed` are places of intervals that missed.

    The first `warm_up` intervals are not judged.
    """
    cell = Cell(variant="a", load_ops_s=10_000, repeat=1)
    table = pd.DataFrame(
        {
            "operation": "all",
            "start_s": [10.0 * place for place in range(len(ms))],
            "duration_s": 10.0,
            "phase": ["warm-up" if place < warm_up else "judged" for place in range(len(ms))],
            "judged_ms": pd.array(ms, dtype="Float64"),
            "met": pd.array([None if place == 0 else place not in missed for place in range(len(ms))], dtype="boolean"),
        }
    )
    noise = table.assign(operation="reads", judged_ms=9_999.0)
    verdict = attempt_of(definition_of(SHAPE), cell, 1, "m").verdict
    none = pd.DataFrame(columns=["host", "process", "start_s", "duration_ms", "kind", "stop_the_world"])
    return AttemptData(verdict, None, pd.concat([noise, table]), none if pauses is None else pauses)


def pauses_of(*rows: tuple[float, float, bool]) -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=["start_s", "duration_ms", "stop_the_world"])
    return table.assign(host="node1", process="cassandra", kind="Pause Young")


def test_few_intervals_are_all_kept_in_order_and_only_of_all_operations() -> None:
    points = interval_points({0: attempt_with([5, 6, 7])}, "all", 60)
    assert list(points["ms"]) == [5, 6, 7]
    assert list(points["start_s"]) == [0, 10, 20]
    assert list(points["intervals"]) == [1, 1, 1]


def test_thinning_keeps_every_peak_at_its_own_time_and_counts_every_miss() -> None:
    values = [1.0] * 100
    values[37], values[38], values[73] = 500.0, 400.0, 300.0
    points = interval_points({3: attempt_with(values, missed=(37, 38, 73))}, "all", 10)
    assert len(points) == 10
    assert set(points["panel"]) == {3}
    peaks = points[points["ms"] > 1]
    assert list(zip(peaks["start_s"], peaks["ms"], peaks["missed"], strict=True)) == [(370, 500, 2), (730, 300, 1)]
    assert points["intervals"].sum() == 100


def test_an_interval_without_operations_leaves_a_gap_and_no_miss() -> None:
    points = interval_points({0: attempt_with([5, None, 7])}, "all", 60)
    assert list(points["ms"].isna()) == [False, True, False]
    assert points["missed"].sum() == 0


def test_attempts_without_intervals_have_no_points() -> None:
    empty = AttemptData(attempt_with([1]).verdict, None, pd.DataFrame(), pd.DataFrame())
    assert interval_points({0: empty}, "all", 60).empty
    assert pause_points({0: empty}, 100.0, 1.0, 60).empty


def test_of_each_slice_the_longest_stop_is_kept_with_the_number_of_stops() -> None:
    pauses = pauses_of((1.0, 5.0, True), (2.0, 80.0, True), (55.0, 7.0, True))
    points = pause_points({0: attempt_with([1], pauses=pauses)}, 100.0, 1.0, 10)
    assert list(zip(points["start_s"], points["ms"], points["pauses"], strict=True)) == [(2, 80, 2), (55, 7, 1)]


def test_short_concurrent_and_untimed_pauses_are_not_drawn() -> None:
    pauses = pauses_of((-3.0, 50.0, True), (4.0, 0.2, True), (5.0, 60.0, False), (100.0, 60.0, True))
    assert pause_points({0: attempt_with([1], pauses=pauses)}, 100.0, 1.0, 10).empty


@pytest.mark.parametrize(("panels", "points"), [(1, 720), (4, 720), (275, 65), (5000, 50)])
def test_more_panels_have_fewer_points_each_within_limits(panels: int, points: int) -> None:
    assert points_per_panel(panels) == points


def test_points_are_of_the_operations_that_are_judged() -> None:
    assert list(interval_points({0: attempt_with([5, 6])}, "reads", 60)["ms"]) == [9_999, 9_999]


def test_warm_up_and_judged_time_are_thinned_apart() -> None:
    points = interval_points({0: attempt_with([900.0, 800.0, 700.0, 5.0, 6.0, 7.0], warm_up=3)}, "all", 3)
    assert list(zip(points["phase"], points["ms"], strict=True)) == [
        ("warm-up", 900), ("warm-up", 700), ("judged", 6), ("judged", 7),
    ]  # fmt: skip
