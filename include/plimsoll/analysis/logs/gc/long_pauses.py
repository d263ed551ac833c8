"""The lines of GC logs on long pauses, to be shown with the nodes' own log lines of the same time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from plimsoll.analysis.logs.gc.pauses import number
from plimsoll.domain.log_events import LogLine

LEAST_MS = 10.0
"""Shorter pauses are left out: a collector like ZGC makes several a second, and none of them explains a miss."""
_TIMED = re.compile(r"\[?(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d{4})(\]|: )", re.ASCII)
_PAUSE = re.compile(
    r"(Pause|Allocation Stall|Relocation Stall) .*?(?P<ms>\d+[.,]\d+)( ms\]|ms)$|"
    r"\[(Full )?GC\b.*, (?P<s>\d+\.\d+) secs\]( \[Times:.*)?$",
    re.ASCII,
)


def gc_lines(text: str) -> tuple[LogLine, ...]:
    """Return each line on a pause or stall of at least `LEAST_MS`, with its time: the pause's end, or with JDK 8 its
    start.

    Reads unified logs and those of JDK 8, as far as one line gives the length of a pause. Other lines are left out:
    `parse_gc_log` counts those that it does not know.
    """
    return tuple(_lines(text))


def _lines(text: str) -> Iterator[LogLine]:
    for line in text.splitlines():
        timed, pause = _TIMED.match(line), _PAUSE.search(line)
        if timed and pause and _took_ms(pause) >= LEAST_MS:
            yield LogLine(datetime.fromisoformat(timed["time"]), f"gc.log: {line[timed.end() :].strip()}")


def _took_ms(pause: re.Match[str]) -> float:
    return number(pause["ms"]) if pause["ms"] else float(pause["s"]) * 1000
