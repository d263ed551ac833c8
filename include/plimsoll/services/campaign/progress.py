"""The progress of a campaign, read from the store alone."""

from datetime import datetime

from plimsoll.domain.progress import CampaignProgress, CellProgress
from plimsoll.ports.owners import Owners, UnknownOwners
from plimsoll.ports.store import ResultStore
from plimsoll.services.campaign.completeness import newest_request
from plimsoll.services.campaign.state import CellState, Memory, read_state
from plimsoll.services.campaign.time_left import time_left
from plimsoll.services.hosts.spending import ledger, spent_usd
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.strategies.state import CampaignState


def campaign_progress(
    store: ResultStore, campaign_id: str, *, now: datetime, owners: Owners | None = None
) -> CampaignProgress:
    """Return the state and progress of every cell. Raises NotFound when there is no such campaign."""
    campaign = CampaignStore(store, campaign_id)
    resolved = campaign.resolved()
    state = read_state(store, campaign_id, resolved, now, Memory(owners=owners or UnknownOwners()))
    cells, request = tuple(map(cell_progress, state.cells)), newest_request(campaign)
    left = time_left(resolved, cells, now, request)
    return CampaignProgress(
        campaign_id=campaign_id,
        title=resolved.title,
        cells=tuple(cell.model_copy(update={"seconds_over": left.over.get(cell.cell.id, 0.0)}) for cell in cells),
        started_at=first_start(state),
        seconds_left=left.seconds,
        in_rounds=resolved.has_rounds,
        asked=None if request is None else tuple(sorted(set(request.cells))),
        usd=spent_usd(ledger(campaign, now)),
        budget_usd=resolved.budget,
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
