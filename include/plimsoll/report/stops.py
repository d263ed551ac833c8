"""Stop-the-world times as text and as a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.analysis.stops import Range, Stops
from plimsoll.report.findings import Findings
from plimsoll.report.words import NOTHING, figure, ops, percent, span

if TYPE_CHECKING:
    import pandas as pd

_MIB = 1 << 20
_RANGES = ("longest_ms", "to_safepoint_longest_ms", "gc_cpu_share", "allocated_bytes_s", "heap_after_bytes")


@dataclass(frozen=True)
class StopsRow:
    """One variant at one load, as text; times in ms, sizes in MiB."""

    variant: str
    load: str
    stops: str
    stopped_share: str
    p50: str
    p99: str
    longest: str
    to_safepoint: str
    gc_cpu: str
    allocated: str
    heap_after: str


def stops_rows(findings: Findings) -> tuple[StopsRow, ...]:
    """A row for every variant and load with a readable GC log."""
    return tuple(_row(findings, one) for one in findings.stops)


def stops_frame(findings: Findings) -> pd.DataFrame:
    """The stop-the-world times as numbers; ranges over repeats as `_low`, `_median` and `_high`."""
    import pandas as pd

    return pd.DataFrame([_record(one) for one in findings.stops])


def _record(one: Stops) -> dict[str, object]:
    flat: dict[str, object] = {name: value for name, value in one.model_dump().items() if name not in _RANGES}
    for name in _RANGES:
        found = getattr(one, name)
        flat |= {f"{name}_{end}": getattr(found, end) if found else None for end in ("low", "median", "high")}
    return flat


def _row(findings: Findings, one: Stops) -> StopsRow:
    return StopsRow(
        variant=findings.labels[one.variant],
        load=ops(one.load_ops_s),
        stops=f"{one.stops:,}" + (f" + {one.stalls:,} stalls" if one.stalls else ""),
        stopped_share=percent(one.stopped_share, 2),
        p50=_ms(one.p50_ms),
        p99=_ms(one.p99_ms),
        longest=_span(one.longest_ms),
        to_safepoint=_span(one.to_safepoint_longest_ms),
        gc_cpu=percent(one.gc_cpu_share.median, 2) if one.gc_cpu_share else NOTHING,
        allocated=_span(one.allocated_bytes_s, _MIB),
        heap_after=_span(one.heap_after_bytes, _MIB),
    )


def _ms(value: float | None) -> str:
    return NOTHING if value is None else figure(value)


def _span(found: Range | None, unit: float = 1.0) -> str:
    return span(found.low / unit, found.high / unit) if found else NOTHING
