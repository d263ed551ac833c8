from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import pytest

from plimsoll.analysis.attempt.coincidence import (
    Collected,
    Occurrence,
    causes_in,
    causes_with,
    coincidence_frame,
    occurrences,
)
from plimsoll.domain.keys.process import Event, EventKind, GeneratorSecond, ProcessOnHost

COMPACTION, DROPPED = EventKind("compaction", "compaction"), EventKind("dropped", "dropped messages", "messages")
KINDS = (COMPACTION, DROPPED)
START = datetime(2026, 3, 1, 12, tzinfo=UTC)


def intervals(*met: bool) -> pd.DataFrame:
    """Return judged intervals of 10 s after one of warm-up."""
    starts = [10.0 * place for place in range(len(met) + 1)]
    known = pd.array([None, *met], dtype="boolean")
    return pd.DataFrame({"start_s": starts, "duration_s": 10.0, "met": known})


def touched(*happened: Occurrence, cause: str = "pause", intervals_of: int = 3) -> list[float]:
    table = coincidence_frame(intervals(*[True] * intervals_of), {cause: happened}, 100, KINDS)
    return table[cause].tolist()


def collected(**changes: object) -> Collected:
    nothing = {
        "started_at": START,
        "ahead_ms": {},
        "pauses": None,
        "events": {},
        "kinds": KINDS,
        "seconds": (),
        "samples": pd.DataFrame(),
        "load_cpus": 4,
    }
    return Collected(**{**nothing, **changes})  # type: ignore[arg-type]


def at(second: float) -> datetime:
    return START + timedelta(seconds=second)


def test_only_judged_intervals_have_a_row_and_misses_are_marked() -> None:
    table = coincidence_frame(intervals(True, False), {}, 100, KINDS)
    assert table["start_s"].tolist() == [10, 20]
    assert table["missed"].tolist() == [False, True]


def test_the_largest_occurrence_of_an_interval_counts_with_its_place() -> None:
    happened = [
        Occurrence(12, 12.1, 100, "node1"),
        Occurrence(15, 15.2, 200, "node2", process="cassandra"),
        Occurrence(16, 16.1, 9, "node3"),
    ]
    table = coincidence_frame(intervals(True, True), {"pause": happened}, 100, KINDS)
    assert table["pause"].tolist() == [200, 0]
    assert table["pause_host"].tolist() == ["node2", ""]
    assert table["pause_process"].tolist() == ["cassandra", ""]


def test_what_was_not_collected_is_unknown_and_not_nothing() -> None:
    table = coincidence_frame(intervals(True), {"pause": ()}, 100, KINDS)
    assert table["pause"].tolist() == [0]
    assert np.isnan(table["steal"]).all()


@pytest.mark.parametrize(
    ("start_s", "held_s", "found"),
    [
        (19.85, 0.1, [100, 100, 0]),  # over 50 ms before the border of 20 s, felt for 100 ms
        (19.75, 0.1, [100, 0, 0]),  # over 150 ms before it
        (18.5, 1.2, [100, 100, 0]),  # ends at 19.7 s and held up for 1.2 s: felt until 20.9 s
        (19.95, 0.1, [100, 100, 0]),  # lies on the border
        (9.0, 0.5, [0, 0, 0]),  # in warm-up, and over with it
        (9.95, 0.04, [100, 0, 0]),  # in warm-up, felt after it
        (45.0, 0.1, [0, 0, 0]),  # after the end
    ],
)
def test_an_occurrence_reaches_as_far_beyond_its_end_as_it_held_up_at_least_the_bound(
    start_s: float, held_s: float, found: Any
) -> None:
    assert touched(Occurrence(start_s, start_s + held_s, 100, "node1", held_s)) == found


def test_a_second_that_ends_on_a_border_belongs_to_the_interval_before_it_and_is_felt_in_the_next() -> None:
    assert touched(Occurrence(19, 20, 1, "node1"), cause="steal") == [1, 1, 0]
    assert touched(Occurrence(18, 19, 1, "node1"), cause="steal") == [1, 0, 0]


def test_pauses_are_as_long_as_threads_stood_and_stalls_are_apart() -> None:
    table = pd.DataFrame(
        {
            "host": ["node1", "node2"],
            "process": "cassandra",
            "start_s": [12.0, 13.0],
            "duration_ms": [1.0, 70.0],
            "stopped_ms": [60.0, None],
            "stop_the_world": [True, False],
        }
    )
    found = occurrences(collected(pauses=table))
    assert found["pause"] == [Occurrence(12.0, 12.06, 60.0, "node1", 0.06, "cassandra")]
    assert [one.amount for one in found["stall"] or ()] == [70.0]


def test_nodes_clocks_are_put_on_the_load_generators() -> None:
    event = Event(COMPACTION, at(11.5), at(12.5), 1000)
    (found,) = (
        occurrences(collected(events={ProcessOnHost("node1", "cassandra"): [event]}, ahead_ms={"node1": 1500.0}))[
            "compaction"
        ]
        or ()
    )
    assert (found.start_s, found.end_s) == (10.0, 11.0)


def test_samples_tell_saturation_steal_and_bursts_of_each_host() -> None:
    samples = pd.DataFrame(
        {
            "time_s": [START.timestamp() + second for second in (11, 12, 13)],
            "host": "node1",
            "cpu_idle": [0.5, 0.01, 0.5],
            "cpu_iowait": [0.1, 0.02, 0.1],
            "cpu_steal": [0.0, 0.2, 0.0],
            "disk_busy": [0.0, 0.0, 1.0],
            "net_received_bytes": [50, 50, 400],
            "net_sent_bytes": [50, 50, 100],
        }
    )
    found = occurrences(collected(samples=samples))
    assert [one.amount for one in found["cpu"] or ()] == pytest.approx([0.4, 0.97, 0.4])
    assert found["steal"] == [Occurrence(11.0, 12.0, 0.2, "node1")]
    assert "others" not in found
    assert found["disk"] == [Occurrence(12.0, 13.0, 1.0, "node1")]
    assert [one.amount for one in found["network"] or ()] == [1, 1, 5]


@pytest.mark.parametrize(("column", "cause"), [("cpu_others", "others"), ("cpu_throttled", "throttled")])
def test_what_not_every_sample_has_counts_where_it_was_sampled(column: str, cause: str) -> None:
    samples = pd.DataFrame(
        {
            "time_s": [START.timestamp() + second for second in (11, 12, 13, 11)],
            "host": ["node1", "node1", "node1", "node2"],
            column: [-0.01, 0.3, 0.0, None],
            **dict.fromkeys(("cpu_idle", "cpu_iowait", "cpu_steal", "disk_busy"), 0.5),
            **dict.fromkeys(("net_received_bytes", "net_sent_bytes"), 1),
        }
    )
    assert occurrences(collected(samples=samples))[cause] == [Occurrence(11.0, 12.0, 0.3, "node1")]
    unknown = occurrences(collected(samples=samples.assign(**{column: float("nan")})))
    assert cause not in unknown


def test_the_load_generators_own_stalls_and_cpu() -> None:
    found = occurrences(collected(seconds=[GeneratorSecond(at(12), 80.0, 120.0, 3.8)]))
    assert found["generator_pause"] == [Occurrence(11.0, 12.0, 120.0, "load", 0.12)]
    assert [one.amount for one in found["generator_cpu"] or ()] == [pytest.approx(0.95)]


def test_every_cause_has_columns_whatever_was_collected() -> None:
    table = coincidence_frame(intervals(True), occurrences(collected()), 100, KINDS)
    assert set(table.columns) == {
        "start_s",
        "missed",
        *(f"{cause.id}{end}" for cause in causes_with(KINDS) for end in ("", "_host", "_process")),
        *(f"{kind.id}{end}" for kind in KINDS for end in ("_label", "_unit")),
    }
    assert np.isnan(table[[cause.id for cause in causes_with(KINDS)]]).all(axis=None)


def test_tables_bring_the_words_of_their_products_kinds_of_events() -> None:
    stall = EventKind("reactor_stall", "reactor stall")
    of_two = [coincidence_frame(intervals(True), {}, 100, kinds) for kinds in (KINDS, (COMPACTION, stall))]
    assert [(one.label, one.unit, one.least(100)) for one in causes_in(of_two)[2:5]] == [
        ("compaction", "ms", 50),
        ("dropped messages", "messages", 1),
        ("reactor stall", "ms", 50),
    ]
