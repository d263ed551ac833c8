"""How the matrix shows a cell: mark, colour class, words. Never by colour alone: each state has a sign of its own."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from plimsoll.domain.status import CampaignStatus, CellStatus
from plimsoll.report.words import NOTHING, figure, ms, ops

SIGNS: Mapping[str, str] = {
    "met": "✓",
    "missed": "✗",
    "invalid": "!",
    "failed": "⊘",
    "running": "▸",
    "waiting": "·",
}
MEANINGS: Mapping[str, str] = {
    "met": "kept the service level; the figure is its worst interval as a multiple of the bound",
    "missed": "missed it, by so much",
    "invalid": "the measurement was not sound: to be run again",
    "failed": "ended without a judgement: to be run again",
    "running": "under way: its phase, and how far it is",
    "waiting": "not begun yet",
}
# Upper ends of the shades, as multiples of the bound: the further from it, the stronger.
_MET, _MISSED = (0.5, 0.8), (1.5, 3.0)


@dataclass(frozen=True)
class Row:
    """A variant's squares: one list of repeats for each load."""

    id: str
    label: str
    squares: tuple[tuple[CellStatus, ...], ...]


def rows(status: CampaignStatus) -> tuple[Row, ...]:
    """Variants by loads, repeats in each square."""
    by_place: dict[tuple[str, int], list[CellStatus]] = {}
    for cell in sorted(status.matrix, key=lambda cell: cell.repeat):
        by_place.setdefault((cell.variant, cell.load_ops_s), []).append(cell)
    return tuple(
        Row(variant.id, variant.label, tuple(tuple(by_place.get((variant.id, load), ())) for load in status.loads))
        for variant in status.variants
    )


def shade(cell: CellStatus) -> str:
    """The colour class: the state, and for verdicts how far from the bound, 1 (near) to 3."""
    if cell.state not in ("met", "missed") or cell.worst_to_bound is None:
        return cell.state
    if cell.state == "met":
        return f"met met-{3 - sum(cell.worst_to_bound > end for end in _MET)}"
    return f"missed missed-{1 + sum(cell.worst_to_bound > end for end in _MISSED)}"


def text(cell: CellStatus) -> str:
    """What stands in the square, beside the sign."""
    if cell.state in ("met", "missed"):
        return NOTHING if cell.worst_to_bound is None else f"{figure(round(cell.worst_to_bound, 2))}×"
    return cell.phase or "starts" if cell.state == "running" else cell.state


def words(cell: CellStatus) -> str:
    """The cell in one sentence: for those who hover, and for screen readers."""
    parts = [f"{cell.id}: {cell.state}", *_figures(cell), *_running(cell)]
    tries = f"attempt {cell.attempt} of {cell.attempts}" if cell.attempt else ""
    return "; ".join(part for part in (*parts, tries, cell.reason) if part)


def share(done: int, of: int) -> str:
    """A whole percentage, for a bar."""
    return f"{100 * done / of:.0f}" if of else "0"


def counted(counts: Mapping[str, int]) -> str:
    """`3 met, 1 invalid`."""
    return ", ".join(f"{counts[state]} {state}" for state in SIGNS if counts.get(state))


def size(value: int) -> str:
    """1536 → `1.5 KB`."""
    amount, units = float(value), iter(("B", "KB", "MB", "GB"))
    unit = next(units)
    while amount >= 1000 and unit != "GB":
        amount, unit = amount / 1000, next(units)
    return f"{figure(amount)} {unit}"


def clock(seconds: float | None) -> str:
    """4520 → `1 h 15 min`, 75 → `1 min 15 s`."""
    if seconds is None:
        return NOTHING
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours:,} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


def _figures(cell: CellStatus) -> Iterable[str]:
    if cell.worst_ms is not None and cell.state in ("met", "missed"):
        yield f"worst interval {ms(cell.worst_ms)}, {figure(cell.worst_to_bound or 0)} times the bound"
        yield f"{cell.intervals_missed} of {cell.intervals_judged} intervals missed"
    if cell.achieved_ops_s is not None:
        yield f"achieved {ops(cell.achieved_ops_s)} of {ops(cell.load_ops_s)}"
    if cell.errors:
        yield f"{cell.errors:,} errors"


def _running(cell: CellStatus) -> Iterable[str]:
    if cell.runs:
        left = f", {clock(cell.seconds_left)} of load left" if cell.seconds_left is not None else ""
        yield f"{cell.phase or 'starts'}{left}" if cell.state == "running" else f"runs again now: {cell.phase or ''}"
