"""Pauses from unified GC logs of JDK 11 to 25, written with `-Xlog:gc*,safepoint:file=F:time,uptime,level,tags`, or
with `gc=info,safepoint=info` and `time,uptime,pid,tid,level`, as Cassandra does by itself.

The formats come from real logs of G1, CMS, Shenandoah, ZGC (with generations, too), Parallel and Serial of JDK 11, 17
and 25. The JVM writes a line when a pause is over, so the pause's start is the line's time less its duration. For JDK 8
see `legacy`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from plimsoll.analysis.logs.gc.legacy import parse_legacy
from plimsoll.analysis.logs.gc.pauses import (
    CpuTime,
    HeapChange,
    Pause,
    Pauses,
    number,
    size_bytes,
    unknown_form,
    unread,
    within,
)
from plimsoll.domain.text.errors import LogError

if TYPE_CHECKING:
    import pandas as pd

    from plimsoll.domain.keys.process import ProcessOnHost

_LINE = re.compile(
    r"\[(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d{4})\]\[[\d.,]+s\](?:\[\d+\]\[\d+\])?"
    r"\[(error|warning|info|debug|trace) *\](?:\[(?P<tags>[\w,]+) *\])? ?(?P<message>.*)",
    re.ASCII,
)
_TAGS_OF_PAUSES = ("gc", "gc,phases")
# A letter in front, as in `Y: Pause Mark Start (Major)`, is the generation of ZGC that is collected
_PAUSE = re.compile(
    r"GC\(\d+\) (?:[YyOo]: )?(?P<kind>Pause .+?)( \d+[BKMGT]->\d+[BKMGT]\(\d+[BKMGT]\))? (?P<ms>\d+[.,]\d+)ms"
)
_STALL = re.compile(r"(?P<kind>(Allocation|Relocation) Stall) \(.*\) (?P<ms>\d+[.,]\d+)ms")
_ENTERING = re.compile(r"Entering safepoint region: (?P<name>.+)")
_STOPPED_11 = re.compile(
    r"Total time for which application threads were stopped: (?P<s>\d+[.,]\d+) seconds, "
    r"Stopping threads took: (?P<stopping>\d+[.,]\d+) seconds"
)
_STOPPED_17 = re.compile(
    r'Safepoint "(?P<name>[^"]+)", .*Reaching safepoint: +(?P<stopping>\d+) ns, .* Total: +(?P<ns>\d+) ns.*'
)
# Times are in ms, but in s where ZGC has generations
_HEAP = re.compile(
    r"GC\((?P<cycle>\d+)\) (?!Eden|Old|Survivor).*?(?P<before>\d+[BKMGT])(\(\d+%\))?->(?P<after>\d+[BKMGT])\([^)]*\)"
    r"( (?P<took>\d+[.,]\d+)(?P<unit>ms|s))?"
)
_TIMED = re.compile(r"(Pause|Stall|Safepoint|stopped)\b.*\d ?(ms|ns|s|seconds)\b")
"""A message under the tags that pauses are read from: it must be one of the forms above."""
_CYCLE = re.compile(r"GC\(\d+\) ", re.ASCII)
"""The beginning of every line on a collection. A log with such lines and without any pause can't be right."""
_PART_OF_HEAP = re.compile(r"GC\(\d+\) [A-Z][A-Za-z]{2,}[A-Za-z ]*: ", re.ASCII)
"""The beginning of a line on a generation, a space or the metaspace: `GC(3) ParNew: 13184K->775K(14784K)`."""
_CPU = re.compile(r"GC\(\d+\) User=(?P<user>\d+[.,]\d+)s Sys=(?P<sys>\d+[.,]\d+)s Real=.*")
_FRAME = {
    "host": "str",
    "process": "str",
    "start_s": "float64",
    "duration_ms": "float64",
    "kind": "str",
    "stop_the_world": "bool",
    "stopped_ms": "float64",
    "to_safepoint_ms": "float64",
}


@dataclass(frozen=True)
class _Line:
    at: datetime
    tags: str
    message: str

    def pause(self, kind: str, duration_ms: float, *, all_threads: bool = True) -> Pause:
        return Pause(self.at - timedelta(milliseconds=duration_ms), duration_ms, kind, all_threads)


def parse_gc_log(text: str) -> Pauses:
    """Return all pauses of one log: the collector's, other safepoints that are long enough to notice, and ZGC's stalls.

    An incomplete last line is left out, and lines of unknown form are counted. Raises LogError on a text without any
    line of a unified log or of a JDK 8 log with date stamps, and on one with unknown lines that tells no collection.
    """
    pauses = _parsed(text)
    if pauses is None or (pauses.unread and not pauses.collections):
        what, mend = unknown_form(text)
        raise LogError(f"shows no collection in a known form: {pauses.unread}" if pauses else what, mend=mend)
    return pauses


def _parsed(text: str) -> Pauses | None:
    """Return the pauses of a log in either form; None where no line has one of these forms."""
    lines, unknown = _lines(text)
    if not lines:
        return parse_legacy(text) if text.strip() else Pauses()
    pauses = tuple(_pauses(lines))
    if not unknown and not any(map(_collection, lines)):
        unknown += [line.message for line in lines if _CYCLE.match(line.message)]
    cpu = tuple(
        CpuTime(line.at, number(match["user"]) + number(match["sys"]))
        for line in lines
        if line.tags == "gc,cpu" and (match := _CPU.fullmatch(line.message))
    )
    return Pauses(lines[0].at.tzinfo, pauses, tuple(_heap(lines)), cpu, unread(unknown, text))


def pauses_frame(
    by_process: Mapping[ProcessOnHost, Pauses], started_at: datetime, ahead_ms: Mapping[str, float] | None = None
) -> pd.DataFrame:
    """Return a table with one row per pause, in order of time, with the columns of `_FRAME`.

    `start_s` counts from `started_at`. `ahead_ms`: how far each host's clock is ahead of the clock of `started_at`.
    """
    import pandas as pd  # late: parsing needs none of it

    figures = list(_FRAME)[3:]
    rows = [
        (
            *jvm,
            (pause.at - started_at).total_seconds() - (ahead_ms or {}).get(jvm.host, 0.0) / 1000,
            *(getattr(pause, name) for name in figures),
        )
        for jvm, pauses in by_process.items()
        for pause in pauses.pauses
    ]
    return pd.DataFrame(rows, columns=list(_FRAME)).astype(_FRAME).sort_values("start_s", ignore_index=True)


def _lines(text: str) -> tuple[list[_Line], list[str]]:
    """Return the lines of a unified log, and the others: of another form, or on a pause in words that are not known.

    A last line without its end may be cut.
    """
    lines, unknown = list[_Line](), list[str]()
    for line in text.splitlines(keepends=True):
        match = _LINE.fullmatch(line.rstrip())
        read = _Line(datetime.fromisoformat(match["time"]), _tags(match), match["message"]) if match else None
        if read:
            lines.append(read)
        if line.strip() and line.endswith("\n") and (read is None or _strange(read)):
            unknown.append(line)
    return lines, unknown


def _tags(line: re.Match[str]) -> str:
    """Return a line's tags; where it has none, those under which such a message is logged."""
    if line["tags"]:
        return line["tags"]
    if _CPU.fullmatch(line["message"]):
        return "gc,cpu"
    if _PART_OF_HEAP.match(line["message"]):
        return "gc,heap"
    return "gc" if _CYCLE.match(line["message"]) or _STALL.fullmatch(line["message"]) else "safepoint"


def _strange(line: _Line) -> bool:
    """Tell whether a line gives the time of a pause, a stall or a safepoint in a form that is not known."""
    if line.tags not in (*_TAGS_OF_PAUSES, "safepoint") or not _TIMED.search(line.message):
        return False
    return not (_collection(line) or _stop(line, ""))


def _pauses(lines: list[_Line]) -> Iterator[Pause]:
    """Join each collection with the later line of its safepoint, which has the whole time of stopped threads."""
    name, waiting = "unknown", list[Pause]()
    for line in lines:
        if pause := _collection(line):
            waiting.append(pause)
        elif entering := _ENTERING.fullmatch(line.message):
            name = entering["name"]
        elif stop := _stop(line, name):
            yield from within(stop, waiting)
            waiting = []
    yield from waiting


def _collection(line: _Line) -> Pause | None:
    """Return a collector's pause. ZGC logs them under gc,phases; gc,start and gc,stats repeat pauses, ignored."""
    if line.tags not in _TAGS_OF_PAUSES:
        return None
    for pattern in (_PAUSE, _STALL):
        if match := pattern.fullmatch(line.message):
            return line.pause(match["kind"], number(match["ms"]), all_threads=pattern is _PAUSE)
    return None


def _stop(line: _Line, name: str) -> Pause | None:
    """Return the safepoint that ends here. JDK 11 names its cause in an earlier line, JDK 17 in the same line."""
    if match := _STOPPED_11.fullmatch(line.message):
        stop = line.pause(f"Safepoint {name}", 1e3 * number(match["s"]))
        return replace(stop, to_safepoint_ms=1e3 * number(match["stopping"]))
    if match := _STOPPED_17.fullmatch(line.message):
        stop = line.pause(f"Safepoint {match['name']}", int(match["ns"]) / 1e6)
        return replace(stop, to_safepoint_ms=int(match["stopping"]) / 1e6)
    return None


def _heap(lines: list[_Line]) -> Iterator[HeapChange]:
    """Yield heap sizes from lines under `gc`: of pauses, Shenandoah's clean-ups and ZGC's whole collections."""
    for line in lines:
        if line.tags == "gc" and (match := _HEAP.fullmatch(line.message)):
            took = number(match["took"]) * (1 if match["unit"] == "ms" else 1000) if match["took"] else 0.0
            before, after = size_bytes(match["before"]), size_bytes(match["after"])
            yield HeapChange(line.at, before, after, took, int(match["cycle"]))
