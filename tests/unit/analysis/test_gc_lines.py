import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from plimsoll.analysis.logs.gc.pauses import gc_lines
from plimsoll.analysis.logs.gc.unified import parse_gc_log
from plimsoll.domain.text.errors import LogError

LOGS = zipfile.Path(Path(__file__).parents[2] / "samples" / "gc-logs.zip")
UNIFIED = """\
[2026-11-20T22:08:40.076+0100][0.852s][info][gc,start     ] GC(0) Pause Young (Normal) (G1 Evacuation Pause)
[2026-11-20T22:08:40.178+0100][0.955s][info][gc           ] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 6M->0M(48M) 102.247ms
[2026-11-20T22:08:40.278+0100][1.055s][info][gc,phases] GC(1) Pause Mark Start 0.409ms
[2026-11-20T22:08:41.278+0100][2.055s][info][gc          ] Allocation Stall (main) 33,100ms
[2026-11-20T22:08:42.278+0100][2.055s][info][gc,heap    ] GC(1) Eden regions: 3->0(3)
"""  # noqa: E501 - as the JVM writes it
LEGACY = """\
2026-11-22T04:42:04.326+0000: 0.301: [GC (CMS Initial Mark) [1 CMS-initial-mark: 4156K(8192K)] 4848K(11904K), 0.0503192 secs] [Times: user=0.00 sys=0.00, real=0.00 secs]
2026-11-22T04:42:05.326+0000: 1.301: [Full GC (System.gc())  4848K->11904K(8K), 0.2003192 secs]
2026-11-22T04:42:06.326+0000: 2.301: [GC (CMS Final Remark) 4848K(11904K), 0.0003192 secs]
2026-11-22T04:42:07.326+0000: 3.301: [CMS-concurrent-mark: 0.050/0.051 secs]
2026-11-22T04:42:08.326+0000: 4.301: #7: [Pause Degenerated GC (Mark) 24M->4M(48M), 1285.045 ms]
"""  # noqa: E501


def test_pauses_and_stalls_that_took_long_are_told_with_their_time() -> None:
    pause, stall = gc_lines(UNIFIED)
    assert pause.at.astimezone(UTC) == datetime(2026, 11, 20, 21, 8, 40, 178000, UTC)
    assert pause.text.startswith("gc.log: [0.955s][info][gc           ] GC(0) Pause Young")
    assert stall.text.endswith("Allocation Stall (main) 33,100ms")


def test_logs_of_jdk_8_are_read_too() -> None:
    assert [line.at.second for line in gc_lines(LEGACY)] == [4, 5, 8]


@pytest.mark.parametrize("log", sorted(LOGS.iterdir(), key=str), ids=lambda log: log.stem)
def test_every_known_log_is_gone_through(log: zipfile.Path) -> None:
    lines = gc_lines(log.read_text())
    assert all(line.at.tzinfo and line.text.startswith("gc.log: ") for line in lines)


def test_a_log_of_no_known_form_tells_nothing() -> None:
    assert gc_lines("what\nis this 3.0ms\n") == ()


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("cassandra-1  | " + UNIFIED.splitlines()[1], "has another program's words before.*\n.*--no-log-prefix"),
        ('<?xml version="1.0"?>\n<verbosegc version="3c2a7fb">\n', "is a log of OpenJ9.*\n.*judge the run without it"),
        ("[2025-11-01T10:00:00.123+0000][0.004s][1234][info] Using G1\n", "is not a unified GC log.*\n.*-Xlog:gc"),
    ],
)
def test_a_log_of_another_form_is_refused_with_what_to_give_instead(text: str, what: str) -> None:
    with pytest.raises(LogError, match=what):
        parse_gc_log(text)
