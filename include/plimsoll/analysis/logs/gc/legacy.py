"""Pauses from GC logs of JDK 8: `-XX:+PrintGCDetails -XX:+PrintGCDateStamps -XX:+PrintGCApplicationStoppedTime`.

Unlike in unified logs, the time stamp of a collection is its start. The line with the time for which all threads stood
still comes after it and has the time stamp of its end. The formats come from real logs of G1, CMS, Parallel and Serial
of 8u504, also with Cassandra 3.11's default flags (`-XX:+PrintHeapAtGC -XX:+PrintTenuringDistribution
-XX:+PrintPromotionFailure`), and that of Shenandoah from its port to JDK 8 (`shenandoahGCTraceTime.cpp`). The forms of
lines that tell no pause come from JDK 8's sources, too. Lines of any other form are counted.

A log is divided into records: the text from one time stamp to the next.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from plimsoll.analysis.logs.gc.pauses import CpuTime, HeapChange, Pause, Pauses, number, size_bytes, unread, within

_LINE = re.compile(
    r"(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d{4}): (\d+[.,]\d+: )?(#\d+: )?(?P<rest>.*)", re.ASCII
)
_PHASE_BESIDE = re.compile(r"\[(GC concurrent|CMS-concurrent)-")
_BEGINNING = re.compile(r"\[(Full )?GC\b|\[(Pause|Concurrent) |(Total|Application) time\b")
_NESTED = re.compile(r"\[(Full )?GC\b")
_HEAP_BEFORE = re.compile(r"\{Heap before GC (?!.*Heap after GC)", re.DOTALL)
_OTHER_BRACKETS = re.compile(r"\[0x[^\[\])]*[\])]|^ +\d+: +\d+ +\d+ +\S+$", re.MULTILINE)
"""Addresses, and names of arrays' classes in a histogram: brackets that enclose nothing."""
_NO_PAUSE = re.compile(
    r"\[(GC concurrent|CMS-concurrent)-|\[Concurrent [a-z]|\[Preclean |\[Pause [^,]+, start\]\s*$|Application time: |"
    r"\[(Class Histogram|Heap Dump) \((before|after) full gc\)"
)
_DETAILS = (
    r"\s*$|\s+\S|\}",  # what a record puts on lines of its own is indented
    r", \d+[.,]\d+ (secs|ms)\]",  # the rest of a line that another one interrupted
    r"[\dT:.,+ -]*\[(GC |CMS-)concurrent-[^\[]*$|(\d+[.,]\d+: )?\[Preclean ",  # two stamps may be mixed
    r"(OpenJDK|Java HotSpot\(TM\)) |Memory: |/proc/meminfo:|CommandLine flags: |\d{4}-\d\d-\d\d \S+ GC log file ",
    r"\{?Heap( before GC| after GC|$)|Desired survivor size |- age +\d|Application time: |GC locker: ",
    r"No shared spaces |Finished \w+ |(Expanding|Shrinking) |\w*AdaptiveSize|PSYoungGen::|ASPSYoung",
    r"(Before|After) GC:|Statistics for |-+$|Tree +Height: |(CMS: )?Large [Bb]lock",
    r"(Total Free Space|Max +Chunk Size|Number of Blocks|Av\. +Block +Size): ",
    r"(Status|Reserved region|Collection set|Regions|Humongous object threshold|Max TLAB size|GC threads|Free|Trigger|"
    r"Reference processing|Soft Max Heap Size|Evacuation Reserve|Cancelling concurrent GC|Capacity):",  # Shenandoah's
    r"(Shenandoah|Heuristics ergonomically sets|Pacer for|Initialize Shenandoah heap:|Failed to allocate|Uncommitted|"
    r"Using|Cannot finish degeneration,|Adaptive CSet|Collectable Garbage|Immediate Garbage|Periodic GC triggered) ",
)
_DETAIL = re.compile("|".join(_DETAILS))
_FINAL_STATISTICS = re.compile(r"All times are wall-clock times|GC STATISTICS:")
"""The statistics that Shenandoah prints when the JVM ends, up to the end of the log."""


@dataclass
class Record:
    """The text with one time stamp: `head` up to the closing of its brackets, and the lines below that add to it."""

    at: datetime
    head: str
    details: list[str] = field(default_factory=list)
    cut: bool = False
    """Whether the line of the time stamp has no end: a log may be read while its JVM writes a line."""
    _unclosed: int = field(init=False)
    """Brackets of the head that are not closed, counted line by line: a class histogram has thousands of lines."""

    def __post_init__(self) -> None:
        self._unclosed = _opened(self.head) if _OTHER_BRACKETS.sub("", self.head).startswith("[") else 0

    @property
    def open(self) -> bool:
        """Tell whether the head is not closed yet. Ages, free lists and ends of phases can interrupt it."""
        return self._unclosed > 0

    @property
    def without_pause(self) -> bool:
        """Tell whether the head is of a known form that tells no pause."""
        return _NO_PAUSE.match(self.head) is not None

    def add(self, line: str) -> None:
        if self.open:
            self.head += f"\n{line}"
            self._unclosed += _opened(line)
        else:
            self.details.append(line)

    def takes(self, rest: str) -> bool:
        """Tell whether a stamped line is part of this record.

        It is if the record is open and the line begins no other one. A collection between the heap before and after it
        is part of the record, whose time includes it: `CMSScavengeBeforeRemark` with `PrintHeapAtGC`.
        """
        if not self.open:
            return False
        return not _BEGINNING.match(rest) or bool(_NESTED.match(rest) and _HEAP_BEFORE.search(self.head))


def _opened(text: str) -> int:
    """Return how many brackets a text opens, less those that it closes."""
    own = _OTHER_BRACKETS.sub("", text)
    return own.count("[") - own.count("]")


def read_records(text: str) -> tuple[list[Record], list[str]]:
    """Return the records of a log, and its lines of unknown form outside their heads.

    A line on a concurrent phase amid a pause's record is left out of that record.
    """
    records, unknown, final = list[Record](), list[str](), False
    lines = text.splitlines()
    whole = len(lines) - (not text.endswith("\n"))
    for position, line in enumerate(lines, 1):
        is_cut = position > whole
        stamped = _LINE.match(line)
        last = records[-1] if records else None
        final = not stamped and (final or _FINAL_STATISTICS.match(line) is not None)
        if stamped and last and last.open and _PHASE_BESIDE.match(stamped["rest"]):
            continue
        if stamped and not (last and last.takes(stamped["rest"])):
            records.append(Record(datetime.fromisoformat(stamped["time"]), stamped["rest"], cut=is_cut))
            continue
        if not (final or is_cut or (last and last.open) or _DETAIL.match(line)):
            unknown.append(line)
        if last:
            last.add(line)
    return records, unknown


_PAUSE = re.compile(
    r"\[(?P<kind>GC pause \((?:[^()]|\(\))+\) \((?:young|mixed)\)(?: \(initial-mark\))?|GC remark|GC cleanup|"
    r"(?:Full GC|GC)(?: \((?:[^()]|\(\))+\))?)(?=[\s,:\[\d-]).*, (?P<s>\d+[.,]\d+) secs\]( ?\[Times: .*)?",
    re.DOTALL,
)
_SHENANDOAH = re.compile(
    r"\[(?P<kind>(Pause|Concurrent) [^,\n]+?)( \d+[BKMGT]->\d+[BKMGT]\([^)]*\))?(\n.*)?, (?P<ms>\d+[.,]\d+) ms\]",
    re.DOTALL,
)
_CONCURRENT = re.compile(r"\[(GC concurrent|CMS-concurrent|Concurrent )")
"""A collector's phase beside the application: it belongs to a collection, which has pauses."""
_STOPPED = re.compile(
    r"Total time for which application threads were stopped: (?P<s>\d+[.,]\d+) seconds"
    r"(, Stopping threads took: (?P<stopping>\d+[.,]\d+) seconds)?"
)
_SIZES = re.compile(r"(?P<before>\d+[.,]?\d*[BKMGT])(\(\S+?\))?->(?P<after>\d+[.,]?\d*[BKMGT])\(")
_TIMES = re.compile(r"\[Times: user=(?P<user>\d+[.,]\d+) sys=(?P<sys>\d+[.,]\d+),")


@dataclass(frozen=True)
class _Collection:
    """A pause, or a step of Shenandoah's with heap sizes. Text in its head has precedence over the lines below."""

    record: Record
    at: datetime
    kind: str
    took_ms: float
    cycle: int | None = None

    @property
    def end(self) -> datetime:
        return self.at + timedelta(milliseconds=self.took_ms)

    @property
    def paused(self) -> bool:
        """Tell whether the record holds a pause of the application, and not only heap sizes."""
        return self.kind.startswith("Pause ")

    def heap(self) -> HeapChange | None:
        """Return the last sizes, which are the heap's, behind those of its generations."""
        texts = (self.record.head, *(line for line in self.record.details if "Heap:" in line))
        sizes = _last(_SIZES, (text.partition("[Metaspace")[0] for text in texts))
        if sizes is None:
            return None
        return HeapChange(self.end, size_bytes(sizes["before"]), size_bytes(sizes["after"]), self.took_ms, self.cycle)

    def cpu(self) -> CpuTime | None:
        """Return the last processor time in the head. An earlier one is of an interrupted concurrent phase."""
        details = (line for line in self.record.details if line.startswith(" [Times: "))
        times = _last(_TIMES, (self.record.head, *details))
        return CpuTime(self.end, number(times["user"]) + number(times["sys"])) if times else None


def _last(pattern: re.Pattern[str], texts: Iterable[str]) -> re.Match[str] | None:
    """Return the last match in the first text that has any."""
    return next((matches[-1] for text in texts if (matches := list(pattern.finditer(text)))), None)


def parse_legacy(text: str) -> Pauses | None:
    """Return all pauses of one log; None where no line of the text has this form."""
    records, unknown = read_records(text)
    if not records:
        return None
    steps = _steps(records)
    collections = [step for step in steps if isinstance(step, _Collection)]
    unknown += _unknown(steps)
    if not unknown and not any(collection.paused for collection in collections):
        unknown += [record.head for record in records if _CONCURRENT.match(record.head)]
    return Pauses(
        records[0].at.tzinfo,
        tuple(_pauses(steps)),
        tuple(heap for collection in collections if (heap := collection.heap())),
        tuple(cpu for collection in collections if (cpu := collection.cpu())),
        unread(unknown, text),
    )


def _steps(records: list[Record]) -> list[_Collection | Record]:
    """Return each record, or the collection that the record is about.

    With `PrintGCDetails` Shenandoah writes two lines for each of its steps, and the time stamp of the second one is its
    end.
    """
    ends = any(record.head.rstrip().endswith(", start]") for record in records)
    steps, cycle = list[_Collection | Record](), 0
    for record in records:
        # Without `PrintGCID` no line has the number of its cycle, but each cycle begins with this pause
        cycle += "[Pause Init Mark" in record.head and not record.without_pause
        steps.append(_shenandoah(record, cycle, ends=ends) or _collection(record) or record)
    return steps


def _collection(record: Record) -> _Collection | None:
    match = None if record.open or record.without_pause else _PAUSE.fullmatch(record.head.rstrip())
    if not match:
        return None
    return _Collection(record, record.at, _kind(match["kind"], record.head), 1e3 * number(match["s"]))


def _shenandoah(record: Record, cycle: int, *, ends: bool) -> _Collection | None:
    match = _SHENANDOAH.fullmatch(record.head.rstrip())
    if not match:
        return None
    took_ms = number(match["ms"])
    at = record.at - timedelta(milliseconds=took_ms) if ends else record.at
    return _Collection(record, at, match["kind"], took_ms, cycle)


def _unknown(steps: list[_Collection | Record]) -> Iterator[str]:
    """Yield the lines of each record that tells nothing in a known form, but for a last one that is cut."""
    for position, step in enumerate(steps, 1):
        if isinstance(step, _Collection) or step.without_pause or _STOPPED.match(step.head):
            continue
        if not (position == len(steps) and (step.open or step.cut)):
            yield from step.head.splitlines()


def _pauses(steps: list[_Collection | Record]) -> Iterator[Pause]:
    """Join each collection with the later line that gives the whole time for which application threads were stopped."""
    waiting: list[Pause] = []
    for step in steps:
        if isinstance(step, _Collection):
            waiting += [Pause(step.at, step.took_ms, step.kind)] if step.paused else []
        elif stop := _STOPPED.match(step.head):
            stopped_ms = 1e3 * number(stop["s"])
            stopping_ms = 1e3 * number(stop["stopping"]) if stop["stopping"] else None
            start = step.at - timedelta(milliseconds=stopped_ms)
            yield from within(Pause(start, stopped_ms, "Safepoint unknown", to_safepoint_ms=stopping_ms), waiting)
            waiting = []
    yield from waiting


def _kind(words: str, head: str) -> str:
    """Translate `GC pause (…) (young)` into `Pause Young (…) (young)`, and `Full GC (…)` into `Pause Full (…)`.

    Without `PrintGCCause` only the text behind distinguishes CMS's two pauses from a young collection.
    """
    if words.startswith("GC pause"):
        return f"Pause Young {words.removeprefix('GC pause ')}"
    if words.startswith("Full GC"):
        return f"Pause Full{words.removeprefix('Full GC')}"
    named = {"GC remark": "Remark", "GC cleanup": "Cleanup"}
    named |= {"GC (CMS Initial Mark)": "Initial Mark", "GC (CMS Final Remark)": "Remark"}
    of_cms = {"[1 CMS-initial-mark": "Initial Mark", "[1 CMS-remark": "Remark"}
    known = named.get(words) or next((kind for mark, kind in of_cms.items() if mark in head), None)
    return f"Pause {known or 'Young' + words.removeprefix('GC')}"
