"""Events on the hosts while a cell ran, read from logs without judging them. Times are by each host's own clock."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

MILLISECONDS = "ms"


class EventKind(NamedTuple):
    """A kind of event in a product's logs: its words in reports, and the unit of its events' amounts.

    Where the unit is ms, an event delays operations for as long; its times may lie further apart than that.
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
