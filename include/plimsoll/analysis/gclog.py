"""GC logs → pauses: unified logs of JDK 11 and 17, written with `-Xlog:gc*,safepoint:file=F:time,uptime,level,tags`.

Formats as read from real logs of G1, CMS, Shenandoah, ZGC, Parallel and Serial. A line is written when a pause is over,
so its start is the line's time less its duration.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from typing import TYPE_CHECKING

from plimsoll.domain.errors import LogError
from plimsoll.domain.variant import Collector

if TYPE_CHECKING:
    import pandas as pd

NOTABLE_STOP_MS = 1.0
"""Safepoints without a collection are kept from this length on; JDK 11 makes a tiny one every second."""

_LINE = re.compile(
    r"\[(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d{4})\]\[[\d.,]+s\]"
    r"\[\w+ *\]\[(?P<tags>[\w,]+) *\] (?P<message>.*)",
    re.ASCII,
)
_COLLECTORS: dict[str, Collector] = {
    "Using G1": "G1",
    "Using Concurrent Mark Sweep": "CMS",
    "Using Shenandoah": "Shenandoah",
    "Using The Z Garbage Collector": "ZGC",
    "Initializing The Z Garbage Collector": "ZGC",
    "Using Parallel": "Parallel",
    "Using Serial": "Serial",
}
_PAUSE = re.compile(r"GC\(\d+\) (?P<kind>Pause .+?)( \d+[BKMGT]->\d+[BKMGT]\(\d+[BKMGT]\))? (?P<ms>\d+[.,]\d+)ms")
_STALL = re.compile(r"(?P<kind>Allocation Stall) \(.*\) (?P<ms>\d+[.,]\d+)ms")
_ENTERING = re.compile(r"Entering safepoint region: (?P<name>.+)")
_STOPPED_11 = re.compile(r"Total time for which application threads were stopped: (?P<s>\d+[.,]\d+) seconds,.*")
_STOPPED_17 = re.compile(r'Safepoint "(?P<name>[^"]+)", .* Total: +(?P<ns>\d+) ns')
_FRAME = {
    "host": "str",
    "start_s": "float64",
    "duration_ms": "float64",
    "kind": "str",
    "stop_the_world": "bool",
    "stopped_ms": "float64",
}


@dataclass(frozen=True, slots=True)
class Pause:
    """One stop. `at` is its start; `kind` the log's own words with the cause, such as `Pause Full (Ergonomics)`.

    `stop_the_world`: all application threads stood still; false for ZGC's allocation stalls, which stop one.
    `stopped_ms`: for how long they really did, from asking the threads to stop until letting them go, which can be much
    longer than the collector's part; None where the log does not tell. Pauses can nest: Serial's full ones do.
    """

    at: datetime
    duration_ms: float
    kind: str
    collector: Collector | None
    stop_the_world: bool = True
    stopped_ms: float | None = None


@dataclass(frozen=True)
class Pauses:
    """One JVM's pauses in order of their ends. `collector` is None where the log's beginning is missing.

    `zone`: that of the log's times, which is the JVM's own; None of an empty log.
    """

    collector: Collector | None = None
    zone: tzinfo | None = None
    pauses: tuple[Pause, ...] = ()

    @property
    def collections(self) -> tuple[Pause, ...]:
        """Pauses of the collector alone: neither other safepoints nor stalls."""
        return tuple(pause for pause in self.pauses if pause.kind.startswith("Pause"))


@dataclass(frozen=True)
class _Line:
    at: datetime
    tags: str
    message: str

    def pause(self, kind: str, duration_ms: float, collector: Collector | None, *, all_threads: bool = True) -> Pause:
        return Pause(self.at - timedelta(milliseconds=duration_ms), duration_ms, kind, collector, all_threads)


def parse_gc_log(text: str) -> Pauses:
    """All pauses of one log: the collector's, other safepoints that are long enough to notice, and ZGC's stalls.

    A last line that is cut short is left out. Raises LogError on a text that has lines, but none of a unified log's.
    """
    lines = list(_lines(text))
    if text.strip() and not lines:
        raise LogError(
            "is not a unified GC log with time, uptime, level and tags",
            mend="start the JVM with -Xlog:gc*,safepoint:file=F:time,uptime,level,tags",
        )
    collector = next((_COLLECTORS[line.message] for line in lines if line.message in _COLLECTORS), None)
    zone = lines[0].at.tzinfo if lines else None
    return Pauses(collector, zone, tuple(_pauses(lines, collector)))


def pauses_frame(
    by_host: Mapping[str, Pauses], started_at: datetime, ahead_ms: Mapping[str, float] | None = None
) -> pd.DataFrame:
    """A row a pause: host, start_s (from `started_at`), duration_ms, kind, stop_the_world, stopped_ms.

    `ahead_ms`: by how much hosts' clocks are ahead of the one that `started_at` was read from.
    """
    import pandas as pd  # late: parsing needs none of it

    rows = [
        {
            "host": host,
            "start_s": (pause.at - started_at).total_seconds() - (ahead_ms or {}).get(host, 0.0) / 1000,
            "duration_ms": pause.duration_ms,
            "kind": pause.kind,
            "stop_the_world": pause.stop_the_world,
            "stopped_ms": pause.stopped_ms,
        }
        for host, pauses in by_host.items()
        for pause in pauses.pauses
    ]
    frame = pd.DataFrame(rows, columns=list(_FRAME))
    return frame.astype(_FRAME).sort_values("start_s", ignore_index=True)


def _lines(text: str) -> Iterator[_Line]:
    for line in text.splitlines():
        match = _LINE.fullmatch(line)
        if match:
            yield _Line(datetime.fromisoformat(match["time"]), match["tags"], match["message"])


def _pauses(lines: list[_Line], collector: Collector | None) -> Iterator[Pause]:
    """Collections wait for the line of the safepoint they lie in, which follows theirs and tells the whole stop."""
    name, waiting = "unknown", list[Pause]()
    for line in lines:
        if pause := _collection(line, collector):
            waiting.append(pause)
        elif entering := _ENTERING.fullmatch(line.message):
            name = entering["name"]
        elif stop := _stop(line, name, collector):
            yield from _within(stop, waiting)
            waiting = []
    yield from waiting


def _within(stop: Pause, waiting: list[Pause]) -> Iterator[Pause]:
    """The collections of a safepoint; the safepoint itself if it has none and is long enough."""
    for pause in waiting:
        yield replace(pause, stopped_ms=stop.duration_ms) if pause.stop_the_world else pause
    if stop.duration_ms >= NOTABLE_STOP_MS and not any(pause.stop_the_world for pause in waiting):
        yield replace(stop, stopped_ms=stop.duration_ms)


def _collection(line: _Line, collector: Collector | None) -> Pause | None:
    """A collector's pause (ZGC's are in gc,phases); gc,start and gc,stats repeat them and are no source."""
    if line.tags not in ("gc", "gc,phases"):
        return None
    for pattern in (_PAUSE, _STALL):
        if match := pattern.fullmatch(line.message):
            return line.pause(match["kind"], _number(match["ms"]), collector, all_threads=pattern is _PAUSE)
    return None


def _stop(line: _Line, name: str, collector: Collector | None) -> Pause | None:
    """The safepoint that ends with this line: JDK 11 names it in an earlier line, 17 in the same."""
    if match := _STOPPED_11.fullmatch(line.message):
        return line.pause(f"Safepoint {name}", 1e3 * _number(match["s"]), collector)
    if match := _STOPPED_17.fullmatch(line.message):
        return line.pause(f"Safepoint {match['name']}", int(match["ns"]) / 1e6, collector)
    return None


def _number(text: str) -> float:
    return float(text.replace(",", "."))
