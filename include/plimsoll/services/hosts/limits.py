"""Whether a campaign may begin another cell: whether its cost was approved, whether it would end by its `finish_by`,
and whether its budget covers it.

What is approved is what the definition lets the campaign take, and not what was spent, for which there is `budget`. It
grows with its prices, and then the campaign needs another approval. A cell is expected to take as long as those of its
stage did; while none of them is over, the time of its load alone.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from plimsoll.domain.attempt.status import CampaignProgress
from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.campaign.cell import Attempt
from plimsoll.domain.campaign.grid import parts_of
from plimsoll.domain.campaign.part import Setup, run_command
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.hosts.cost import Tariff
from plimsoll.domain.text.errors import Problem, Refused
from plimsoll.domain.text.units import format_usd, show_usd
from plimsoll.domain.text.wording import plural
from plimsoll.services.hosts.spending import cell_usd, due_usd, ledger, spent_usd
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.toolkit import Toolkit
from plimsoll.strategies.stage_plans import stage_plans, usd_at_most

_FINISH_BY = "finish_by"


@dataclass(frozen=True)
class MissingApproval:
    """What a person has to approve: that the campaign may cost so much, USD; None: its cost is not known."""

    usd: float | None
    above: float

    @property
    def reason(self) -> str:
        """Return why, as the end of a sentence about the campaign."""
        if self.usd is None:
            return "what it may cost is not known, for want of a price"
        return f"it may cost {show_usd(self.usd)}, which is more than {format_usd(self.above)}"


def missing_approval(toolkit: Toolkit, campaign: CampaignStore, declared: Campaign) -> MissingApproval | None:
    """Return what is still to be approved before hosts are launched; None: nothing.

    `declared`: the campaign as its definition has it, whether or not it is in the store yet.
    """
    if declared.approve is None:
        return None
    usd = usd_at_most(stage_plans(declared), toolkit.tariff(declared))
    if not declared.approve.is_needed_for(usd) or any(approval.covers(usd) for approval in campaign.approvals()):
        return None
    return MissingApproval(usd, declared.approve.above)


def require_approval(toolkit: Toolkit, campaign: CampaignStore, resolved: Campaign) -> None:
    """Raise Refused unless the campaign in the store may launch hosts. `resolved`: that campaign."""
    # As declared: with the loads that stages took since, an estimate may be another one.
    missing = missing_approval(toolkit, campaign, resolve(campaign.declared())) if resolved.approve else None
    if missing is not None:
        mend = (
            f"trigger the DAG {resolved.dag_id} with `campaign_id` {campaign.campaign_id!r} and approve it there, or "
            f"run {run_command(resolved.name, campaign.campaign_id)} and `--approve`"
        )
        raise approval_refused(campaign.campaign_id, missing, mend)


def approval_refused(campaign_id: str, missing: MissingApproval, mend: str) -> Refused:
    earlier = f"is missing: {missing.reason}, and nobody has approved that"
    return Refused([Problem("approval", earlier, mend)], where=f"campaign {campaign_id!r}")


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


def require_money_and_time(toolkit: Toolkit, campaign: CampaignStore, resolved: Campaign, cell_id: str) -> None:
    """Raise Refused where budget, ceiling or deadline leave no room for another cell. `cell_id`: of that cell."""
    _require_budget(toolkit, campaign, resolved, cell_id)
    _require_time(toolkit, campaign, resolved, cell_id)


def _require_time(toolkit: Toolkit, campaign: CampaignStore, resolved: Campaign, cell_id: str) -> None:
    """Raise Refused where a cell that begins now is expected to end after the deadline."""
    if resolved.finish_by is None:
        return
    now, begun = toolkit.clock.now(), list(_begun(campaign))
    deadline = deadline_of(resolved, min((attempt.started_at for attempt, _ in begun), default=None), now)
    ends = now + _time_of(resolved, cell_id, begun)
    if deadline is not None and ends > deadline:
        what = f"leaves no time for another cell: it would end {compared(ends, deadline)}"
        raise _no_room(campaign, resolved, _FINISH_BY, what)


def _begun(campaign: CampaignStore) -> Iterator[tuple[Attempt, timedelta | None]]:
    """Yield each attempt with the time that it took; None while it runs, and where it came to no load."""
    for key in campaign.all_attempts():
        if attempt := layout.ATTEMPT.read(campaign.store, key):
            last = layout.PROGRESS.read_sound(campaign.store, key)
            is_over = last is not None and last.phase == "done" and "load" in last.phases
            yield attempt, last.at - attempt.started_at if last and is_over else None


def _time_of(campaign: Campaign, cell_id: str, begun: Iterable[tuple[Attempt, timedelta | None]]) -> timedelta:
    part = parts_of(campaign, cell_id)[0]
    over = [(attempt.key.cell_id, took) for attempt, took in begun if took is not None]
    of_stage = [took for other, took in over if parts_of(campaign, other)[0].stage == part.stage]
    return sum(of_stage, timedelta(0)) / len(of_stage) if of_stage else part.timing.duration


def _require_budget(toolkit: Toolkit, campaign: CampaignStore, resolved: Campaign, cell_id: str) -> None:
    """Raise Refused unless the cost so far, the rest of the running cells and this cell keep budget and ceiling."""
    key, limit = resolved.money
    tariff = toolkit.tariff(resolved) if limit is not None else None
    if limit is None or tariff is None:
        return
    one_cell = cell_usd(resolved, tariff, cell_id)
    if one_cell is None:
        raise Refused([price_missing(key, tariff)], where=_where(campaign))
    # Launches and ends of hosts that the store refused before belong to the cost
    toolkit.write_kept_records()
    now = toolkit.clock.now()
    entries = ledger(campaign, now)
    spent, due = spent_usd(entries), due_usd(campaign.store, resolved, entries, now, tariff)
    if spent + due + one_cell > limit:
        what = (
            f"has no room for another cell: {spent:.2f} USD are spent, {due:.2f} USD are due for cells that run and "
            f"go on, a cell costs {one_cell:.2f} USD; `{key}` is {format_usd(limit)}"
        )
        raise _no_room(campaign, resolved, key, what)


def price_missing(key: str, tariff: Tariff) -> Problem:
    """Return that this key of the definition can't be kept, as one of these prices is not known."""
    mend = f"give the prices of your instance types in the provider's options, or remove `{key}`"
    return Problem(key, f"can't be kept: {tariff.source}", mend)


def _no_room(campaign: CampaignStore, resolved: Campaign, key: str, what: str) -> Refused:
    """Return the refusal of another cell by that key of the definition, which may be raised while the campaign runs."""
    mend = (
        f"raise `{key}` in the definition, then trigger its DAG with `campaign_id` {campaign.campaign_id!r} (or "
        f"{run_command(resolved.name, campaign.campaign_id)}): the cells that are missing run"
    )
    return Refused([Problem(key, what, mend)], where=_where(campaign))


def _where(campaign: CampaignStore) -> str:
    return f"campaign {campaign.campaign_id!r}"
