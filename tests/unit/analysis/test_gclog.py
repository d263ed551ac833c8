import re
import zipfile
from collections import Counter
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from plimsoll.analysis.logs.gc.pauses import Pause, Pauses, Unread, joined
from plimsoll.analysis.logs.gc.unified import parse_gc_log, pauses_frame
from plimsoll.domain.keys.process import ProcessOnHost
from plimsoll.domain.text.errors import LogError

A, B = ProcessOnHost("a", "cassandra"), ProcessOnHost("b", "cassandra")
LOGS = zipfile.Path(Path(__file__).parents[2] / "samples" / "gc-logs.zip")

# Excerpts of real logs (Temurin 11.0.13 and 25, Debian 17.0.15, a small allocating program), counted by eye.
COUNTED = {
    "jdk11-g1": {"Young (Normal)": 1, "Young (Concurrent Start)": 1, "Remark": 1, "Cleanup": 1, "Full": 1},
    "jdk17-g1": {"Young (Normal)": 3, "Young (Concurrent Start)": 1, "Remark": 1, "Cleanup": 1, "Full": 1},
    "jdk11-cms": {"Young": 5, "Initial Mark": 1, "Remark": 1, "Full": 1},
    "jdk11-shenandoah": {
        "Init Mark": 1,
        "Final Mark": 1,
        "Init Update Refs": 1,
        "Final Update Refs": 1,
        "Degenerated GC": 1,
    },
    "jdk17-shenandoah": {"Init Mark": 1, "Final Mark": 1, "Init Update Refs": 1, "Final Update Refs": 1},
    "jdk11-zgc": {"Mark Start": 2, "Mark End": 2, "Relocate Start": 2},
    "jdk17-zgc": {"Mark Start": 3, "Mark End": 2, "Relocate Start": 2},
    "jdk11-parallel": {"Young": 4, "Full": 1},
    "jdk17-parallel": {"Young": 4, "Full": 1},
    "jdk25-g1": {"Young (Normal)": 3, "Full": 1},
    "jdk25-parallel": {"Young": 2},
    "jdk25-shenandoah": {"Init Mark": 1, "Final Mark": 1, "Init Update Refs": 1, "Final Update Refs": 1},
    "jdk25-zgc": {"Mark Start": 2, "Mark End": 3, "Relocate Start": 3},
    "jdk11-serial": {"Young": 3, "Full": 1},
    "jdk17-serial": {"Young": 3, "Full": 1},
}


def text(name: str) -> str:
    return (LOGS / f"{name}.log").read_text()


def short(kind: str) -> str:
    """Shorten `Pause Young (Normal) (G1 Evacuation Pause)` to `Young (Normal)`, leaving out other causes."""
    words = kind.removeprefix("Pause ")
    return (
        " ".join(words.split(" ")[: 3 if "Concurrent Start" in words else 2]) if "G1" in words else words.split(" (")[0]
    )


@pytest.mark.parametrize("name", COUNTED)
def test_every_collectors_pauses_are_those_counted_by_eye(name: Any) -> None:
    found = parse_gc_log(text(name))
    assert Counter(short(pause.kind) for pause in found.collections) == COUNTED[name]


def test_a_pause_starts_its_duration_before_its_line_was_written() -> None:
    first = parse_gc_log(text("jdk11-g1")).collections[0]
    written = datetime(2026, 11, 20, 22, 8, 40, 78_000, timezone(timedelta(hours=1)))
    assert first == Pause(
        at=written - timedelta(milliseconds=2.247),
        duration_ms=2.247,
        kind="Pause Young (Normal) (G1 Evacuation Pause)",
        stop_the_world=True,
        stopped_ms=first.stopped_ms,
        to_safepoint_ms=first.to_safepoint_ms,
    )


def test_long_safepoints_without_a_collection_are_kept_and_short_ones_are_not() -> None:
    others = [pause for pause in parse_gc_log(text("jdk11-g1")).pauses if not pause.kind.startswith("Pause")]
    assert [(pause.kind, pause.duration_ms, pause.stop_the_world) for pause in others] == [
        ("Safepoint EnableBiasedLocking", pytest.approx(43.1965), True)
    ]


@pytest.mark.parametrize(
    ("name", "kind", "part_ms", "whole_ms"),
    [
        ("jdk11-cms", "Pause Full (System.gc())", 50.683, 50.7719),
        ("jdk11-zgc", "Pause Mark Start", 0.409, 2.6109),
        ("jdk17-zgc", "Pause Mark Start", 0.013, 5.511121),
        ("jdk17-g1", "Pause Remark", 0.471, 0.503892),
    ],
)
def test_the_whole_stop_is_told_beside_the_collectors_part(
    name: str, kind: str, part_ms: float, whole_ms: float
) -> None:
    pause = next(pause for pause in parse_gc_log(text(name)).pauses if pause.kind == kind)
    assert (pause.duration_ms, pause.stopped_ms) == (part_ms, pytest.approx(whole_ms))


def test_pauses_nest_where_the_log_nests_them() -> None:
    young, full = (
        next(pause for pause in reversed(parse_gc_log(text("jdk11-serial")).pauses) if pause.kind.startswith(kind))
        for kind in ("Pause Young", "Pause Full")
    )
    assert young.duration_ms > full.duration_ms
    assert young.stopped_ms == full.stopped_ms == pytest.approx(34.4863)


def test_an_allocation_stall_stops_one_thread_not_the_world() -> None:
    stalls = [pause for pause in parse_gc_log(text("jdk17-zgc")).pauses if pause.kind == "Allocation Stall"]
    assert [(pause.duration_ms, pause.stop_the_world, pause.stopped_ms) for pause in stalls] == [
        (8.552, False, None),
        (2.962, False, None),
    ]


def test_a_log_cut_in_a_pauses_line_keeps_the_pauses_before_it() -> None:
    whole = text("jdk17-serial")
    cut = whole[: whole.index("16.165ms") + 7]
    assert len(parse_gc_log(cut).collections) == 3


def test_a_log_whose_beginning_was_rotated_away_has_its_further_pauses() -> None:
    rest = "".join(text("jdk11-parallel").splitlines(keepends=True)[10:])
    assert len(parse_gc_log(rest).collections) == 5


def test_an_empty_log_has_no_pauses() -> None:
    assert parse_gc_log("").pauses == ()


def test_a_log_with_other_decorations_is_refused() -> None:
    with pytest.raises(LogError, match="is not a unified GC log with time, uptime, level and tags"):
        parse_gc_log("[0.010s][info][gc] Using G1\n[0.5s][info][gc] GC(0) Pause Young (Normal) 6M->0M(48M) 2.247ms\n")


def test_the_table_of_several_hosts_counts_from_the_timed_runs_start() -> None:
    start = datetime(2026, 11, 20, 21, 8, 39, tzinfo=UTC)
    frame = pauses_frame({B: parse_gc_log(text("jdk11-g1")), A: parse_gc_log(text("jdk11-cms"))}, start)
    assert {name: str(dtype) for name, dtype in frame.dtypes.items()} == {
        "host": "str",
        "process": "str",
        "start_s": "float64",
        "duration_ms": "float64",
        "kind": "str",
        "stop_the_world": "bool",
        "stopped_ms": "float64",
        "to_safepoint_ms": "float64",
    }
    assert len(frame) == 6 + 8
    assert frame["start_s"].is_monotonic_increasing
    assert frame["start_s"][0] == pytest.approx(0.551 - 0.0431965, abs=1e-6)


def test_the_table_of_nothing_has_the_same_columns() -> None:
    assert list(pauses_frame({}, datetime(2026, 1, 1, tzinfo=UTC)).columns) == [
        "host",
        "process",
        "start_s",
        "duration_ms",
        "kind",
        "stop_the_world",
        "stopped_ms",
        "to_safepoint_ms",
    ]


@pytest.mark.parametrize(
    ("name", "kind", "waited_ms"),
    [
        ("jdk11-shenandoah", "Pause Init Mark (process weakrefs)", 1.9108),
        ("jdk17-zgc", "Pause Mark Start", 0.122912),
        ("jdk25-zgc", "Pause Mark Start (Major)", 0.406846),
        ("jdk25-g1", "Pause Young (Normal) (G1 Evacuation Pause)", 0.005118),
    ],
)
def test_the_time_to_safepoint_is_told(name: str, kind: str, waited_ms: float) -> None:
    pause = next(pause for pause in parse_gc_log(text(name)).pauses if pause.kind == kind)
    assert pause.to_safepoint_ms == pytest.approx(waited_ms)


@pytest.mark.parametrize(
    ("name", "changes_mib"),
    [
        ("jdk25-g1", [(15, 1), (29, 3), (39, 4), (47, 20)]),
        ("jdk25-zgc", [(8, 8), (30, 10)]),
        ("jdk25-shenandoah", [(17, 16), (19, 4)]),
        ("jdk11-zgc", [(92, 18)]),
    ],
)
def test_the_heap_before_and_after_is_told(name: str, changes_mib: Any) -> None:
    found = parse_gc_log(text(name)).heap
    assert [(one.before_bytes >> 20, one.after_bytes >> 20) for one in found] == changes_mib


def test_processor_time_is_that_of_the_pauses() -> None:
    assert sum(one.cpu_s for one in parse_gc_log(text("jdk11-cms")).cpu) == pytest.approx(0.14)
    assert parse_gc_log(text("jdk25-zgc")).cpu == ()


def test_clocks_that_are_ahead_are_put_back() -> None:
    start, log = datetime(2026, 11, 20, 21, 8, 39, tzinfo=UTC), {A: parse_gc_log(text("jdk11-g1"))}
    moved = pauses_frame(log, start, {"a": 250.0})["start_s"] - pauses_frame(log, start)["start_s"]
    assert moved.tolist() == pytest.approx([-0.25] * len(moved))


def test_every_log_tells_the_zone_of_its_times() -> None:
    assert parse_gc_log(text("jdk11-g1")).zone == timezone(timedelta(hours=1))


@pytest.mark.parametrize("decorations", ["[myhost][info]", "[1234][5678]", "[1234][info]"])
def test_a_log_with_other_decorations_is_refused_and_not_read_as_one_without_collections(decorations: str) -> None:
    line = f"[2024-01-01T00:00:01.123+0000][1.100s]{decorations}[gc] GC(0) Pause Young (Normal) 24M->4M(256M) 2.345ms\n"
    with pytest.raises(LogError, match="is not a unified GC log"):
        parse_gc_log(line * 3)


@pytest.mark.parametrize(
    "message",
    [
        "GC(0) Garbage Young took 5.0ms",
        "GC(0) Pause Young (Normal)",
        "GC(0) Garbage Collection (Warmup) 24M(9%)->4M(2%)",
        "GC(0) Pause Young (Normal) 24M->4M(256M) 2.345s",
    ],
)
def test_collections_without_any_pause_are_refused(message: str) -> None:
    """As where ZGC's pauses were not logged, with `-Xlog:gc`."""
    line = f"[2024-01-01T00:00:01.123+0000][1.100s][info ][gc          ] {message}\n"
    with pytest.raises(LogError, match="shows no collection in a known form: 3 of 3 lines"):
        parse_gc_log(line * 3)


def test_logs_of_jvms_that_ran_one_after_the_other_are_read_as_one() -> None:
    first, second = (parse_gc_log((LOGS / f"{name}.log").read_text()) for name in ("jdk11-g1", "jdk17-g1"))
    both = joined([first, second])
    assert both.pauses == (*first.pauses, *second.pauses)
    assert both.zone == first.zone
    assert len({change.cycle for change in both.heap}) == sum(
        len({change.cycle for change in one.heap}) for one in (first, second)
    ), "each JVM counts its cycles from 0"
    assert joined([first]) == first


def test_unknown_lines_of_all_jvms_are_counted_together() -> None:
    [first, second] = [Pauses(unread=Unread(lines, 10 * lines, f"odd {lines}")) for lines in (2, 3)]
    assert joined([Pauses(), first, second]).unread == Unread(5, 50, "odd 2")


@pytest.mark.parametrize("name", [name for name in COUNTED if name.startswith(("jdk11", "jdk17", "jdk25"))])
def test_a_log_as_cassandra_writes_it_by_itself_tells_the_same(name: str) -> None:
    """Its lines have no tags, are those of `gc`, `gc,heap` and `safepoint`, and name process and thread."""
    tags = r"\]\[(gc|gc,heap|gc,metaspace|safepoint) *\]"
    kept = [line for line in text(name).splitlines(keepends=True) if re.search(tags, line)]
    untagged = [re.sub(r"s\](\[\w+ *\])\[[\w,]+ *\]", r"s][4711][4712]\1", line) for line in kept]
    assert untagged != kept
    if name == "jdk25-zgc":  # it tells its pauses under `gc,phases`
        with pytest.raises(LogError, match="no collection in a known form"):
            parse_gc_log("".join(untagged))
    else:
        found, expected = parse_gc_log("".join(untagged)), parse_gc_log("".join(kept))
        assert found.pauses == expected.pauses != ()
        assert found.heap == expected.heap
