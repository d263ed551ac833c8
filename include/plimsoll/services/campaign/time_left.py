"""How long cells still take, by the phases that were seen of their stage, until then by the definition."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from statistics import mean

from plimsoll.domain.campaign import Campaign
from plimsoll.domain.progress import AttemptProgress, CellProgress
from plimsoll.services.campaign.completeness import RequestedCells
from plimsoll.services.steps.steps import step, usual_phases

_BETWEEN_LOOKS_S = 15.0
"""The age up to which a report of a load is as good as new: looks at it lie up to 10 s apart."""

_OF_LOAD = step("load").phases


@dataclass(frozen=True)
class TimeLeft:
    """The estimated time until the last due cell is judged, and how much longer than estimated the present phases take.

    `seconds`: None where a cell is further beyond the estimate than what is left of it, so nobody knows. `over`: by
    cell, s; only cells that are over.
    """

    seconds: float | None
    over: Mapping[str, float]

    @property
    def longest_over(self) -> float:
        """Return by how much the slowest phase takes longer than it was estimated, s; 0 where none does."""
        return max(self.over.values(), default=0.0)


def time_left(
    campaign: Campaign, cells: Sequence[CellProgress], now: datetime, requested: RequestedCells | None
) -> TimeLeft:
    """Return the estimate for the cells that run, and those that still have to.

    Of the others only those in `requested` count; None means all that wait. For a campaign in rounds these are the
    cells of the present round: nobody knows yet which cells its results will ask for.
    """
    usual = {part.stage: _usual(usual_phases(part), part.stage, cells) for part in campaign.parts}
    due = [cell for cell in cells if cell.runs or _is_to_come(cell, requested)]
    left, over = [], {}
    for cell in due:
        seconds, beyond = _of_cell(cell, usual[cell.cell.stage], now)
        left.append(seconds)
        if beyond:
            over[cell.cell.id] = beyond
    whole = max([*left, sum(left) / campaign.max_parallel]) if left else 0.0
    return TimeLeft(None if max(over.values(), default=0.0) > whole else whole, over)


def _is_to_come(cell: CellProgress, requested: RequestedCells | None) -> bool:
    """Tell whether a cell that does not run still has to: it has no attempt, or none since it was asked for."""
    if requested is None or cell.cell.id not in requested.cells:
        return requested is None and cell.state == "waiting"
    if cell.state in ("waiting", "not-needed"):
        return cell.state == "waiting"
    return cell.progress is not None and bool(cell.progress.phases) and _begun(cell.progress) < requested.at


def _of_cell(cell: CellProgress, usual: Mapping[str, float], now: datetime) -> tuple[float, float]:
    """Return what is left of a cell, and by how much its present phase takes longer than usual, s."""
    progress = cell.progress if cell.runs else None
    if progress is None or progress.phase not in usual:
        return sum(usual.values()), 0.0
    if progress.seconds_left and progress.phase in _OF_LOAD:  # the load generator knows when its load ends
        rest = progress.seconds_left - max(0.0, (now - progress.at).total_seconds())
        return max(0.0, rest) + _after(_OF_LOAD[-1], usual), max(0.0, -rest - _BETWEEN_LOOKS_S)
    is_expected = usual[progress.phase] or progress.phase != "populate"
    rest = usual[progress.phase] - (now - progress.phases.get(progress.phase, progress.at)).total_seconds()
    return max(0.0, rest) + _after(progress.phase, usual), max(0.0, -rest) if is_expected else 0.0


def _after(phase: str, usual: Mapping[str, float]) -> float:
    """Return the time of all phases after that one, s."""
    return sum(list(usual.values())[list(usual).index(phase) + 1 :])


def _usual(declared: Mapping[str, float], stage: str, cells: Sequence[CellProgress]) -> Mapping[str, float]:
    """Return how long each phase takes, s: the mean of those of the stage's cells that are over, else as declared."""
    seen = [
        _lengths(cell.progress, list(declared))
        for cell in cells
        if cell.cell.stage == stage and cell.progress and (cell.runs or cell.state in ("met", "missed"))
    ]
    return {
        name: mean(lengths) if (lengths := [one[name] for one in seen if name in one]) else seconds
        for name, seconds in declared.items()
    }


def _lengths(progress: AttemptProgress, names: Sequence[str]) -> Mapping[str, float]:
    """Return the lengths of the phases that are over, s; one that no look saw took no time."""
    done = (
        names if progress.phase == "done" else names[: names.index(progress.phase)] if progress.phase in names else []
    )
    begun = sorted(progress.phases.items(), key=lambda item: item[1])  # stable: they were recorded in order
    lasted = {name: (end - at).total_seconds() for (name, at), (_, end) in pairwise([*begun, ("", progress.at)])}
    return {name: lasted.get(name, 0.0) for name in done}


def _begun(progress: AttemptProgress) -> datetime:
    return min(progress.phases.values())
