"""Whether a campaign ends by its `finish_by`, and whether another cell would.

A cell is expected to take as long as those of its stage did; while none of them is over, the time of its load alone.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from plimsoll.domain.attempt.status import CampaignProgress
from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.campaign.cell import parts_of
from plimsoll.domain.campaign.part import Setup
from plimsoll.domain.text.wording import plural
from plimsoll.services.hosts.spending import no_room
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.toolkit import Toolkit

_FINISH_BY = "finish_by"


def deadline_of(campaign: Setup, started_at: datetime | None, now: datetime) -> datetime | None:
    """Return the time by which the campaign has to end; None without one. `started_at`: of its first attempt."""
    if isinstance(campaign.finish_by, timedelta):
        return (started_at or now) + campaign.finish_by
    return campaign.finish_by


def compared(ends: datetime, deadline: datetime) -> str:
    """Return an estimated end beside the deadline: `about 1 March 14:20 UTC, 0:35:00 after `finish_by``."""
    late = ends > deadline
    difference = timedelta(seconds=round(abs(ends - deadline).total_seconds()))
    return f"about {ends.astimezone(UTC):%-d %B %H:%M} UTC, {difference} {'after' if late else 'before'} `{_FINISH_BY}`"


def time_for(progress: CampaignProgress, now: datetime) -> str:
    """Return how many cells the deadline leaves time for: `by then there is time for about 3 further cells`."""
    return f"by then there is time for about {plural(progress.further_cells(now), 'further cell')}"


def answerable(progress: CampaignProgress, now: datetime) -> str:
    """Return what can still be answered by the deadline, where results choose the cells; empty for other campaigns."""
    if not progress.in_rounds:
        return ""
    return "; ".join([time_for(progress, now), *(known.sentence for known in progress.thresholds)])


def require_time(toolkit: Toolkit, campaign: CampaignStore, resolved: Campaign, cell_id: str) -> None:
    """Raise Refused where a cell that begins now is expected to end after the deadline."""
    if resolved.finish_by is None:
        return
    now, begun = toolkit.clock.now(), list(_begun(campaign))
    deadline = deadline_of(resolved, min((attempt.began for attempt in begun), default=None), now)
    ends = now + _time_of(resolved, cell_id, begun)
    if deadline is not None and ends > deadline:
        what = f"leaves no time for another cell: it would end {compared(ends, deadline)}"
        raise no_room(campaign, resolved, _FINISH_BY, what)


class _Begun(NamedTuple):
    """An attempt. `took`: None while it runs, and where it came to no load."""

    cell_id: str
    began: datetime
    took: timedelta | None


def _begun(campaign: CampaignStore) -> Iterator[_Begun]:
    keys = (key for cell_id in campaign.cells_with_attempts() for key in campaign.attempts(cell_id))
    for key in keys:
        if attempt := layout.ATTEMPT.read(campaign.store, key):
            last = layout.PROGRESS.read_sound(campaign.store, key)
            is_over = last is not None and last.phase == "done" and "load" in last.phases
            yield _Begun(key.cell_id, attempt.started_at, last.at - attempt.started_at if last and is_over else None)


def _time_of(campaign: Campaign, cell_id: str, begun: Iterable[_Begun]) -> timedelta:
    part = parts_of(campaign, cell_id)[0]
    of_stage = [attempt for attempt in begun if parts_of(campaign, attempt.cell_id)[0].stage == part.stage]
    took = [attempt.took for attempt in of_stage if attempt.took is not None]
    return sum(took, timedelta(0)) / len(took) if took else part.timing.duration
