"""Whether a campaign ends by its `finish_by`, and whether another cell would.

A cell is expected to take as long as those of its stage did; while none of them is over, the time of its load alone.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta

from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.campaign.cell import parts_of
from plimsoll.domain.campaign.part import Setup
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


def require_time(toolkit: Toolkit, campaign: CampaignStore, resolved: Campaign, cell_id: str) -> None:
    """Raise Refused where a cell that begins now is expected to end after the deadline."""
    if resolved.finish_by is None:
        return
    now, seen = toolkit.clock.now(), list(_seen(campaign))
    deadline = deadline_of(resolved, min((begun for _, begun, _ in seen), default=None), now)
    ends = now + _time_of(resolved, cell_id, seen)
    if deadline is not None and ends > deadline:
        what = f"leaves no time for another cell: it would end {compared(ends, deadline)}"
        raise no_room(campaign, resolved, _FINISH_BY, what)


_Seen = tuple[str, datetime, timedelta | None]
"""The cell of an attempt, when that began, and how long it took; None for one that runs or has no whole load."""


def _seen(campaign: CampaignStore) -> Iterator[_Seen]:
    keys = (key for cell_id in campaign.cells_with_attempts() for key in campaign.attempts(cell_id))
    for key in keys:
        if attempt := layout.ATTEMPT.read(campaign.store, key):
            progress = layout.PROGRESS.read_sound(campaign.store, key)
            is_over = progress is not None and progress.phase == "done" and "load" in progress.phases
            yield key.cell_id, attempt.started_at, progress.at - attempt.started_at if progress and is_over else None


def _time_of(campaign: Campaign, cell_id: str, seen: Iterable[_Seen]) -> timedelta:
    part = parts_of(campaign, cell_id)[0]
    took = [time for one, _, time in seen if time is not None and parts_of(campaign, one)[0].stage == part.stage]
    return sum(took, timedelta(0)) / len(took) if took else part.timing.duration
