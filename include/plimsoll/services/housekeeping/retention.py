"""Retention: raw files of campaigns that have ended and are published go, by age or to make room.

Whatever the report is made from stays, so that it can be made again; nothing can be judged again any more. The record
of the removal is written before anything is removed, and a removal that was interrupted is finished by the next pass.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from plimsoll.domain.attempt.result import RawRemoval
from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.text.errors import PlimsollError
from plimsoll.domain.text.wording import plural
from plimsoll.ports.store import ResultStore
from plimsoll.services.campaign.show.progress import record_totals
from plimsoll.services.campaign.show.status import campaign_summary
from plimsoll.services.campaign.state.reading import Memory
from plimsoll.services.campaign.state.runs import held_alone, worked_on_by
from plimsoll.services.housekeeping.checking import check_campaign_files
from plimsoll.services.housekeeping.faults import OnCampaign
from plimsoll.services.housekeeping.known import attempt_and_name, kind_of
from plimsoll.services.publish.publishing import passed_gate
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.store.listing import campaign_ids
from plimsoll.services.toolkit import Toolkit


@dataclass(frozen=True)
class Rule:
    """Raw files go when their campaign ended longer ago than that, or while all raw files take more bytes than that."""

    older_than: timedelta | None = None
    most_bytes: int | None = None

    @classmethod
    def of_settings(cls, days: int | None, gigabytes: int | None) -> "Rule":
        """Return the rule of an age in days and a size in GB; None for one that does not count."""
        return cls(timedelta(days=days) if days else None, gigabytes * 10**9 if gigabytes else None)

    @property
    def is_any(self) -> bool:
        return self.older_than is not None or self.most_bytes is not None

    def words(self, age: timedelta | None, total: int) -> str:
        """Return, in words, the part of the rule by which raw files of that age go; empty where they stay.

        `age`: None where it is not known, so that they may be as old as the rule says; `total`: bytes of all raw files.
        """
        if self.older_than is not None and (age is None or age > self.older_than):
            return f"{'perhaps ' if age is None else ''}older than {plural(self.older_than.days, 'day')}"
        if self.most_bytes is not None and total > self.most_bytes:
            return f"more than {self.most_bytes / 1e9:g} GB of raw files"
        return ""


@dataclass(frozen=True)
class Pruned:
    """A campaign whose raw files went by a rule, in words, or would go; `why_not` says why they stay."""

    campaign_id: str
    bytes: int
    rule: str
    why_not: str = ""


@dataclass(frozen=True)
class _Raw:
    """The raw files of a campaign: their bytes by attempt, and the attempts whose removal was begun.

    `ended_at`: None where it is not known; `why_not` says why then.
    """

    campaign_id: str
    sizes: dict[AttemptKey, int]
    begun: frozenset[AttemptKey]
    ended_at: datetime | None = None
    why_not: str = ""


def prune(
    toolkit: Toolkit, rule: Rule, by: str, on_campaign: OnCampaign = lambda _: None, *, dry_run: bool = False
) -> Iterator[Pruned]:
    """Remove raw files by the rule, those of the campaign that ended first before others; yield each such campaign.

    `dry_run`: nothing is removed. Raises StoreError where the store can't be reached.
    """
    now, memory = toolkit.clock.now(), Memory(owners=toolkit.owners)
    campaigns: list[_Raw] = []
    for campaign_id in campaign_ids(toolkit.store):
        on_campaign(campaign_id)
        raw = _raw_of(toolkit, campaign_id)
        if raw.sizes:
            campaigns.append(_with_end(toolkit, raw, memory))
    total = sum(sum(raw.sizes.values()) for raw in campaigns)
    for raw in sorted(campaigns, key=lambda raw: raw.ended_at or now):
        words = rule.words(now - raw.ended_at if raw.ended_at else None, total)
        keys = raw.sizes.keys() if words else raw.sizes.keys() & raw.begun
        if not keys:
            continue
        size = sum(raw.sizes[key] for key in keys)
        removal = RawRemoval(at=now, by=by, rule=words or "as recorded")
        try:
            why_not = raw.why_not or _why_not(toolkit, raw.campaign_id)
            if not why_not and not dry_run:
                _remove(toolkit, raw.campaign_id, keys, removal)
        except PlimsollError as error:  # it says nothing of the other campaigns
            why_not = error.headline
        total -= 0 if why_not else size
        yield Pruned(raw.campaign_id, size, words or "its removal was interrupted", why_not)


def _raw_of(toolkit: Toolkit, campaign_id: str) -> _Raw:
    sizes: defaultdict[AttemptKey, int] = defaultdict(int)
    begun = set[AttemptKey]()
    for file in toolkit.store.listed(campaign_id):
        path = file.key.removeprefix(f"{campaign_id}/")
        key, name = attempt_and_name(campaign_id, path) or (None, "")
        if key and kind_of(path) == "raw":
            sizes[key] += file.size_bytes
        elif key and name == layout.RAW_REMOVED.path:
            begun.add(key)
    return _Raw(campaign_id, dict(sizes), frozenset(begun))


def _with_end(toolkit: Toolkit, raw: _Raw, memory: Memory) -> _Raw:
    """Return it with the time when the campaign ended, and why it stays in any case."""
    store, now, campaign_id = toolkit.store, toolkit.clock.now(), raw.campaign_id
    try:
        resolved = CampaignStore(store, campaign_id).resolved()
        summary = campaign_summary(store, campaign_id, resolved, now, memory)
        is_over = summary.state in ("complete", "incomplete") and summary.changed_at is not None
        has_ended = is_over and not worked_on_by(store, toolkit.owners, campaign_id, now)
    except PlimsollError as error:
        return replace(raw, why_not=_kept(store, campaign_id) or error.headline)
    not_ended = "" if has_ended else "it has not ended"
    unpublished = "" if summary.published else "its report is not published"
    return replace(raw, ended_at=summary.changed_at, why_not=_kept(store, campaign_id) or not_ended or unpublished)


def _kept(store: ResultStore, campaign_id: str) -> str:
    """Tell who keeps the raw files and why; empty where nobody does."""
    if not layout.KEEP.exists(store, campaign_id):
        return ""
    mark = layout.KEEP.read_sound(store, campaign_id)
    return f"{mark.by} keeps it: {mark.text}" if mark else "it is kept"


def _why_not(toolkit: Toolkit, campaign_id: str) -> str:
    """Tell why the report could not be made again without the raw files; empty where it can."""
    if passed_gate(CampaignStore(toolkit.store, campaign_id)) is None:
        return f"attempts were judged since its report was published; `plimsoll report {campaign_id}` publishes it"
    checked = check_campaign_files(toolkit, campaign_id, lambda _: None, raw=False)
    # The record of an interrupted removal is such a fault, which this pass mends
    faults = [fault.path for fault in checked.faults if not fault.path.endswith(f"/{layout.RAW_REMOVED.path}")]
    odd = (*faults, *checked.in_progress)
    return f"`plimsoll store check {campaign_id}` has something to say of {odd[0]}" if odd else ""


def _remove(toolkit: Toolkit, campaign_id: str, keys: Collection[AttemptKey], removal: RawRemoval) -> None:
    """Remove these attempts' raw files, each after the record of it. Raises Refused while anybody works on it."""
    store = toolkit.store
    with held_alone(toolkit, campaign_id):
        for key in keys:
            layout.RAW_REMOVED.create(store, key, removal)
            store.delete(layout.attempt_file(key, layout.RAW))
        # Totals are valid for the names of the attempts' files alone, of which many are gone now
        record_totals(CampaignStore(store, campaign_id), removal.at)
