"""What else happened while a cell ran, by the clocks of the hosts it happened on: read from logs, not judged."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

EventKind = Literal["compaction", "flush", "dropped"]


@dataclass(frozen=True, slots=True)
class Event:
    """One entry of a database's own log. `amount`: ms that it took; of `dropped`, how many messages were dropped."""

    kind: EventKind
    start: datetime
    end: datetime
    amount: float


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line of a database's own log, as it stands there, and its time."""

    at: datetime
    text: str


@dataclass(frozen=True, slots=True)
class GeneratorSecond:
    """How the load generator itself was in the second that ends at `at`.

    `hiccup_ms`: longest time for which its JVM or machine stood still; `gc_ms`: spent in collections; `cpu_cores`:
    cores busy. At the second's end `in_flight` operations were sent and not yet answered, and `backlog` were due and
    not yet sent. `lag_ms`: how late operations were sent in it although there was room, at most. None: not told.
    `host`: whose state it is; of several load hosts together, the one that stood still longest.
    """

    at: datetime
    hiccup_ms: float
    gc_ms: float
    cpu_cores: float
    in_flight: int | None = None
    backlog: int | None = None
    lag_ms: float | None = None
    host: str = "load"
