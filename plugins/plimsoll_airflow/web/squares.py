"""Show a cell in the matrix: sign, colour class, words. Each state has its own sign, not only a colour."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from plimsoll.domain.attempt.status import CampaignStatus, CampaignSummary, CellStateName, CellStatus, StageStatus
from plimsoll.domain.text.units import parse_rate
from plimsoll.domain.text.wording import plural, some_of
from plimsoll.report.formatting import NOTHING, at_least, figure, ms, ops, short_ops
from plimsoll.services.steps.steps import step_in

SIGNS: Mapping[str, str] = {
    "met": "✓",
    "missed": "✗",
    "invalid": "!",
    "failed": "⊘",
    "running": "▸",
    "waiting": "·",
    "not-needed": "–",
}
MEANINGS: Mapping[str, str] = {
    "met": "kept the service level; the figure is its worst interval as a multiple of the bound",
    "missed": "missed it, by so much",
    "invalid": "the measurement was not sound: to be run again",
    "failed": "ended without a judgement: to be run again",
    "running": "under way: its phase, and how far it is",
    "waiting": "not begun yet",
    "not-needed": "left out by the strategy, for another cell decided; neither met nor missed",
}
# Upper ends of the shades, as multiples of the bound: the further from it, the stronger.
_MET, _MISSED = (0.5, 0.8), (1.5, 3.0)


@dataclass(frozen=True)
class Row:
    """A row of squares: a variant with one workload in one stage. A square per repeat and column, None without a cell.

    `workload` and `stage` are empty where the campaign has only one.
    """

    id: str
    label: str
    workload: str
    repeats: tuple[tuple[CellStatus | None, ...], ...]
    stage: str = ""


@dataclass(frozen=True)
class OtherState:
    """The small entry below a square's own state: its sign and words, and its colour class."""

    text: str
    shade: str


def columns(status: CampaignStatus) -> tuple[str, ...]:
    """Return the headings: rising loads, then names of loads from earlier stages."""
    loads = sorted({cell.load_ops_s for cell in status.matrix if not cell.level})
    named = dict.fromkeys(cell.level for cell in status.matrix if cell.level)
    return (*map(short_ops, loads if status.stages else status.loads), *named)


def rows(status: CampaignStatus) -> tuple[Row, ...]:
    """Return the rows: variants by workload and stage, with their repeats by columns. Those without cells are out."""
    by_place = {(cell.stage, cell.variant, cell.workload, cell.repeat, _column(cell)): cell for cell in status.matrix}
    stages = [(stage.id, stage.repeats) for stage in status.stages] or [("", status.repeats)]

    def squares(stage: str, most: int, variant: str, workload: str) -> tuple[tuple[CellStatus | None, ...], ...]:
        place, shown = (stage, variant, workload), columns(status)
        lines = (tuple(by_place.get((*place, n, column)) for column in shown) for n in range(1, most + 1))
        return tuple(line for line in lines if any(line))

    every = (
        Row(variant.id, variant.label, workload, squares(stage, most, variant.id, workload), stage)
        for stage, most in stages
        for workload in status.workloads or ("",)
        for variant in status.variants
    )
    return tuple(row for row in every if row.repeats)


def _column(cell: CellStatus) -> str:
    return cell.level or short_ops(cell.load_ops_s)


def shown_state(cell: CellStatus) -> CellStateName:
    """Return the state that the square shows: running, if the cell runs, whatever the result of an older attempt."""
    return "running" if cell.runs else cell.state


def shade(cell: CellStatus) -> str:
    return "running again" if _runs_again(cell) else _verdict_shade(cell)


def text(cell: CellStatus) -> str:
    if cell.runs:
        return cell.phase or "starts"
    return _figure(cell) if cell.state in ("met", "missed") else cell.state


def other_state(cell: CellStatus) -> OtherState | None:
    """Return the result that counts while the cell runs again, else the result of a newer one that does not count."""
    if _runs_again(cell):
        return OtherState(f"{SIGNS[cell.state]} {_figure(cell)}", _verdict_shade(cell))
    if cell.newest is not None:
        return OtherState(f"{SIGNS[cell.newest]} {cell.newest}", cell.newest)
    return None


def words(cell: CellStatus) -> str:
    """Return the cell in one sentence, for screen readers. `tip` begins with it."""
    parts = [f"{cell.id}: {cell.state}", *_figures(cell), *_running(cell)]
    tries = f"attempt {cell.attempt} of {cell.attempts}" if cell.attempt else ""
    return "; ".join(part for part in (*parts, tries, cell.reason, _newest(cell)) if part)


def tip(cell: CellStatus) -> str:
    """Return the same as a tooltip, with what the step of a running cell does."""
    current = step_in(cell.phase) if cell.runs and cell.phase else None
    return f"{words(cell)}. Step {current.name}: {current.purpose}" if current else words(cell)


def now(cell: CellStatus) -> str:
    """Return the progress of a running cell, with the cause of its waiting: `load, 1 min 15 s of load left`."""
    left = f", {clock(cell.seconds_left)} of load left" if cell.seconds_left else ""
    if cell.seconds_over:
        left = f", {longer(cell)}"
    return f"{cell.phase or 'starts'}{left}" + (f" ({cell.note})" if cell.note else "")


def longer(late: CellStatus | CampaignSummary) -> str:
    """Return by how much a phase takes longer than was estimated: `longer than expected, by 3 min 20 s`."""
    return f"longer than expected, by {clock(late.seconds_over)}"


def running_again(status: CampaignStatus) -> str:
    """Return the end of the counts, since a cell that runs again is counted by its existing result: `; 2 run again`."""
    number = sum(_runs_again(cell) for cell in status.matrix)
    return f"; {number} {'runs' if number == 1 else 'run'} again" if number else ""


def share(done: int, of: int) -> str:
    return f"{100 * done / of:.0f}" if of else "0"


def counted(counts: Mapping[str, int]) -> str:
    """Format counts as `3 met, 1 invalid`."""
    return ", ".join(f"{counts[state]} {state}" for state in SIGNS if counts.get(state))


def size(value: int) -> str:
    """Format 1536 as `1.5 KB`."""
    amount, units = float(value), iter(("B", "KB", "MB", "GB"))
    unit = next(units)
    while amount >= 1000 and unit != "GB":
        amount, unit = amount / 1000, next(units)
    return f"{figure(amount)} {unit}"


def clock(seconds: float | None) -> str:
    """Format 4520 as `1 h 15 min`, and 75 as `1 min 15 s`."""
    if seconds is None:
        return NOTHING
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours:,} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


def loads_of(stage: StageStatus) -> str:
    """Return the loads of a stage: `1,000, 2,000 ops/s`, or how one is taken from an earlier stage's results."""
    return stage.loads[0] if stage.level else f"{some_of([f'{parse_rate(load):,}' for load in stage.loads])} ops/s"


def _figures(cell: CellStatus) -> Iterable[str]:
    if cell.level:
        yield f"at {ops(cell.load_ops_s)}"
    if cell.worst_ms is not None and cell.state in ("met", "missed"):
        least = "at least " if cell.worst_is_floor else ""
        yield f"worst interval {least}{ms(cell.worst_ms)}, {least}{figure(cell.worst_to_bound or 0)} times the bound"
        if cell.missed_levels:
            yield f"missed {', and '.join(cell.missed_levels)}"
        yield f"{cell.intervals_missed} of {plural(cell.intervals_judged or 0, 'interval')} missed"
        if cell.stopped:
            yield cell.stopped
    if cell.achieved_ops_s is not None:
        yield f"achieved {ops(cell.achieved_ops_s)} of {ops(cell.load_ops_s)}"
    if cell.errors:
        yield f"{cell.errors:,} errors"


def _running(cell: CellStatus) -> Iterable[str]:
    if cell.runs:
        yield f"runs again now, attempt {cell.attempts}: {now(cell)}" if _runs_again(cell) else now(cell)


def _newest(cell: CellStatus) -> str:
    why = f": {cell.newest_reason}" if cell.newest_reason else ""
    return f"attempt {cell.attempts} {cell.newest}{why}" if cell.newest not in (None, "running") else ""


def _runs_again(cell: CellStatus) -> bool:
    """Tell whether the cell runs while an older attempt counts."""
    return cell.runs and cell.state != "running"


def _figure(cell: CellStatus) -> str:
    share = cell.worst_to_bound
    return at_least(NOTHING if share is None else f"{figure(round(share, 2))}×", cell.worst_is_floor)


def _verdict_shade(cell: CellStatus) -> str:
    """Return the state, and for verdicts the distance from the bound, from 1 (near) to 3."""
    if cell.state not in ("met", "missed") or cell.worst_to_bound is None:
        return cell.state
    if cell.state == "met":
        return f"met met-{3 - sum(cell.worst_to_bound > end for end in _MET)}"
    return f"missed missed-{1 + sum(cell.worst_to_bound > end for end in _MISSED)}"
