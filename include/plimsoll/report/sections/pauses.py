"""Stop-the-world times of the nodes' JVMs, by load."""

from collections.abc import Collection

from plimsoll.analysis.campaign.findings import Findings
from plimsoll.analysis.campaign.pauses import PauseStatistics, Range
from plimsoll.report.charts.theme import Figure, Panels
from plimsoll.report.formatting import NOTHING, figure, ops, percent, span
from plimsoll.report.sections import Section
from plimsoll.report.sections.maxima import draws_loads, spread_row, spreads
from plimsoll.report.tables import Column, Sheet, Table, number

_MIB = 1 << 20
_STOP, _WAIT = "Longest stop", "Longest time to safepoint"
_RANGES = ("longest_ms", "to_safepoint_longest_ms", "gc_cpu_share", "allocated_bytes_s", "heap_after_bytes")


def pauses_table(findings: Findings) -> Table[PauseStatistics]:
    """Return every variant, load and process with a readable GC log; times in ms, sizes in MiB."""
    return Table(
        "Stop-the-world pauses",
        findings.pauses,
        Column("Variant", lambda row: f"{findings.labels[row.variant]}{_process(findings, row)}"),
        number("Load", lambda row: ops(row.load_ops_s)),
        number("Pauses", _stops),
        number("Time in pauses", lambda row: percent(row.stopped_share, 2)),
        number("p50 (ms)", lambda row: _ms(row.p50_ms)),
        number("p99 (ms)", lambda row: _ms(row.p99_ms)),
        number("Longest (ms)", lambda row: _span(row.longest_ms)),
        number("Longest to safepoint (ms)", lambda row: _span(row.to_safepoint_longest_ms)),
        number("GC's CPU share", lambda row: percent(row.gc_cpu_share.median if row.gc_cpu_share else None, 2)),
        number("Allocated (MiB/s a node)", lambda row: _span(row.allocated_bytes_s, _MIB)),
        number("Heap after GC, highest (MiB)", lambda row: _span(row.heap_after_bytes, _MIB)),
    )


def pauses_sheet(findings: Findings) -> Sheet:
    """Return the stop-the-world times as numbers; ranges over repeats as `_low`, `_median` and `_high`."""
    return Sheet(map(_record, findings.pauses))


def pauses_chart(findings: Findings) -> tuple[Figure, ...]:
    """Draw one panel for each figure, on one log scale; none for a single load, or where no GC log shows a stop."""
    rows = [
        spread_row(findings, f"{panel}{_process(findings, pauses)}", pauses, times)
        for pauses in findings.pauses
        for panel, times in ((_STOP, pauses.longest_ms), (_WAIT, pauses.to_safepoint_longest_ms))
        if times and times.low > 0
    ]
    if not draws_loads(rows):
        return ()
    names = sorted({row["panel"] for row in rows}, key=lambda name: (name.startswith(_WAIT), name))
    drawn = Figure(
        name="stops",
        title="Longest stop-the-world times, by load",
        caption=(
            "Stop: the time from the request that all threads of a node's JVM stop until they go on. Time to "
            "safepoint: the time from that request until the last thread has stopped. Each is the longest of all nodes "
            "over the judged time. Points are medians over the valid repeats, bars reach from the lowest to the "
            "highest repeat."
        ),
        spec=spreads(findings, rows, names, "Time (ms, log scale)", bound_ms=None),
        panels=Panels(count=len(names), in_row=min(2, len(names)), narrowest_px=270),
    )
    return (drawn,)


def on_jvms(findings: Findings, _charts: Collection[str] = ()) -> bool:
    """Tell whether any variant runs in a JVM, or may: an external cluster does not tell."""
    return "nodes" not in findings.part.knows or any(variant.jvm for variant in findings.part.variants)


def _process(findings: Findings, pauses: PauseStatistics) -> str:
    """Return the process, with a comma before it, to end a name where a variant has several with JVMs.

    Empty otherwise.
    """
    several = len({other.process for other in findings.pauses if other.variant == pauses.variant}) > 1
    return f", {pauses.process}" if several else ""


def _record(pauses: PauseStatistics) -> dict[str, object]:
    ends = [(name, end) for name in _RANGES for end in ("low", "median", "high")]
    return {
        **pauses.model_dump(exclude={*_RANGES}),
        **{f"{name}_{end}": getattr(getattr(pauses, name), end, None) for name, end in ends},
    }


def _stops(pauses: PauseStatistics) -> str:
    stalls = f" + {pauses.stalls:,} stalls" if pauses.stalls else ""
    more = f" or more ({pauses.unread_lines:,} lines not read)" if pauses.unread_lines else ""
    return f"{pauses.stops:,}{stalls}{more}"


def _ms(value: float | None) -> str:
    return NOTHING if value is None else figure(value)


def _span(values: Range | None, unit: float = 1.0) -> str:
    return span(values.low / unit, values.high / unit) if values else NOTHING


PAUSES = Section(
    "pauses",
    "Pauses",
    tables={"pauses": pauses_table},
    context=lambda findings: {"pauses_unread": any(pauses.unread_lines for pauses in findings.pauses)},
    charts=pauses_chart,
    sheets={"pauses": pauses_sheet},
    is_shown=on_jvms,
)
