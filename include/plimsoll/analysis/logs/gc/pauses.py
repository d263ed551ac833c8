"""The content of GC logs, whatever their format: pauses, heap sizes, processor time of collections. Long pauses are
also lines beside the nodes' own; forms that are not read say what to give instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

from plimsoll.domain.keys.process import LogLine

if TYPE_CHECKING:
    import pandas as pd

LEAST_MS = 10.0
"""Shorter pauses are left out: a collector like ZGC makes several a second, and none of them explains a miss."""

_TIMED = re.compile(r"\[?(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d{4})(\]|: )", re.ASCII)
_PAUSE = re.compile(
    r"(Pause|Allocation Stall|Relocation Stall) .*?(?P<ms>\d+[.,]\d+)( ms\]|ms)$|"
    r"\[(Full )?GC\b.*, (?P<s>\d+\.\d+) secs\]( \[Times:.*)?$",
    re.ASCII,
)

_FLAGS = (
    "start the JVM with -Xlog:gc*,safepoint:file=F:time,uptime,level,tags; JDK 8 with "
    "-XX:+PrintGCDetails -XX:+PrintGCDateStamps -XX:+PrintGCApplicationStoppedTime"
)

_FORMS = {
    r"(?m)^[^\[\]\n]+[^\s\[] *\[\d{4}-\d\d-\d\dT[^\]]+\]\[": (
        "has another program's words before the JVM's lines",
        f"give the log without them (`docker compose logs --no-log-prefix`), or {_FLAGS}",
    ),
    r"<verbosegc\b": (
        "is a log of OpenJ9, which is not read",
        "judge the run without it, or run the database on a JVM with HotSpot",
    ),
}


def stopped_ms(pauses: pd.DataFrame) -> pd.Series[float]:
    """Return for how long application threads were stopped in each row of a table of pauses, ms.

    Where the log does not give that, this is the collector's part of the pause.
    """
    return pauses["stopped_ms"].fillna(pauses["duration_ms"])


@dataclass(frozen=True, slots=True)
class Pause:
    """One pause. `at` is its start; `kind` the log's own words with the cause, such as `Pause Full (Ergonomics)`.

    `stop_the_world`: whether all application threads were stopped; false for ZGC's allocation stalls, which stop one
    thread. `stopped_ms`: the whole time from the request that threads stop until their release, which can be much
    longer than the collector's part. `to_safepoint_ms`: the first part of that time, until the last thread stopped.
    Both are None where the log does not give them. Pauses can nest, as Serial's full ones do.
    """

    at: datetime
    duration_ms: float
    kind: str
    stop_the_world: bool = True
    stopped_ms: float | None = None
    to_safepoint_ms: float | None = None


@dataclass(frozen=True, slots=True)
class HeapChange:
    """Heap in use before and after a collection or a step of it, bytes; `at` is its end, `cycle` the log's number."""

    at: datetime
    before_bytes: int
    after_bytes: int
    took_ms: float
    cycle: int | None = None


@dataclass(frozen=True, slots=True)
class CpuTime:
    """Processor time of the collector's threads in one pause, s. No JDK up to 25 logs that of concurrent phases."""

    at: datetime
    cpu_s: float


@dataclass(frozen=True, slots=True)
class Unread:
    """Lines of a GC log whose form is not known, so that they may tell pauses that nobody counted."""

    lines: int
    of: int
    first: str

    def __str__(self) -> str:
        """Format the count as `3 of 120 lines are of a form that is not known, the first: …`."""
        return f"{self.lines:,} of {self.of:,} lines are of a form that is not known, the first: {self.first}"


def unread(unknown: Sequence[str], text: str) -> Unread | None:
    """Count the unknown lines of a log, and keep the beginning of the first; None where every line is known."""
    shown = unknown[0].strip()[:160] if unknown else ""
    return Unread(len(unknown), len(text.splitlines()), shown) if unknown else None


@dataclass(frozen=True)
class Pauses:
    """One JVM's pauses in order of their ends.

    `zone`: the time zone of the log's times, which is the JVM's own; None for an empty log. `unread`: the lines that
    may tell further pauses, None where there are none.
    """

    zone: tzinfo | None = None
    pauses: tuple[Pause, ...] = ()
    heap: tuple[HeapChange, ...] = ()
    cpu: tuple[CpuTime, ...] = ()
    unread: Unread | None = None

    @property
    def collections(self) -> tuple[Pause, ...]:
        """Return only the collector's pauses, without other safepoints and stalls."""
        return tuple(pause for pause in self.pauses if pause.kind.startswith("Pause"))


def within(stop: Pause, waiting: Sequence[Pause]) -> Iterator[Pause]:
    """Yield the collections of a safepoint, or the safepoint itself if it has none and is long enough."""
    for pause in waiting:
        if pause.stop_the_world:
            yield replace(pause, stopped_ms=stop.duration_ms, to_safepoint_ms=stop.to_safepoint_ms)
        else:
            yield pause
    # Those without a collection are kept from 1 ms on: JDK 11 makes a tiny one every second
    if stop.duration_ms >= 1.0 and not any(pause.stop_the_world for pause in waiting):
        yield replace(stop, stopped_ms=stop.duration_ms)


def joined(logs: Sequence[Pauses]) -> Pauses:
    """Return as one the pauses of JVMs that ran one after the other in the same place."""
    left = [log.unread for log in logs if log.unread]
    heap: list[HeapChange] = []
    for log in logs:
        # Each JVM counts its cycles from 0
        first = max((change.cycle for change in heap if change.cycle is not None), default=-1) + 1
        heap += [change if change.cycle is None else replace(change, cycle=change.cycle + first) for change in log.heap]
    return Pauses(
        zone=next((log.zone for log in logs if log.zone), None),
        pauses=tuple(pause for log in logs for pause in log.pauses),
        heap=tuple(heap),
        cpu=tuple(time for log in logs for time in log.cpu),
        unread=Unread(sum(own.lines for own in left), sum(own.of for own in left), left[0].first) if left else None,
    )


UNITS = {"B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def number(figure: str) -> float:
    """Convert `24.5`, or `24,5` as the JVM's locale may write it."""
    return float(figure.replace(",", "."))


def size_bytes(figure: str) -> int:
    """Convert `24M`, `24.5M` or `1024K` to bytes."""
    return round(number(figure[:-1]) * UNITS[figure[-1]])


def gc_lines(text: str) -> tuple[LogLine, ...]:
    """Return each line on a pause or stall of at least `LEAST_MS`, with its time: the pause's end, or with JDK 8 its
    start.

    Reads unified logs and those of JDK 8, as far as one line gives the length of a pause. Other lines are left out:
    `parse_gc_log` counts those that it does not know.
    """
    lines = []
    for line in text.splitlines():
        timed, pause = _TIMED.match(line), _PAUSE.search(line)
        if timed and pause and (number(pause["ms"]) if pause["ms"] else float(pause["s"]) * 1000) >= LEAST_MS:
            lines.append(LogLine(datetime.fromisoformat(timed["time"]), f"gc.log: {line[timed.end() :].strip()}"))
    return tuple(lines)


def unknown_form(text: str) -> tuple[str, str]:
    """Say what a text is that no line of a known GC log is in, and what to give instead."""
    forms = (words for form, words in _FORMS.items() if re.search(form, text))
    return next(forms, ("is not a unified GC log with time, uptime, level and tags", _FLAGS))
