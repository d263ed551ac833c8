"""Pauses from GC logs of JDK 8: `-XX:+PrintGCDetails -XX:+PrintGCDateStamps -XX:+PrintGCApplicationStoppedTime`.

Unlike in unified logs, the time stamp of a collection is its start. The line with the time for which all threads stood
still comes after it and has the time stamp of its end. The formats come from real logs of G1, CMS, Parallel and Serial
of 8u504, also with Cassandra 3.11's default flags (`-XX:+PrintHeapAtGC -XX:+PrintTenuringDistribution
-XX:+PrintPromotionFailure`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from plimsoll.analysis.gcpause import NOTABLE_STOP_MS, CpuTime, HeapChange, Pause, Pauses, size_bytes
from plimsoll.domain.variant import Collector

_LINE = re.compile(r"(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d{4}): (\d+[.,]\d+: )?(?P<rest>.*)", re.ASCII)
_CONCURRENT = re.compile(r"\[(GC concurrent|CMS-concurrent)-")
_BEGINNING = re.compile(r"\[(Full )?GC\b|Total time ")
_PAUSE = re.compile(
    r"\[(?P<kind>GC pause \([^)]*\) \((?:young|mixed)\)(?: \(initial-mark\))?|GC remark|GC cleanup|"
    r"(?:Full GC|GC)(?: \((?:[^()]|\(\))+\))?)(?=[\s,:\[\d]).*, (?P<s>\d+[.,]\d+) secs\]( ?\[Times: .*)?",
    re.DOTALL,
)
_ADDRESSES = re.compile(r"\[0x[^\])]*[\])]")
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


@dataclass
class _Record:
    """The text with one time stamp: `head` up to the closing of its brackets, and the lines below that add to it."""

    at: datetime
    head: str
    details: list[str] = field(default_factory=list)

    @property
    def open(self) -> bool:
        """Whether the head is not closed yet.

        Survivors' ages, free-list statistics and ends of concurrent phases can interrupt it.
        """
        text = _ADDRESSES.sub("", self.head)
        return text.startswith("[") and text.count("[") > text.count("]")

    def add(self, line: str) -> None:
        if self.open:
            self.head += f"\n{line}"
        else:
            self.details.append(line)


@dataclass(frozen=True)
class _Collection:
    """The record of a pause. Text in its head has precedence over the lines below."""

    record: _Record
    kind: str
    took_ms: float

    @property
    def end(self) -> datetime:
        return self.record.at + timedelta(milliseconds=self.took_ms)

    def pause(self, collector: Collector | None) -> Pause:
        return Pause(self.record.at, self.took_ms, f"Pause {self.kind}", collector)

    def heap(self) -> HeapChange | None:
        told = [self.record.head, *(line for line in self.record.details if "Heap:" in line)]
        of_heap = (list(_SIZES.finditer(text.partition("[Metaspace")[0])) for text in told)
        sizes = next(filter(None, of_heap), None)
        if sizes is None:
            return None
        return HeapChange(self.end, size_bytes(sizes[-1]["before"]), size_bytes(sizes[-1]["after"]), self.took_ms)

    def cpu(self) -> CpuTime | None:
        """The last processor time in the head.

        An earlier one belongs to a concurrent phase that the pause interrupted.
        """
        told = [self.record.head, *(line for line in self.record.details if line.startswith(" [Times: "))]
        times = next(filter(None, (list(_TIMES.finditer(text)) for text in told)), None)
        return CpuTime(self.end, _number(times[-1]["user"]) + _number(times[-1]["sys"])) if times else None


def parse_legacy(text: str) -> Pauses | None:
    """All pauses of one log; None where no line of the text has this form."""
    records = list(_records(text))
    if not records:
        return None
    collector = next((_MARKS[mark] for mark in _MARKS if mark in text), None)
    collections = [found for found in map(_collection, records) if found]
    return Pauses(
        collector,
        records[0].at.tzinfo,
        tuple(_pauses(records, collector)),
        tuple(heap for one in collections if (heap := one.heap())),
        tuple(cpu for one in collections if (cpu := one.cpu())),
    )


def _records(text: str) -> Iterator[_Record]:
    """The records of a log.

    A stamped line inside a pause's record belongs to it, unless it is about a concurrent phase.
    """
    record: _Record | None = None
    for line in text.splitlines():
        stamped = _LINE.match(line)
        if stamped and record and record.open and _CONCURRENT.match(stamped["rest"]):
            continue
        if stamped and (record is None or not record.open or _BEGINNING.match(stamped["rest"])):
            if record:
                yield record
            record = _Record(datetime.fromisoformat(stamped["time"]), stamped["rest"])
        elif record:
            record.add(line)
    if record:
        yield record


def _collection(record: _Record) -> _Collection | None:
    if _CONCURRENT.match(record.head) or record.open:
        return None
    found = _PAUSE.fullmatch(record.head.rstrip())
    return _Collection(record, _kind(found["kind"]), 1e3 * _number(found["s"])) if found else None


def _pauses(records: list[_Record], collector: Collector | None) -> Iterator[Pause]:
    """Join each collection with the later line that gives the whole time for which threads stood still."""
    waiting: list[Pause] = []
    for record in records:
        if found := _collection(record):
            waiting.append(found.pause(collector))
        elif stop := _STOPPED.match(record.head):
            yield from _within(record.at, stop, waiting, collector)
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


def _number(text: str) -> float:
    return float(text.replace(",", "."))
