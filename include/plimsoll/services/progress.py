"""How far a campaign is, from the store alone."""

from datetime import datetime
from statistics import mean

from plimsoll.domain.cell import AttemptKey, Cell
from plimsoll.domain.definition import Definition
from plimsoll.domain.progress import AttemptProgress, CampaignProgress, CellProgress, CellStateName, Phase
from plimsoll.ports.clock import Clock
from plimsoll.ports.store import ResultStore
from plimsoll.services import layout
from plimsoll.services.attempts import failure_of
from plimsoll.services.campaigns import CampaignStore, read_attempt, read_progress, read_verdict, write_model
from plimsoll.services.planning import running_order
from plimsoll.services.spending import ledger, spent_usd

# What a cell takes beyond its load, until the campaign's own cells tell better.
_ASSUMED_OVERHEAD_S = 45.0


def note_phase(store: ResultStore, clock: Clock, key: AttemptKey, phase: Phase, **facts: float | str | None) -> None:
    """Record that the attempt is in that phase now; the time a phase began is kept."""
    before = read_progress(store, key)
    now = clock.now()
    began = {} if before is None else before.phases
    progress = AttemptProgress.model_validate(
        {"phase": phase, "at": now, "phases": {**began, phase: began.get(phase, now)}, **facts}
    )
    write_model(store, key, layout.PROGRESS, progress)


def campaign_progress(store: ResultStore, campaign_id: str, *, now: datetime) -> CampaignProgress:
    """Every cell's state and how far it is. NotFound when there is no such campaign."""
    campaign = CampaignStore(store, campaign_id)
    definition = campaign.definition()
    tried = set(campaign.cells_with_attempts())
    cells = tuple(_cell_progress(campaign, cell, tried) for cell in running_order(definition))
    return CampaignProgress(
        campaign_id=campaign_id,
        title=definition.title,
        cells=cells,
        started_at=min((started for cell in cells if (started := _first_start(campaign, cell))), default=None),
        seconds_left=_seconds_left(definition, cells, now),
        usd=spent_usd(ledger(campaign, now)),
    )


def _cell_progress(campaign: CampaignStore, cell: Cell, tried: set[str]) -> CellProgress:
    key = campaign.newest_attempt(cell.id) if cell.id in tried else None
    if key is None:
        return CellProgress(cell=cell, state="waiting")
    valid = campaign.valid_verdict(cell.id)
    verdict = valid or read_verdict(campaign.store, key)
    progress = read_progress(campaign.store, key)
    if verdict is None:
        failure = failure_of(campaign.store, key) if progress is not None and progress.phase == "judge" else None
        state: CellStateName = "running" if failure is None else "failed"
        return CellProgress(cell=cell, state=state, attempt=key.attempt, progress=progress, reason=failure or "")
    reason = "; ".join(verdict.reasons)
    return CellProgress(cell=cell, state=verdict.outcome, attempt=verdict.key.attempt, progress=progress, reason=reason)


def _first_start(campaign: CampaignStore, cell: CellProgress) -> datetime | None:
    if cell.attempt is None:
        return None
    attempt = read_attempt(campaign.store, campaign.key(cell.cell.id, 1))
    return attempt.started_at if attempt else None


def _seconds_left(definition: Definition, cells: tuple[CellProgress, ...], now: datetime) -> float | None:
    whole = _seconds_per_cell(definition, cells)
    left = sum(_cell_seconds_left(cell, whole, now) for cell in cells)
    return left / definition.max_parallel if left else 0.0


def _cell_seconds_left(cell: CellProgress, whole: float, now: datetime) -> float:
    if cell.state == "waiting":
        return whole
    if cell.state != "running":
        return 0.0
    if cell.progress is None or not cell.progress.phases:
        return whole
    return max(0.0, whole - (now - min(cell.progress.phases.values())).total_seconds())


def _seconds_per_cell(definition: Definition, cells: tuple[CellProgress, ...]) -> float:
    taken = [
        (cell.progress.at - min(cell.progress.phases.values())).total_seconds()
        for cell in cells
        if cell.state in ("met", "missed") and cell.progress and cell.progress.phases
    ]
    return mean(taken) if taken else definition.timing.duration.total_seconds() + _ASSUMED_OVERHEAD_S
