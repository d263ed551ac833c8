"""The progress of a campaign, read from the store alone."""

from collections.abc import Collection, Sequence
from datetime import datetime
from statistics import mean

from plimsoll.domain.definition import Definition
from plimsoll.domain.parts import Part, parts
from plimsoll.domain.progress import CampaignProgress, CellProgress
from plimsoll.ports.owners import Owners, UnknownOwners
from plimsoll.ports.store import ResultStore
from plimsoll.services.campaign.completeness import requested_cells
from plimsoll.services.campaign.state import CellState, Memory, read_state
from plimsoll.services.hosts.spending import ledger, spent_usd
from plimsoll.services.steps.steps import usual_time
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.strategies.state import CampaignState


def campaign_progress(
    store: ResultStore, campaign_id: str, *, now: datetime, owners: Owners | None = None
) -> CampaignProgress:
    """Return the state and progress of every cell. Raises NotFound when there is no such campaign."""
    campaign = CampaignStore(store, campaign_id)
    definition = campaign.definition()
    state = read_state(store, campaign_id, definition, now, Memory(owners=owners or UnknownOwners()))
    cells, requested = tuple(map(cell_progress, state.cells)), requested_cells(campaign)
    return CampaignProgress(
        campaign_id=campaign_id,
        title=definition.title,
        cells=cells,
        started_at=first_start(state),
        seconds_left=seconds_left(definition, cells, now, requested),
        in_rounds=definition.has_rounds,
        asked=None if requested is None else tuple(sorted(requested)),
        usd=spent_usd(ledger(campaign, now)),
        budget_usd=definition.budget,
    )


def cell_progress(state: CellState) -> CellProgress:
    """Return the cell's state, newest attempt and progress."""
    return CellProgress(
        cell=state.cell,
        state=state.state,
        attempt=state.shown.key.attempt if state.shown else None,
        runs=state.newest is not None and state.newest.is_running,
        progress=state.newest.progress if state.newest else None,
        reason=state.reason,
    )


def first_start(state: CampaignState[CellState]) -> datetime | None:
    """Return the time at which the campaign's first attempt began."""
    begun = (one.attempt.started_at for cell in state.cells for one in cell.attempts if one.attempt)
    return min(begun, default=None)


def seconds_left(
    definition: Definition, cells: Sequence[CellProgress], now: datetime, requested: Collection[str] | None
) -> float:
    """Return the estimated time until the last requested cell is judged, s, by the time that the finished cells took.

    Of the waiting cells only those in `requested` count; None means all of them. For a campaign in rounds these are the
    cells of the present round: nobody knows yet which cells its results will ask for.
    """
    whole = {part.stage: _seconds_per_cell(part, cells) for part in parts(definition)}
    due = [cell for cell in cells if cell.state != "waiting" or requested is None or cell.cell.id in requested]
    left = [seconds for cell in due if (seconds := _cell_seconds_left(cell, whole[cell.cell.stage], now))]
    return sum(left) / min(definition.max_parallel, len(left)) if left else 0.0


def _cell_seconds_left(cell: CellProgress, whole: float, now: datetime) -> float:
    if cell.state == "waiting":
        return whole
    if cell.state != "running":
        return 0.0
    if cell.progress is None or not cell.progress.phases:
        return whole
    return max(0.0, whole - (now - min(cell.progress.phases.values())).total_seconds())


def _seconds_per_cell(part: Part, cells: Sequence[CellProgress]) -> float:
    """Return the time that a cell of the part's stage takes, s."""
    taken = [
        (cell.progress.at - min(cell.progress.phases.values())).total_seconds()
        for cell in cells
        if cell.cell.stage == part.stage and cell.state in ("met", "missed") and cell.progress and cell.progress.phases
    ]
    return mean(taken) if taken else usual_time(part.definition).total_seconds()
