"""The records of a GC log of JDK 8: the text from one time stamp to the next, pauses or not.

The forms of lines that belong to a record without telling a pause come from JDK 8's sources and from real logs. Every
other line counts as unknown.
"""

import re
from dataclasses import dataclass, field
from datetime import datetime

_LINE = re.compile(
    r"(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d{4}): (\d+[.,]\d+: )?(#\d+: )?(?P<rest>.*)", re.ASCII
)
_CONCURRENT = re.compile(r"\[(GC concurrent|CMS-concurrent)-")
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


@dataclass
class Records:
    """The records of a log, and its lines of unknown form outside the records' heads."""

    records: list[Record] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)


def read_records(text: str) -> Records:
    """Divide a log into its records. A line on a concurrent phase amid a pause's record is left out of that record."""
    log = Records()
    final = False
    lines = text.splitlines()
    whole = len(lines) - (not text.endswith("\n"))
    for number, line in enumerate(lines, 1):
        is_cut = number > whole
        stamped = _LINE.match(line)
        last = log.records[-1] if log.records else None
        final = not stamped and (final or _FINAL_STATISTICS.match(line) is not None)
        if stamped and last and last.open and _CONCURRENT.match(stamped["rest"]):
            continue
        if stamped and not (last and last.takes(stamped["rest"])):
            log.records.append(Record(datetime.fromisoformat(stamped["time"]), stamped["rest"], cut=is_cut))
            continue
        if not (final or is_cut or (last and last.open) or _DETAIL.match(line)):
            log.unknown.append(line)
        if last:
            last.add(line)
    return log
