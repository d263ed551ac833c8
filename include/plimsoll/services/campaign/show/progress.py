"""The progress of a campaign, read from the store alone: how far it is, how long cells still take, by the phases
that were seen of their stage, and its totals once it is complete.

The totals are recorded with the report, so that a list of campaigns need not read its attempts. The record holds a
digest of the names of the attempts' files. A new attempt, or a verdict that is kept because another one is about to
replace it, changes these names and so makes the record void. Code that begins an attempt or replaces a verdict deletes
the record first, because files that were deleted by hand could come back under the same names. Between the two steps of
a replacement nothing is recorded, because the second one changes no name.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from itertools import pairwise
from statistics import mean

from pydantic import AwareDatetime

from plimsoll.domain.attempt.status import (
    AttemptProgress,
    CampaignProgress,
    CellProgress,
    CellStateName,
    ThresholdStatus,
)
from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.keys.strategy import Threshold
from plimsoll.domain.text.base import Model
from plimsoll.ports.controller import Owners, UnknownOwners
from plimsoll.ports.store import ResultStore
from plimsoll.services.campaign.state.completeness import RequestedCells, newest_request
from plimsoll.services.campaign.state.reading import CellState, Memory, read_state
from plimsoll.services.hosts.limits import deadline_of
from plimsoll.services.hosts.spending import known_usd, ledger
from plimsoll.services.steps.steps import step, usual_phases
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.store.judged import is_kept_last
from plimsoll.services.store.layout import Record
from plimsoll.strategies.state import CampaignState

_BETWEEN_LOOKS_S = 15.0
"""The age up to which a report of a load is as good as new: looks at it lie up to 10 s apart."""

_OF_LOAD = step("load").phases


@dataclass(frozen=True)
class TimeLeft:
    """The estimated time until the last due cell is judged, and how much longer than estimated the present phases take.

    `seconds`: None where a cell is further beyond the estimate than what is left of it, so nobody knows. `over`: by
    cell, s; only cells that are over. `per_cell`: of a cell that begins now, in the stage under way, s.
    """

    seconds: float | None
    over: Mapping[str, float]
    per_cell: float

    @property
    def longest_over(self) -> float:
        """Return by how much the slowest phase takes longer than it was estimated, s; 0 where none does."""
        return max(self.over.values(), default=0.0)


class Tally(Model):
    """The totals over all attempts of a campaign: cells by state, the first attempt's start, the last sign of life."""

    counts: dict[CellStateName, int]
    started_at: AwareDatetime | None
    changed_at: AwareDatetime | None


class _Record(Model):
    files_sha256: str
    tally: Tally


TOTALS = Record(layout.TOTALS.path, _Record)


def campaign_progress(
    store: ResultStore, campaign_id: str, *, now: datetime, owners: Owners | None = None
) -> CampaignProgress:
    """Return the state and progress of every cell. Raises NotFound when there is no such campaign."""
    campaign = CampaignStore(store, campaign_id)
    resolved = campaign.resolved()
    state = read_state(store, campaign_id, resolved, now, Memory(owners=owners or UnknownOwners()))
    cells, request = tuple(map(cell_progress, state.cells)), newest_request(campaign)
    left = time_left(resolved, cells, now, request)
    begun = first_start(state)
    return CampaignProgress(
        campaign_id=campaign_id,
        title=resolved.title,
        cells=tuple(cell.model_copy(update={"seconds_over": left.over.get(cell.cell.id, 0.0)}) for cell in cells),
        started_at=begun,
        seconds_left=left.seconds,
        in_rounds=bool(resolved.chosen_by),
        seconds_per_cell=left.per_cell / resolved.max_parallel,
        asked=None if request is None else tuple(sorted(set(request.cells))),
        usd=known_usd(ledger(campaign, now)),
        budget_usd=resolved.budget,
        finish_by=deadline_of(resolved, begun, now),
        approvals=campaign.approvals(),
        parameters=dict(resolved.values),
        begun_by=campaign.begun_by(resolved),
        thresholds=tuple(threshold_statuses(state)),
    )


def threshold_statuses(state: CampaignState[CellState]) -> Iterator[ThresholdStatus]:
    asked = [tried.cell for tried in state.asked_for]
    within = {part.id: part.strategy.within for part in state.campaign.parts if isinstance(part.strategy, Threshold)}
    parts = {tried.cell.ladder: tried.cell.part for tried in state.cells}
    for ladder, known in state.answers.items():
        if ladder in parts:
            yield ThresholdStatus(
                of=ladder,
                ops_s=known.load_ops_s,
                low_ops_s=known.low_ops_s,
                high_ops_s=known.high_ops_s,
                decided_by=known.decided_by,
                stopped=known.stopped,
                cells=known.cells,
                within=within[parts[ladder]],
                next_cells=tuple(cell.id for cell in asked if cell.ladder == ladder),
            )


def cell_progress(state: CellState) -> CellProgress:
    return CellProgress(
        cell=state.cell,
        state=state.state,
        attempt=state.shown.key.attempt if state.shown else None,
        runs=state.newest is not None and state.newest.is_running,
        progress=state.newest.progress if state.newest else None,
        reason=state.reason,
    )


def first_start(state: CampaignState[CellState]) -> datetime | None:
    """Return the time at which the campaign's first attempt began; None before that."""
    begun = (attempt.attempt.started_at for tried in state.cells for attempt in tried.attempts if attempt.attempt)
    return min(begun, default=None)


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
    # One long cell may outlast the time of all cells divided by those that run side by side
    whole = max([*left, sum(left) / campaign.max_parallel]) if left else 0.0
    stage = due[0].cell.stage if due else campaign.parts[-1].stage
    return TimeLeft(None if max(over.values(), default=0.0) > whole else whole, over, sum(usual[stage].values()))


def _is_to_come(cell: CellProgress, requested: RequestedCells | None) -> bool:
    """Tell whether a cell that does not run still has to: it has no attempt, or none since it was asked for."""
    if requested is None or cell.cell.id not in requested.cells:
        return requested is None and cell.state == "waiting"
    if cell.state in ("waiting", "not-needed"):
        return cell.state == "waiting"
    phases = cell.progress.phases if cell.progress else {}
    return bool(phases) and min(phases.values()) < requested.at


def _of_cell(cell: CellProgress, usual: Mapping[str, float], now: datetime) -> tuple[float, float]:
    """Return what is left of a cell, and by how much its present phase takes longer than usual, s."""
    progress = cell.progress if cell.runs else None
    if progress is None or progress.phase not in usual:
        return sum(usual.values()), 0.0
    if progress.seconds_left and progress.phase in _OF_LOAD:  # the load generator knows when its load ends
        rest = progress.seconds_left - max(0.0, (now - progress.at).total_seconds())
        return max(0.0, rest) + _after(_OF_LOAD[-1], usual), max(0.0, -rest - _BETWEEN_LOOKS_S)
    # Nobody knows beforehand how long rows take to be written, so without a figure populating is never late
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
        name: mean(lengths) if (lengths := [phases[name] for phases in seen if name in phases]) else seconds
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


def tally_of(state: CampaignState[CellState]) -> Tally:
    """Return the totals, computed from every attempt."""
    seen = (attempt.progress.at for cell in state.cells for attempt in cell.attempts if attempt.progress)
    counts = Counter(cell.state for cell in state.cells)
    return Tally(counts=dict(counts), started_at=first_start(state), changed_at=max(seen, default=None))


def record_totals(campaign: CampaignStore, now: datetime) -> None:
    """Record the totals, if every cell has a valid attempt and no attempt will change by itself."""
    # Listed before the attempts are read, so that an attempt that begins meanwhile makes the record void.
    digest = _digest(campaign)
    state = read_state(campaign.store, campaign.campaign_id, campaign.resolved(), now, Memory())
    if _is_settled(campaign.store, state):
        TOTALS.write(campaign.store, campaign.campaign_id, _Record(files_sha256=digest, tally=tally_of(state)))


def recorded_totals(campaign: CampaignStore) -> Tally | None:
    """Return the totals of a complete campaign; None where none are recorded, or attempts have changed since."""
    record = TOTALS.read_sound(campaign.store, campaign.campaign_id)
    return record.tally if record and record.files_sha256 == _digest(campaign) else None


def _is_settled(store: ResultStore, state: CampaignState[CellState]) -> bool:
    attempts = [attempt for cell in state.cells for attempt in cell.attempts]
    again = [(attempt.key, attempt.verdict) for attempt in attempts if attempt.was_judged_again]
    return (
        state.is_complete
        and all(attempt.is_final or bool(attempt.ended) for attempt in attempts)
        # A verdict that was kept last is being replaced: the next one is not stored yet
        and not any(verdict is not None and is_kept_last(store, key, verdict) for key, verdict in again)
    )


def _digest(campaign: CampaignStore) -> str:
    return sha256("\n".join(campaign.store.keys(layout.ATTEMPTS.folder(campaign.campaign_id))).encode()).hexdigest()
