"""Figures as text with their units, so that every part of the report writes them alike."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from math import floor

from plimsoll.domain.campaign.cell import Cell
from plimsoll.domain.text import wording

NOTHING = "–"


def ops(value: float | None) -> str:
    """Format 40000 as `40,000 ops/s`."""
    return NOTHING if value is None else f"{value:,.0f} ops/s"


def short_ops(value: float) -> str:
    """Return a rate without its unit, for axes whose title has it: 40000 → `40k`, 1500 → `1.5k`, 200 → `200`."""
    return f"{value / 1000:g}k" if value >= 1000 else f"{value:g}"


def ms(value: float | None) -> str:
    """Return milliseconds to three significant digits, no decimals from 1000 on: `0.42 ms`, `38.2 ms`, `1,240 ms`."""
    return NOTHING if value is None else f"{figure(value)} ms"


def multiple(value: float | None) -> str:
    """Format 2.5 as `2.5×`."""
    return NOTHING if value is None else f"{figure(value)}×"


def at_least(text: str, is_floor: bool) -> str:
    """Return a figure as text, marked where it is the least that it can be: `≥ 100 ms`."""
    return f"≥ {text}" if is_floor and text != NOTHING else text


def percent(share: float | None, decimals: int = 1) -> str:
    """Format 0.9375 as `93.8 %`."""
    return NOTHING if share is None else f"{share * 100:.{decimals}f} %"


def percent_at_least(share: float | None, decimals: int = 0) -> str:
    """Return a lower bound, never rounded up: 0.368 → `36 %`."""
    if share is None:
        return NOTHING
    steps = 100 * 10**decimals
    # 0.29 * 100 is a little less than 29 in floating point, and would become 28 %
    return percent(floor(share * steps + 1e-9) / steps, decimals)


def duration(value: timedelta) -> str:
    """Return a duration: `90 s`, `30 min`, `150 min`. Whole minutes are used from three on."""
    seconds = value.total_seconds()
    return f"{figure(seconds / 60)} min" if seconds >= 180 and seconds % 60 == 0 else f"{figure(seconds)} s"


def p_text(value: float | None) -> str:
    """Return a p value to three digits, never as zero."""
    if value is None:
        return NOTHING
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


figure, plural = wording.figure, wording.plural
"""The one helper for figures, and for counts, beside the other formats of reports."""


def listing(items: Sequence[str], most: int = 12) -> str:
    """Return items in one line. Where there are too many, the line ends with the number of items left out."""
    rest = len(items) - most
    return ", ".join(items[:most]) + (f" and {rest} more" if rest > 0 else "")


def span(low: float, high: float) -> str:
    """Return a range of two figures; a single figure where both have the same text."""
    return figure(low) if figure(low) == figure(high) else f"{figure(low)} to {figure(high)}"


def whole_span(low: float, high: float) -> str:
    return f"{low:,.0f}" if round(low) == round(high) else f"{low:,.0f} to {high:,.0f}"


def moment(value: datetime | None) -> str:
    """Format a time as `1 March 2026, 12:00 UTC`."""
    if value is None:
        return NOTHING
    utc = value.astimezone(UTC)
    return f"{utc.day} {utc:%B %Y, %H:%M} UTC"


def place_of(cell: Cell, labels: Mapping[str, str]) -> str:
    """Return the cell in words: `G1 at 40,000 ops/s, repeat 3`; with several workloads `G1, kv, at …`.

    With several stages the stage comes first: `maximum: G1 at …`. `labels` are those of variants by id.
    """
    workload, stage = f", {cell.workload}," if cell.workload else "", f"{cell.stage}: " if cell.stage else ""
    return f"{stage}{labels[cell.variant]}{workload} {at_load(cell.load_ops_s)}, repeat {cell.repeat}"


def at_load(load_ops_s: int) -> str:
    """Return the load as a phrase: `at 40,000 ops/s`, `without a load`."""
    return f"at {ops(load_ops_s)}" if load_ops_s else "without a load"
