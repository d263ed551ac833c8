"""A named program that a product runs on its hosts, and events that are read from logs without judging them. Their
times are by each host's own clock.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, Protocol, TypeVar

from plimsoll.domain.keys.variant import JvmConfiguration

_NAME = re.compile(r"[a-z][a-z0-9-]*")
MILLISECONDS = "ms"


@dataclass(frozen=True)
class Process:
    """A program on each node, or on the first one, as its product declares it.

    `jvm`: the JVM that the program is to run in, None for a program without one. `log`: the name of the file that the
    product's evidence reads; `gc_log`: the name of its JVM's GC log; `gc_log_again`: of a JVM that was started in
    its place. All are empty where there is none. `files`: what is kept of it, as patterns below its host's folder,
    where `*` also stands for folders: `cassandra/logs/*`. `only_on_first`: whether it runs on the first node alone, and
    not on each.
    """

    name: str
    jvm: JvmConfiguration | None = None
    log: str = ""
    gc_log: str = ""
    files: Sequence[str] = ()
    only_on_first: bool = False
    gc_log_again: str = ""

    def __post_init__(self) -> None:
        """Refuse names that can't be a folder beside the files of the host itself, whose names have a dot."""
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"{self.name!r} is no name of a process: use a-z, 0-9 and -")


@dataclass(frozen=True)
class NodeNeeds:
    """The needs of a definition's nodes, as their products declare them.

    `ports`: the TCP ports on which nodes of any variant listen; `heaps`: the heaps of all processes of the first node
    together, which has the most, bytes, by variant. A product without a JVM has none: its settings say what it takes.
    """

    ports: tuple[int, ...] = ()
    heaps: Mapping[str, int] = field(default_factory=dict)


class _Named(Protocol):
    @property
    def name(self) -> str: ...


CUT = "plimsoll: what followed was not taken"
"""Begins the last line of what was taken of a log that others write, with the reason, where that is not all of it."""


class EventKind(NamedTuple):
    """A kind of event in a product's logs: its words in reports, and the unit of its events' amounts.

    Where the unit is ms, each event delays operations for that long; its start and end may lie further apart than that.
    """

    id: str
    label: str
    unit: str = MILLISECONDS


@dataclass(frozen=True, slots=True)
class Event:
    """One entry of a database's own log, with its amount in the unit of its kind."""

    kind: EventKind
    start: datetime
    end: datetime
    amount: float


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line of a database's own log, unchanged, with its time."""

    at: datetime
    text: str


@dataclass(frozen=True, slots=True)
class GeneratorSecond:
    """The load generator's own state in the second that ends at `at`. None: not known.

    `hiccup_ms`: longest time for which its JVM or machine stalled; `gc_ms`: time spent in garbage collections;
    `cpu_cores`: cores busy. At the second's end `in_flight` operations were sent and not yet answered, and `backlog`
    operations were due and not yet sent. `lag_ms`: the longest delay of an operation that could have been sent at once.
    `failed`: operations that failed in the second.
    `host`: the load host; for several load hosts together, the one that stalled longest.
    """

    at: datetime
    hiccup_ms: float
    gc_ms: float
    cpu_cores: float
    in_flight: int | None = None
    backlog: int | None = None
    lag_ms: float | None = None
    failed: int | None = None
    host: str = "load"


_N = TypeVar("_N", bound=_Named)


def by_prefix(processes: Sequence[_N]) -> dict[str, _N]:
    """Return a node's processes by the prefix of their facts: `datanode: `; the only process has an empty prefix."""
    return {f"{process.name}: " if len(processes) > 1 else "": process for process in processes}


class ProcessOnHost(NamedTuple):
    """One process of one host. `process` is empty for the host itself."""

    host: str
    process: str

    def shown(self, *, several: bool) -> str:
        """Return the name for people: the host's, and the process's where a host runs `several`."""
        return f"{self.host} {self.process}".rstrip() if several else self.host
