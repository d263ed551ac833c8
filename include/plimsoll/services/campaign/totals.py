"""A complete campaign's totals, recorded with its report, so that a list of campaigns need not read its attempts.

The record holds a digest of the names of the attempts' files. A new attempt, or a verdict that is kept because another
one is about to replace it, changes these names and so makes the record void. Code that begins an attempt or replaces a
verdict deletes the record first, because files that were deleted by hand could come back under the same names. Between
the two steps of a replacement nothing is recorded, because the second one changes no name.
"""

from collections import Counter
from datetime import datetime
from hashlib import sha256

from pydantic import AwareDatetime

from plimsoll.domain.base import Model
from plimsoll.domain.progress import CellStateName
from plimsoll.ports.store import ResultStore
from plimsoll.services.campaign.progress import first_start
from plimsoll.services.campaign.state import CellState, Memory, read_state
from plimsoll.services.cell.attempt_state import AttemptState
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.store.earlier_verdicts import is_kept_last
from plimsoll.services.store.records import find_sound_record
from plimsoll.strategies.state import CampaignState


class Tally(Model):
    """The totals over all attempts of a campaign: cells by state, the first attempt's start, the last sign of life."""

    counts: dict[CellStateName, int]
    started_at: AwareDatetime | None
    changed_at: AwareDatetime | None


class _Record(Model):
    files_sha256: str
    tally: Tally


def tally_of(state: CampaignState[CellState]) -> Tally:
    """Return the totals, computed from every attempt."""
    seen = (one.progress.at for cell in state.cells for one in cell.attempts if one.progress)
    counts = Counter(cell.state for cell in state.cells)
    return Tally(counts=dict(counts), started_at=first_start(state), changed_at=max(seen, default=None))


def record_totals(campaign: CampaignStore, now: datetime) -> None:
    """Record the totals, if every cell has a valid attempt and no attempt will change by itself."""
    # Listed before the attempts are read, so that an attempt that begins meanwhile makes the record void.
    digest = _digest(campaign)
    state = read_state(campaign.store, campaign.campaign_id, campaign.resolved(), now, Memory())
    if _is_settled(campaign.store, state):
        record = _Record(files_sha256=digest, tally=tally_of(state))
        campaign.store.write(layout.totals_key(campaign.campaign_id), record.model_dump_json(indent=1).encode())


def recorded_totals(campaign: CampaignStore) -> Tally | None:
    """Return the totals of a complete campaign; None where none are recorded, or attempts have changed since."""
    record = find_sound_record(campaign.store, layout.totals_key(campaign.campaign_id), _Record)
    return record.tally if record and record.files_sha256 == _digest(campaign) else None


def _is_settled(store: ResultStore, state: CampaignState[CellState]) -> bool:
    attempts = [one for cell in state.cells for one in cell.attempts]
    stand = all(one.is_final or bool(one.ended) for one in attempts)
    return state.is_complete and stand and not any(_is_being_replaced(store, one) for one in attempts)


def _is_being_replaced(store: ResultStore, attempt: AttemptState) -> bool:
    """Tell whether the attempt's verdict was kept already and the one that replaces it is not stored yet."""
    again, verdict = attempt.was_judged_again, attempt.verdict
    return again and verdict is not None and is_kept_last(store, attempt.key, verdict)


def _digest(campaign: CampaignStore) -> str:
    return sha256("\n".join(campaign.store.keys(layout.cells_prefix(campaign.campaign_id))).encode()).hexdigest()
