"""What GC logs of every format tell: pauses, and beside them heap and processor time of collections."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

from plimsoll.domain.variant import Collector

if TYPE_CHECKING:
    import pandas as pd

NOTABLE_STOP_MS = 1.0
"""Safepoints without a collection are kept from this length on; JDK 11 makes a tiny one every second."""


@dataclass(frozen=True, slots=True)
class Pause:
    """One stop. `at` is its start; `kind` the log's own words with the cause, such as `Pause Full (Ergonomics)`.

    `stop_the_world`: all application threads stood still; false for ZGC's allocation stalls, which stop one.
    `stopped_ms`: for how long they really did, from asking the threads to stop until letting them go, which can be much
    longer than the collector's part; `to_safepoint_ms`: the first part of that, until the last thread stood. Both None
    where the log does not tell. Pauses can nest: Serial's full ones do.
    """

    at: datetime
    duration_ms: float
    kind: str
    collector: Collector | None
    stop_the_world: bool = True
    stopped_ms: float | None = None
    to_safepoint_ms: float | None = None


@dataclass(frozen=True, slots=True)
class HeapChange:
    """Heap in use before and after a collection or a step of one, bytes; `at` is its end, `cycle` the log's number."""

    at: datetime
    before_bytes: int
    after_bytes: int
    took_ms: float
    cycle: int | None = None


@dataclass(frozen=True, slots=True)
class CpuTime:
    """Processor time of the collector's threads in one pause, s; concurrent phases are told by no JDK up to 25."""

    at: datetime
    cpu_s: float


@dataclass(frozen=True)
class Pauses:
    """One JVM's pauses in order of their ends. `collector` is None where the log's beginning is missing.

    `zone`: that of the log's times, which is the JVM's own; None of an empty log.
    """

    collector: Collector | None = None
    zone: tzinfo | None = None
    pauses: tuple[Pause, ...] = ()
    heap: tuple[HeapChange, ...] = ()
    cpu: tuple[CpuTime, ...] = ()

    @property
    def collections(self) -> tuple[Pause, ...]:
        """Pauses of the collector alone: neither other safepoints nor stalls."""
        return tuple(pause for pause in self.pauses if pause.kind.startswith("Pause"))


UNITS = {"B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def size_bytes(figure: str) -> int:
    """`24M`, `24.5M` or `1024K` in bytes."""
    return round(float(figure[:-1].replace(",", ".")) * UNITS[figure[-1]])


def stopped_ms(pauses: pd.DataFrame) -> pd.Series[float]:
    """How long threads stood in each row of a table of pauses; the collector's part where the log tells no more."""
    return pauses["stopped_ms"].fillna(pauses["duration_ms"])
