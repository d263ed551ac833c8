"""Logs of JDK 8: excerpts of real ones, and by hand what no log at hand holds."""

import zipfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from plimsoll.analysis.logs.gc.legacy import read_records
from plimsoll.analysis.logs.gc.unified import parse_gc_log
from plimsoll.domain.text.errors import LogError

LOGS = zipfile.Path(Path(__file__).parents[2] / "samples" / "gc-logs.zip")
YOUNG_G1 = "Pause Young (G1 Evacuation Pause) (young)"

COUNTED = {
    "jdk8-g1": {
        YOUNG_G1: 2,
        f"{YOUNG_G1} (initial-mark)": 1,
        "Pause Remark": 1,
        "Pause Cleanup": 1,
        "Pause Full (System.gc())": 1,
    },
    "jdk8-g1-cassandra": {
        YOUNG_G1: 1,
        f"{YOUNG_G1} (initial-mark)": 1,
        "Pause Remark": 1,
        "Pause Full (System.gc())": 1,
    },
    "jdk8-cms": {
        "Pause Young (Allocation Failure)": 5,
        "Pause Initial Mark": 1,
        "Pause Remark": 1,
        "Pause Full (System.gc())": 1,
    },
    "jdk8-cms-cassandra": {
        "Pause Young (Allocation Failure)": 1,
        "Pause Initial Mark": 1,
        "Pause Remark": 1,
        "Pause Full (System.gc())": 1,
    },
    "jdk8-parallel": {
        "Pause Young (Allocation Failure)": 4,
        "Pause Full (Ergonomics)": 1,
        "Pause Young (System.gc())": 1,
        "Pause Full (System.gc())": 1,
    },
    "jdk8-serial": {"Pause Young (Allocation Failure)": 3, "Pause Full (System.gc())": 1},
}


def found(name: str) -> Any:
    return parse_gc_log((LOGS / f"{name}.log").read_text())


@pytest.mark.parametrize("name", COUNTED)
def test_every_collectors_pauses_are_those_counted_by_hand(name: Any) -> None:
    log = found(name)
    assert Counter(pause.kind for pause in log.pauses) == COUNTED[name]


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
    cut = (LOGS / "jdk8-g1-cassandra.log").read_text().partition("\n, ")[0]
    assert parse_gc_log(cut).pauses == ()


@pytest.mark.parametrize("length", [0, 4, 23, 31, 37, 60, 130])
def test_a_last_line_that_the_jvm_has_not_finished_is_of_no_unknown_form(length: int) -> None:
    line = (
        "2021-03-01T10:00:01.100+0000: 1.100: Total time for which application threads were stopped: 0.0003 seconds, "
        "Stopping threads took: 0.0001 seconds"
    )
    read = parse_gc_log(f"{(LOGS / 'jdk8-cms.log').read_text().rstrip()}\n{line}\n{line[:length]}")
    assert (len(read.collections), read.unread) == (8, None)


def test_a_whole_line_of_unknown_form_counts_though_the_last_one_is_cut_in_the_same_words() -> None:
    read = parse_gc_log(f"{(LOGS / 'jdk8-cms.log').read_text().rstrip()}\nstrange words\nstrange words")
    assert read.unread is not None
    assert (read.unread.lines, read.unread.first) == (1, "strange words")


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
2020-07-01T10:00:00.003+0000: 5.003: [Concurrent marking2020-07-01T10:00:01.000+0000: 6.000: Total time for which \
application threads were stopped: 0.0001000 seconds, Stopping threads took: 0.0000100 seconds
, 12.657 ms]
2020-07-01T10:00:02.000+0000: 7.000: [Pause Final Mark
    Using 2 of 2 workers for final marking
, 0.312 ms]
2020-07-01T10:00:02.001+0000: 7.001: Total time for which application threads were stopped: 0.0004000 seconds, \
Stopping threads took: 0.0001000 seconds
2020-07-01T10:00:03.000+0000: 8.000: [Pause Full 24M->4M(48M), 285.045 ms]
"""
SHENANDOAH_DETAILS = """\
OpenJDK 64-Bit Server VM (25.252-b09) for linux-amd64 JRE (1.8.0_252-b09), built on Apr 15 2020 09:19:19 by "x"
CommandLine flags: -XX:+PrintGC -XX:+PrintGCDetails -XX:+PrintGCID -XX:+UseShenandoahGC -XX:-CMSClassUnloadingEnabled
Regions: 3991 x 1024K
Heuristics ergonomically sets -XX:+ExplicitGCInvokesConcurrent
Trigger: Learning 1 of 5. Free (2792M) is below initial threshold (2793M)
Free: 2792M, Max: 1024K regular, 2792M humongous, Frag: 0% external, 0% internal; Reserve: 200M, Max: 1024K
2020-07-01T10:00:00.000+0000: 5.000: #1: [Concurrent reset, start]
    Using 1 of 2 workers for concurrent reset
2020-07-01T10:00:00.001+0000: 5.001: #1: [Concurrent reset, 0.333 ms]
2020-07-01T10:00:00.002+0000: 5.002: #1: [Pause Init Mark (process weakrefs) (unload classes), start]
    Pacer for Mark. Expected Live: 399M, Free: 2792M, Non-Taxable: 279M, Alloc Tax Rate: 0.2x
2020-07-01T10:00:00.005+0000: 5.005: #1: [Pause Init Mark (process weakrefs) (unload classes), 3.000 ms]
2020-07-01T10:00:00.010+0000: 5.010: #1: [Concurrent cleanup, start]
2020-07-01T10:00:00.011+0000: 5.011: #1: [Concurrent cleanup 1613M->1361M(1636M), 1.000 ms]
2020-07-01T10:00:00.020+0000: 5.020: #1: [Concurrent cleanup, start]
2020-07-01T10:00:00.021+0000: 5.021: #1: [Concurrent cleanup 1700M->1000M(1636M), 1.000 ms]
Cancelling concurrent GC: Stopping VM
All times are wall-clock times, except per-root-class counters, that are sum over
all workers. Dividing the <total> over the root stage time estimates parallelism.
Pause Init Mark (G)               185493 us
"""


def test_pauses_of_shenandoah_begin_at_the_time_of_their_line() -> None:
    found = parse_gc_log(SHENANDOAH)
    assert found.unread is None
    assert [(pause.kind, pause.duration_ms, pause.stopped_ms) for pause in found.pauses] == [
        ("Pause Init Mark", 1.512, 2.0),
        ("Pause Final Mark", 0.312, 0.4),
        ("Pause Full", 285.045, None),
    ]
    assert [pause.at.second for pause in found.pauses] == [0, 2, 3]
    assert [(one.after_bytes >> 20, one.took_ms) for one in found.heap] == [(4, 285.045)]


def test_with_details_a_step_of_shenandoah_ends_at_the_time_of_its_second_line() -> None:
    found = parse_gc_log(SHENANDOAH_DETAILS)
    assert found.unread is None
    (pause,) = found.pauses
    assert (pause.kind, pause.duration_ms, pause.at.microsecond) == (
        "Pause Init Mark (process weakrefs) (unload classes)",
        3.0,
        2_000,
    )
    # One cycle cleans up twice: what is copied between is no allocation.
    assert [(one.after_bytes >> 20, one.cycle) for one in found.heap] == [(1361, 1), (1000, 1)]


@pytest.mark.parametrize(
    ("name", "pauses"),
    [
        ("jdk8-g1-id", {YOUNG_G1: 1, f"{YOUNG_G1} (initial-mark)": 1, "Pause Remark": 1, "Pause Cleanup": 1}),
        ("jdk8-cms-id", {"Pause Young (Allocation Failure)": 1, "Pause Initial Mark": 1, "Pause Remark": 1}),
        ("jdk8-cms-scavenge", {"Pause Initial Mark": 1, "Pause Remark": 1}),
    ],
)
def test_further_flags_of_jdk_8_change_no_count(name: str, pauses: Any) -> None:
    log = found(name)
    assert Counter(pause.kind for pause in log.pauses) == pauses
    assert log.unread is None
    assert all(0 < pause.duration_ms <= pause.stopped_ms for pause in log.pauses)


@pytest.mark.parametrize("name", COUNTED)
def test_no_line_of_a_whole_log_is_of_unknown_form(name: str) -> None:
    assert found(name).unread is None


def test_lines_of_unknown_form_are_counted_and_the_first_is_shown() -> None:
    known = (LOGS / "jdk8-serial.log").read_text()
    stamp = "2026-11-22T04:42:09.326+0000: 9.301: "
    odd = f"{stamp}[GC of a kind that nobody knows, 0.5 s]\nwhat is this\n9.400: [GC 10K->1K(20K), 0.1 secs]\n"
    read = parse_gc_log(known + odd)
    assert len(read.collections) == 4
    assert read.unread is not None
    assert (read.unread.lines, read.unread.of) == (3, len((known + odd).splitlines()))
    assert "3 of" in str(read.unread)


def test_a_log_of_unknown_lines_never_has_no_collections() -> None:
    stamp = "2026-11-22T04:42:09.326+0000: 9.301: "
    with pytest.raises(LogError, match="shows no collection in a known form: 2 of 2 lines"):
        parse_gc_log(f"{stamp}[Odd pause, 1 ms]\n{stamp}[Odd pause, 2 ms]\n")


def test_a_cause_with_brackets_of_its_own_is_told_whole() -> None:
    pause = "2021-03-01T10:00:00.943+0000: 3.392: [GC pause (System.gc()) (young) (initial-mark), 0.0144000 secs]\n"
    (found_one,) = parse_gc_log(pause).pauses
    assert found_one.kind == "Pause Young (System.gc()) (young) (initial-mark)"


def test_without_causes_the_pauses_of_cms_keep_their_names() -> None:
    stamp = "2021-03-01T10:00:00.943+0000: 3.392: "
    log = (
        f"{stamp}[GC [1 CMS-initial-mark: 4156K(8192K)] 4848K(11904K), 0.0003 secs]\n"
        f"{stamp}[GC[YG occupancy: 16241 K (16320 K)]0.9: [Rescan (parallel) , 0.03 secs] "
        f"[1 CMS-remark: 374455K(507904K)] 374455K(524224K), 0.0624207 secs]\n"
        f"{stamp}[GC 0.1: [ParNew: 16993K->2105K(19136K), 0.0270541 secs] 16993K->16424K(83008K), 0.0272020 secs]\n"
    )
    assert [pause.kind for pause in parse_gc_log(log).pauses] == ["Pause Initial Mark", "Pause Remark", "Pause Young"]


@pytest.mark.parametrize(
    "phase", ["[CMS-concurrent-mark-start]", "[GC concurrent-mark-start]", "[Concurrent reset, 0.3 ms]"]
)
def test_concurrent_phases_without_any_pause_are_refused(phase: str) -> None:
    with pytest.raises(LogError, match="shows no collection in a known form"):
        parse_gc_log(f"2017-04-03T03:12:02.133-0500: 30.385: {phase}\n" * 3)


def test_a_record_that_is_never_closed_is_read_in_time_to_its_length() -> None:
    begin = "2024-01-01T00:00:01.123+0000: 1.100: [Full GC (Heap Inspection) "
    [record], _ = read_records(f"{begin}\n" + "[\n" * 20_000)
    assert (record.open, record.head.count("[")) == (True, 20_001)
