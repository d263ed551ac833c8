from datetime import UTC, datetime, timedelta
from math import isnan

import pandas as pd
import pytest

from plimsoll.analysis.attempt.hosts import (
    Span,
    by_host,
    highest_of,
    hosts_frame,
    mean_of,
    means,
    others_highest,
    overlaps_s,
    spans,
)

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
AT = START.timestamp()
EACH = timedelta(seconds=10)
LATE_S = 0.003
"""How late samples are in practice: they are written some milliseconds after the full second."""


def samples(shares: list[float], late_s: float = LATE_S, first_s: int = 1) -> pd.DataFrame:
    """Return a sample of each second after START, written a little late."""
    times = [AT + first_s + second + late_s for second in range(len(shares))]
    rest = {"cpu_idle": 0.0, "cpu_iowait": 0.0, "cpu_steal": 0.0, "disk_busy": 0.0}
    return pd.DataFrame(
        {"host": "load", "time_s": times, "cpu_others": shares, **rest, "net_received_bytes": 0, "net_sent_bytes": 0}
    )


def highest(table: pd.DataFrame, intervals: int, ahead_ms: float = 0.0) -> float:
    return others_highest(table, spans(START, START + intervals * EACH, EACH), {"load": ahead_ms})["load"]


def test_the_last_interval_counts_though_its_last_sample_is_written_after_its_end() -> None:
    assert highest(samples([0.1] * 10 + [0.8] * 10), 2) == pytest.approx(0.8, abs=1e-3)


def test_a_cell_with_one_interval_is_tested() -> None:
    assert highest(samples([0.6] * 10), 1) == pytest.approx(0.6)


@pytest.mark.parametrize("late_s", [-0.4, 0.0, 0.003, 0.5])
def test_a_mean_over_the_judged_time_is_never_above_its_highest_interval(late_s: float) -> None:
    shares = [0.95, *[0.75] * 28, 0.95, 1.0]
    (row,) = hosts_frame(samples(shares, late_s), (START, START + 3 * EACH), EACH).to_dict(orient="records")
    assert row["cpu_others"] <= row["cpu_others_highest"]
    assert row["cpu_others"] == pytest.approx(sum(shares[:30]) / 30, abs=0.01)


def test_a_sample_is_shared_by_the_intervals_in_which_its_time_lies() -> None:
    ((_, own),) = by_host(samples([0.0, 1.0], late_s=0.25), {})
    assert overlaps_s(own, Span(AT + 1, AT + 2)).tolist() == pytest.approx([0.25, 0.75])
    assert means(own, "cpu_others", (Span(AT + 1, AT + 2),)).tolist() == pytest.approx([0.75])


def test_a_sample_after_a_stall_holds_for_all_of_it() -> None:
    table = samples([0.0] * 3 + [0.9] + [0.0] * 7)
    table.loc[table.index >= 3, "time_s"] += 6.0  # nothing was written for seven seconds
    assert highest(table, 1) == pytest.approx(0.9 * 7 / 10, abs=1e-3)


def test_a_host_s_own_clock_is_put_on_the_load_generator_s() -> None:
    shares = [0.0] * 10 + [0.5] * 10
    assert highest(samples(shares, first_s=6), 1, ahead_ms=5000.0) == pytest.approx(0.0, abs=1e-3)
    assert highest(samples(shares, first_s=6), 2, ahead_ms=5000.0) == pytest.approx(0.5, abs=1e-3)


def test_an_interval_of_which_half_or_less_is_sampled_is_not_sampled() -> None:
    ((_, own),) = by_host(samples([0.5] * 5, late_s=0.0), {})
    found = means(own, "cpu_others", spans(START, START + 2 * EACH, EACH))
    assert isnan(found[0])
    assert isnan(mean_of(found))
    assert isnan(highest_of(found))


def test_unknown_values_are_left_out_of_the_mean() -> None:
    ((_, own),) = by_host(samples([0.4] * 7 + [float("nan")] * 3), {})
    assert means(own, "cpu_others", spans(START, START + EACH, EACH)).tolist() == pytest.approx([0.4])


def test_only_whole_intervals_are_spans() -> None:
    assert spans(START, START + timedelta(seconds=25), EACH) == (Span(AT, AT + 10), Span(AT + 10, AT + 20))
