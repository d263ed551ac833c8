"""GC logs of JDK 8 → pauses: `-XX:+PrintGCDetails -XX:+PrintGCDateStamps -XX:+PrintGCApplicationStoppedTime`.

Unlike unified logs, a collection's line is stamped with its start; the line that tells for how long all threads stood
follows it and is stamped with its end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from plimsoll.analysis.gcpause import NOTABLE_STOP_MS, CpuTime, HeapChange, Pause, Pauses, size_bytes
from plimsoll.domain.variant import Collector

_LINE = re.compile(r"(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d{4}): (\d+[.,]\d+: )?(?P<rest>.*)", re.ASCII)
_PAUSE = re.compile(
    r"\[(?P<kind>GC pause \([^)]*\) \((?:young|mixed)\)(?: \(initial-mark\))?|GC remark|GC cleanup|"
    r"(?:Full GC|GC)(?: \((?:[^()]|\(\))+\))?)(?=[ ,:\[]).*, (?P<s>\d+[.,]\d+) secs\]( ?\[Times: .*)?"
)
_STOPPED = re.compile(
    r"Total time for which application threads were stopped: (?P<s>\d+[.,]\d+) seconds"
    r"(, Stopping threads took: (?P<stopping>\d+[.,]\d+) seconds)?"
)
_SIZES = re.compile(r"(?P<before>\d+[.,]?\d*[BKMG])(\(\S+?\))?->(?P<after>\d+[.,]?\d*[BKMG])\(")
_TIMES = re.compile(r"\[Times: user=(?P<user>\d+[.,]\d+) sys=(?P<sys>\d+[.,]\d+),")
_MARKS: dict[str, Collector] = {
    "ParNew": "CMS",
    "CMS": "CMS",
    "PSYoungGen": "Parallel",
    "GC pause": "G1",
    "DefNew": "Serial",
}


def parse_legacy(text: str) -> Pauses | None:
    """All pauses of one log; None where no line of the text is of that form."""
    lines = [match for match in map(_LINE.match, text.splitlines()) if match]
    if not lines:
        return None
    collector = next((_MARKS[mark] for mark in _MARKS if mark in text), None)
    zone = datetime.fromisoformat(lines[0]["time"]).tzinfo
    return Pauses(collector, zone, tuple(_pauses(lines, collector)), *_figures(text))


def _pauses(lines: list[re.Match[str]], collector: Collector | None) -> Iterator[Pause]:
    """Collections wait for the line that tells the whole stop they lie in."""
    waiting: list[Pause] = []
    for line in lines:
        at, rest = datetime.fromisoformat(line["time"]), line["rest"]
        if found := _PAUSE.fullmatch(rest.rstrip()):
            waiting.append(Pause(at, 1e3 * _number(found["s"]), f"Pause {_kind(found['kind'])}", collector))
        elif stop := _STOPPED.match(rest):
            yield from _within(at, stop, waiting, collector)
            waiting = []
    yield from waiting


def _within(end: datetime, stop: re.Match[str], waiting: list[Pause], collector: Collector | None) -> Iterator[Pause]:
    stopped_ms = 1e3 * _number(stop["s"])
    stopping_ms = 1e3 * _number(stop["stopping"]) if stop["stopping"] else None
    for pause in waiting:
        yield replace(pause, stopped_ms=stopped_ms, to_safepoint_ms=stopping_ms)
    if not waiting and stopped_ms >= NOTABLE_STOP_MS:
        start = end - timedelta(milliseconds=stopped_ms)
        yield Pause(start, stopped_ms, "Safepoint unknown", collector, True, stopped_ms, stopping_ms)


def _kind(words: str) -> str:
    """`GC pause (G1 Evacuation Pause) (young)` → `Young (G1 Evacuation Pause) (young)`, `Full GC (…)` → `Full (…)`."""
    if words.startswith("GC pause"):
        return f"Young {words.removeprefix('GC pause ')}"
    if words.startswith("Full GC"):
        return f"Full{words.removeprefix('Full GC')}"
    named = {"GC remark": "Remark", "GC cleanup": "Cleanup", "GC (CMS Initial Mark)": "Initial Mark"}
    return {**named, "GC (CMS Final Remark)": "Remark"}.get(words, f"Young{words.removeprefix('GC')}")


def _figures(text: str) -> tuple[tuple[HeapChange, ...], tuple[CpuTime, ...]]:
    """Heap and processor time; those of G1 stand in lines of their own below the pause's."""
    heap: list[HeapChange] = []
    cpu: list[CpuTime] = []
    at: datetime | None = None
    took_ms = 0.0
    for line in text.splitlines():
        stamped = _LINE.match(line)
        found = _PAUSE.fullmatch(stamped["rest"].rstrip()) if stamped else None
        if stamped and found:
            took_ms = 1e3 * _number(found["s"])
            at = datetime.fromisoformat(stamped["time"]) + timedelta(milliseconds=took_ms)
        elif stamped:
            at = None
        if at is None:
            continue
        sizes = list(_SIZES.finditer(line.partition("[Metaspace")[0]))
        if sizes and (found or "Heap:" in line):
            heap.append(HeapChange(at, size_bytes(sizes[-1]["before"]), size_bytes(sizes[-1]["after"]), took_ms))
        if times := _TIMES.search(line):
            cpu.append(CpuTime(at, _number(times["user"]) + _number(times["sys"])))
    return tuple(heap), tuple(cpu)


def _number(text: str) -> float:
    return float(text.replace(",", "."))
