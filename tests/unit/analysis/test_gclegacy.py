"""Logs of JDK 8, written here after the form that its documentation gives: no JDK 8 is at hand to make real ones."""

from collections import Counter
from datetime import UTC, datetime

import pytest

from plimsoll.analysis.gclog import parse_gc_log

CMS = """\
Java HotSpot(TM) 64-Bit Server VM (25.302-b08) for linux-amd64 JRE (1.8.0_302-b08)
2021-03-01T10:00:01.000+0000: 1.000: [GC (Allocation Failure) 2021-03-01T10:00:01.000+0000: 1.000: [ParNew: 157248K->17470K(157248K), 0.0317842 secs] 284769K->192982K(506816K), 0.0318844 secs] [Times: user=0.10 sys=0.02, real=0.04 secs]
2021-03-01T10:00:01.032+0000: 1.032: Total time for which application threads were stopped: 0.0325000 seconds, Stopping threads took: 0.0004000 seconds
2021-03-01T10:00:02.000+0000: 2.000: [GC (CMS Initial Mark) [1 CMS-initial-mark: 175511K(349568K)] 193270K(506816K), 0.0003234 secs] [Times: user=0.00 sys=0.00, real=0.00 secs]
2021-03-01T10:00:02.001+0000: 2.001: Total time for which application threads were stopped: 0.0009000 seconds, Stopping threads took: 0.0001000 seconds
2021-03-01T10:00:02.001+0000: 2.001: [CMS-concurrent-mark-start]
2021-03-01T10:00:02.100+0000: 2.100: [CMS-concurrent-mark: 0.098/0.099 secs] [Times: user=0.10 sys=0.00, real=0.10 secs]
2021-03-01T10:00:03.000+0000: 3.000: [GC (CMS Final Remark) [YG occupancy: 20000 K (157248 K)]2021-03-01T10:00:03.000+0000: 3.000: [Rescan (parallel) , 0.0011 secs]2021-03-01T10:00:03.001+0000: 3.001: [weak refs processing, 0.0001 secs][1 CMS-remark: 175511K(349568K)] 195511K(506816K), 0.0052000 secs] [Times: user=0.02 sys=0.00, real=0.01 secs]
2021-03-01T10:00:04.000+0000: 4.000: [Full GC (System.gc()) 2021-03-01T10:00:04.000+0000: 4.000: [CMS: 175511K->100000K(349568K), 0.2000000 secs] 200000K->100000K(506816K), [Metaspace: 9000K->9000K(1058816K)], 0.2010000 secs] [Times: user=0.20 sys=0.00, real=0.20 secs]
2021-03-01T10:00:04.202+0000: 4.202: Total time for which application threads were stopped: 0.2020000 seconds, Stopping threads took: 0.0002000 seconds
2021-03-01T10:00:05.003+0000: 5.003: Total time for which application threads were stopped: 0.0030000 seconds, Stopping threads took: 0.0029000 seconds
2021-03-01T10:00:06.000+0000: 6.000: Total time for which application threads were stopped: 0.0001000 seconds, Stopping threads took: 0.0000100 seconds
"""  # noqa: E501

G1 = """\
2021-03-01T10:00:01.000+0000: 1.000: [GC pause (G1 Evacuation Pause) (young), 0.0123000 secs]
   [Parallel Time: 11.0 ms, GC Workers: 8]
   [Eden: 24.0M(24.0M)->0.0B(21.0M) Survivors: 0.0B->3072.0K Heap: 24.0M(256.0M)->4.5M(256.0M)]
 [Times: user=0.05 sys=0.01, real=0.01 secs]
2021-03-01T10:00:02.000+0000: 2.000: [GC pause (Metadata GC Threshold) (young) (initial-mark), 0.0101000 secs]
2021-03-01T10:00:02.010+0000: 2.010: [GC concurrent-root-region-scan-start]
2021-03-01T10:00:03.000+0000: 3.000: [GC remark 2021-03-01T10:00:03.000+0000: 3.000: [Finalize Marking, 0.0002 secs], 0.0058000 secs]
2021-03-01T10:00:03.100+0000: 3.100: [GC cleanup 100M->90M(256M), 0.0004000 secs]
"""  # noqa: E501

PARALLEL = """\
2021-03-01T10:00:01.000+0000: 1.000: [GC (Allocation Failure) [PSYoungGen: 33280K->5088K(38400K)] 33280K->10000K(125952K), 0.0123000 secs] [Times: user=0.05 sys=0.01, real=0.01 secs]
2021-03-01T10:00:02.000+0000: 2.000: [Full GC (Ergonomics) [PSYoungGen: 5088K->0K(38400K)] [ParOldGen: 60000K->40000K(87552K)] 65088K->40000K(125952K), [Metaspace: 9000K->9000K(1058816K)], 0.1000000 secs] [Times: user=0.30 sys=0.00, real=0.10 secs]
"""  # noqa: E501


@pytest.mark.parametrize(
    ("log", "collector", "kinds"),
    [
        (
            CMS,
            "CMS",
            {
                "Pause Young (Allocation Failure)": 1,
                "Pause Initial Mark": 1,
                "Pause Remark": 1,
                "Pause Full (System.gc())": 1,
                "Safepoint unknown": 1,
            },
        ),
        (
            G1,
            "G1",
            {
                "Pause Young (G1 Evacuation Pause) (young)": 1,
                "Pause Young (Metadata GC Threshold) (young) (initial-mark)": 1,
                "Pause Remark": 1,
                "Pause Cleanup": 1,
            },
        ),
        (PARALLEL, "Parallel", {"Pause Young (Allocation Failure)": 1, "Pause Full (Ergonomics)": 1}),
    ],
)
def test_pauses_of_each_collector(log, collector, kinds):
    found = parse_gc_log(log)
    assert (found.collector, Counter(pause.kind for pause in found.pauses)) == (collector, kinds)


def test_a_pause_starts_at_its_lines_time_and_is_told_whole():
    young = parse_gc_log(CMS).pauses[0]
    assert young.at == datetime(2021, 3, 1, 10, 0, 1, tzinfo=UTC)
    assert (young.duration_ms, young.stopped_ms, young.to_safepoint_ms) == (
        pytest.approx(31.8844),
        pytest.approx(32.5),
        pytest.approx(0.4),
    )


def test_heap_and_processor_time():
    found = parse_gc_log(CMS)
    assert [(one.before_bytes >> 10, one.after_bytes >> 10) for one in found.heap] == [
        (284769, 192982),
        (200000, 100000),
    ]
    assert sum(one.cpu_s for one in found.cpu) == pytest.approx(0.12 + 0.02 + 0.2)
    assert [one.after_bytes for one in parse_gc_log(G1).heap] == [4_718_592, 90 << 20]
    assert [one.after_bytes >> 10 for one in parse_gc_log(PARALLEL).heap] == [10000, 40000]
