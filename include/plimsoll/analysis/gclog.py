"""GC logs → pauses: unified logs of JDK 11 and 17, written with `-Xlog:gc*,safepoint:file=F:time,uptime,level,tags`.

Formats as read from real logs of G1, CMS, Shenandoah, ZGC, Parallel and Serial. A line is written when a pause is over,
so its start is the line's time less its duration.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
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


@dataclass(frozen=True, slots=True)
class Pause:
    """One stop. `at` is its start; `kind` the log's own words with the cause, such as `Pause Full (Ergonomics)`.

    `stop_the_world`: all application threads stood still; false for ZGC's allocation stalls, which stop one.
    """

    at: datetime
    duration_ms: float
    kind: str
    collector: Collector | None
    stop_the_world: bool = True


@dataclass(frozen=True)
class Pauses:
    """One JVM's pauses in order of their ends. `collector` is None where the log's beginning is missing."""

    collector: Collector | None = None
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
    return Pauses(collector, tuple(_pauses(lines, collector)))


def pauses_frame(by_host: Mapping[str, Pauses], started_at: datetime) -> pd.DataFrame:
    """Columns host, start_s (from `started_at`, the timed run's start), duration_ms, kind, stop_the_world."""
    import pandas as pd  # late: parsing needs none of it

    rows = [
        (host, (pause.at - started_at).total_seconds(), pause.duration_ms, pause.kind, pause.stop_the_world)
        for host, pauses in by_host.items()
        for pause in pauses.pauses
    ]
    frame = pd.DataFrame(rows, columns=["host", "start_s", "duration_ms", "kind", "stop_the_world"])
    types = {"host": "str", "start_s": "float64", "duration_ms": "float64", "kind": "str", "stop_the_world": "bool"}
    return frame.astype(types).sort_values("start_s", ignore_index=True)


def _lines(text: str) -> Iterator[_Line]:
    for line in text.splitlines():
        match = _LINE.fullmatch(line)
        if match:
            yield _Line(datetime.fromisoformat(match["time"]), match["tags"], match["message"])


def _pauses(lines: list[_Line], collector: Collector | None) -> Iterator[Pause]:
    """Collections as they come; a safepoint's own line follows that of its collection and then adds nothing."""
    name, holds_collection = "unknown", False
    for line in lines:
        if line.tags == "safepoint":
            entering = _ENTERING.fullmatch(line.message)
            stop = _stop(line, name, collector)
            name = entering["name"] if entering else name
            if stop is not None and not holds_collection and stop.duration_ms >= NOTABLE_STOP_MS:
                yield stop
            holds_collection = holds_collection and stop is None
        elif pause := _collection(line, collector):
            holds_collection = holds_collection or pause.stop_the_world
            yield pause


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
