"""Logs of JDK 8: excerpts of real ones, and by hand what no log at hand holds."""

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from plimsoll.analysis.gclog import parse_gc_log

FIXTURES = Path(__file__).parent / "fixtures"
YOUNG_G1 = "Pause Young (G1 Evacuation Pause) (young)"

COUNTED = {
    "jdk8-g1": (
        "G1",
        {
            YOUNG_G1: 2,
            f"{YOUNG_G1} (initial-mark)": 1,
            "Pause Remark": 1,
            "Pause Cleanup": 1,
            "Pause Full (System.gc())": 1,
        },
    ),
    "jdk8-g1-cassandra": (
        "G1",
        {YOUNG_G1: 1, f"{YOUNG_G1} (initial-mark)": 1, "Pause Remark": 1, "Pause Full (System.gc())": 1},
    ),
    "jdk8-cms": (
        "CMS",
        {
            "Pause Young (Allocation Failure)": 5,
            "Pause Initial Mark": 1,
            "Pause Remark": 1,
            "Pause Full (System.gc())": 1,
        },
    ),
    "jdk8-cms-cassandra": (
        "CMS",
        {
            "Pause Young (Allocation Failure)": 1,
            "Pause Initial Mark": 1,
            "Pause Remark": 1,
            "Pause Full (System.gc())": 1,
        },
    ),
    "jdk8-parallel": (
        "Parallel",
        {
            "Pause Young (Allocation Failure)": 4,
            "Pause Full (Ergonomics)": 1,
            "Pause Young (System.gc())": 1,
            "Pause Full (System.gc())": 1,
        },
    ),
    "jdk8-serial": ("Serial", {"Pause Young (Allocation Failure)": 3, "Pause Full (System.gc())": 1}),
}


def found(name: str) -> Any:
    return parse_gc_log((FIXTURES / f"{name}.log").read_text())


@pytest.mark.parametrize("name", COUNTED)
def test_every_collectors_pauses_are_those_counted_by_hand(name: Any) -> None:
    log = found(name)
    assert (log.collector, Counter(pause.kind for pause in log.pauses)) == COUNTED[name]


@pytest.mark.parametrize("name", COUNTED)
def test_every_pause_lies_in_the_stop_that_the_log_tells_of_it(name: Any) -> None:
    assert all(0 < pause.duration_ms <= pause.stopped_ms for pause in found(name).pauses)
    assert all(pause.to_safepoint_ms < pause.stopped_ms for pause in found(name).pauses)


def test_a_pause_starts_at_its_lines_time_and_is_told_whole() -> None:
    failed = next(pause for pause in found("jdk8-cms").pauses if pause.duration_ms > 10)
    assert failed.at == datetime(2026, 11, 22, 4, 42, 3, 696_000, tzinfo=UTC)
    assert (failed.duration_ms, failed.stopped_ms, failed.to_safepoint_ms) == (
        pytest.approx(10.1611),
        pytest.approx(11.3536),
        pytest.approx(0.0432),
    )


def test_two_collections_of_one_stop_have_its_length() -> None:
    young, full = found("jdk8-parallel").pauses[-2:]
    assert young.stopped_ms == full.stopped_ms == pytest.approx(4.5137)


@pytest.mark.parametrize(
    ("name", "changes_kib", "cpu_s"),
    [
        (
            "jdk8-cms",
            [(3328, 411), (3739, 618), (11309, 8111), (11439, 8121), (11435, 8217), (9434, 6667)],
            [0.0] * 8,
        ),
        ("jdk8-cms-cassandra", [(3328, 411), (6361, 4993)], [0.0] * 4),
        ("jdk8-parallel", [(3066, 480), (3552, 520), (11040, 8075), (11147, 8188), (8188, 7834), (9655, 7930),
                           (7930, 7901)], [0.01, 0.01, 0.0, 0.0, 0.0, 0.01, 0.01]),
        ("jdk8-serial", [(3328, 405), (3733, 531), (3859, 659), (10624, 7647)], [0.0, 0.0, 0.0, 0.01]),
    ],
)  # fmt: skip
def test_heap_and_processor_time(name: str, changes_kib: Any, cpu_s: Any) -> None:
    log = found(name)
    assert [(one.before_bytes >> 10, one.after_bytes >> 10) for one in log.heap] == changes_kib
    assert [one.cpu_s for one in log.cpu] == pytest.approx(cpu_s)


@pytest.mark.parametrize("name", ["jdk8-g1", "jdk8-g1-cassandra"])
def test_the_heap_of_g1_is_told_once_a_pause(name: str) -> None:
    log = found(name)
    assert len(log.heap) == len([pause for pause in log.pauses if pause.kind != "Pause Remark"])
    assert len(log.cpu) == len(log.pauses)


def test_a_full_collections_processor_time_is_not_that_of_the_phase_it_broke_off() -> None:
    broken_off = """\
2021-03-01T10:00:04.000+0000: 4.000: [Full GC (System.gc()) 2021-03-01T10:00:04.000+0000: 4.000: [CMS2021-03-01T10:00:04.000+0000: 4.000: [CMS-concurrent-mark: 0.010/0.012 secs] [Times: user=9.00 sys=0.00, real=0.01 secs]
 (concurrent mode interrupted): 4696K->4993K(8192K), 0.0052670 secs] 6361K->4993K(11904K), [Metaspace: 2826K->2826K(1056768K)], 0.2000000 secs] [Times: user=0.20 sys=0.00, real=0.20 secs]
2021-03-01T10:00:05.000+0000: 5.000: [CMS-concurrent-mark-start]
 CMS: abort preclean due to time 2021-03-01T10:00:05.100+0000: 5.100: [CMS-concurrent-abortable-preclean: 0.1/5.0 secs] [Times: user=7.00 sys=0.00, real=5.00 secs]
"""  # noqa: E501
    log = parse_gc_log(broken_off)
    assert [(pause.kind, pause.duration_ms) for pause in log.pauses] == [("Pause Full (System.gc())", 200.0)]
    assert [one.cpu_s for one in log.cpu] == [0.2]


def test_a_concurrent_phases_line_amid_a_pauses_is_no_part_of_it() -> None:
    mixed = """\
2021-03-01T10:00:01.000+0000: 1.000: [GC pause (G1 Evacuation Pause) (young)2021-03-01T10:00:01.000+0000: 1.000: [GC concurrent-mark-end, 0.5000000 secs]
2021-03-01T10:00:01.001+0000: 1.001: [GC concurrent-root-region-scan-start]
, 0.0123000 secs]
2021-03-01T10:00:01.013+0000: 1.013: Total time for which application threads were stopped: 0.0125000 seconds, Stopping threads took: 0.0000400 seconds
"""  # noqa: E501
    pauses = parse_gc_log(mixed).pauses
    assert [(pause.kind, pause.duration_ms, pause.stopped_ms) for pause in pauses] == [(YOUNG_G1, 12.3, 12.5)]


def test_free_lists_statistics_amid_a_pauses_line_are_read_over() -> None:
    statistics = """\
2021-03-01T10:00:01.000+0000: 1.000: [GC (Allocation Failure) Before GC:
Statistics for BinaryTreeDictionary:
Total Free Space: 7340032
2021-03-01T10:00:01.001+0000: 1.001: [ParNew: 32768K->1613K(36864K), 0.0059296 secs] 32768K->1613K(94208K)After GC:
Tree      Height: 1
, 0.0060191 secs] [Times: user=0.01 sys=0.01, real=0.01 secs]
"""
    assert [pause.duration_ms for pause in parse_gc_log(statistics).pauses] == [6.0191]


def test_a_pause_cut_short_is_left_out() -> None:
    cut = (FIXTURES / "jdk8-g1-cassandra.log").read_text().partition("\n, ")[0]
    assert parse_gc_log(cut).pauses == ()


def test_a_safepoint_without_a_collection_is_kept_if_it_is_long_enough() -> None:
    stops = """\
2021-03-01T10:00:05.003+0000: 5.003: Total time for which application threads were stopped: 0.0030000 seconds, Stopping threads took: 0.0029000 seconds
2021-03-01T10:00:06.000+0000: 6.000: Total time for which application threads were stopped: 0.0001000 seconds, Stopping threads took: 0.0000100 seconds
"""  # noqa: E501
    assert [(pause.kind, pause.duration_ms) for pause in parse_gc_log(stops).pauses] == [("Safepoint unknown", 3.0)]


SHENANDOAH = """\
2020-07-01T10:00:00.000+0000: 5.000: [Pause Init Mark, 1.512 ms]
2020-07-01T10:00:00.002+0000: 5.002: Total time for which application threads were stopped: 0.0020000 seconds, \
Stopping threads took: 0.0001000 seconds
2020-07-01T10:00:01.000+0000: 6.000: [Pause Final Mark, 0.312 ms]
2020-07-01T10:00:01.001+0000: 6.001: Total time for which application threads were stopped: 0.0004000 seconds, \
Stopping threads took: 0.0001000 seconds
"""


def test_pauses_of_shenandoah_are_safepoints_of_unknown_cause() -> None:
    found = parse_gc_log(SHENANDOAH)
    assert found.collector is None
    assert [(pause.kind, pause.duration_ms) for pause in found.pauses] == [("Safepoint unknown", 2.0)]
