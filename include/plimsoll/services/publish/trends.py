"""The trend over the campaigns of definitions: read from the store by their names.

What a campaign contributes is recorded when its report is published. The record holds a digest of the names of its
verdicts, which another verdict changes. Whoever begins an attempt, stores a verdict or changes the definition deletes
the record. None is written while a verdict is being replaced, and none stays that was made from a definition that has
changed meanwhile. A campaign without a sound record is computed, and the record written, so that an upgrade costs this
once.

Trends gather all records of a definition in one file, so that the next one reads that and what has changed since,
instead of a thousand records. An entry counts while its token is there, which was made before the campaign was read.
Whoever changes what a trend reads of a campaign removes the tokens before and after (`unmark_in_trends`): of a trend
that reads meanwhile no entry counts. A trend that ends in between leaves a token without an entry, or an entry without
a token, and neither counts.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import PurePosixPath
from typing import Annotated, Self
from uuid import uuid4

from pydantic import Field

from plimsoll.analysis.campaign.cell_results import require_no_strays
from plimsoll.analysis.campaign.findings import data_of_parts
from plimsoll.analysis.trend.figures import CampaignFigures
from plimsoll.analysis.trend.series import Order
from plimsoll.domain.text.base import LeftOutIfEmpty, Model
from plimsoll.domain.text.errors import DamagedRecord, DefinitionError, NotFound, StoreError
from plimsoll.domain.text.wording import meant
from plimsoll.ports.store import ReadableStore, ResultStore
from plimsoll.report.trend.document import LeftOutCampaign, TrendDocument, trend_document
from plimsoll.services.campaign.state.completeness import completeness_of
from plimsoll.services.publish.results import attempt_data, mixed_judging, verdict_data
from plimsoll.services.publish.trend_marks import stored_marks
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore, StoredCampaign
from plimsoll.services.store.judged import is_kept_last, published_without
from plimsoll.services.store.layout import Record
from plimsoll.services.store.listing import campaign_exists, campaigns_by_definition, definition_name, note_definition

REVISION = 3
"""Of what a trend computes of a campaign: raised when it computes something else, so that records are not used."""


class Entry(Model):
    """What one campaign contributes, or `why` it takes no part."""

    definition: str
    token: Annotated[str, Field(description="It counts while this is there; empty: the store can't be written to")]
    figures: LeftOutIfEmpty[CampaignFigures | None] = None
    why: LeftOutIfEmpty[str] = ""


class Gathered(Model):
    """The entries of a definition's campaigns, by their ids, and the revision that computed them."""

    revision: int
    campaigns: dict[str, Entry]


GATHERED = Record(".gathered/definitions/<definition>.json", Gathered, indent=None)


@dataclass(frozen=True)
class Known:
    """The entries that are up to date, by campaign, and the keys of all tokens, those of each campaign."""

    entries: Mapping[str, Entry]
    tokens: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, store: ReadableStore, definitions: Iterable[str]) -> Self:
        tokens: dict[str, list[str]] = {}
        for key in store.keys(layout.TREND_TOKEN.folder("")):
            tokens.setdefault(PurePosixPath(key).stem, []).append(key)
        entries: dict[str, Entry] = {}
        for name in definitions:
            gathered = GATHERED.read_sound(store, "", name)
            if gathered and gathered.revision == REVISION:
                entries |= gathered.campaigns
        counting = {
            campaign_id: entry
            for campaign_id, entry in entries.items()
            if layout.TREND_TOKEN.key("", campaign_id, entry.token) in tokens.get(campaign_id, ())
        }
        return cls(counting, tokens)

    def begin_look(self, store: ResultStore, campaign_id: str) -> str:
        """Return the token of what is read of the campaign from now on; empty where the store can't be written to."""
        token = uuid4().hex
        try:
            for former in self.tokens.get(campaign_id, ()):
                store.delete(former)
            store.write(layout.TREND_TOKEN.key("", campaign_id, token), b"")
        except StoreError:
            return ""
        return token


def _gather(store: ResultStore, entries: Mapping[str, Entry], added: Iterable[str]) -> None:
    """Store the entries of each definition of which some were `added`, unless the store can't be written to."""
    with suppress(StoreError, NotFound):
        for name in {entries[campaign_id].definition for campaign_id in added if entries[campaign_id].token}:
            own = {campaign_id: entry for campaign_id, entry in entries.items() if entry.definition == name}
            GATHERED.write(store, "", Gathered(revision=REVISION, campaigns=own), name)


class Figures(Model):
    """What a campaign contributes to trends, the revision that computed it, and the verdicts that it was made from."""

    revision: int
    verdict_names: str
    campaign: CampaignFigures


FIGURES = Record(layout.FIGURES.path, Figures, indent=None)


def stored_trend(store: ResultStore, names: Sequence[str], order: Order, now: datetime) -> TrendDocument:
    """Return the trend over all campaigns of definitions with these names.

    What was not recorded yet is recorded, unless the store can't be written to. A campaign that can't take part is
    named with the reason. Raises NotFound for a name without any campaign.
    """
    entries, damaged = _entries(store, names, now)
    figures = [entry.figures for entry in entries.values() if entry.figures]
    reasons = {campaign_id: entry.why for campaign_id, entry in entries.items() if not entry.figures} | damaged
    left_out = [LeftOutCampaign(campaign_id=campaign_id, why=why) for campaign_id, why in sorted(reasons.items())]
    return trend_document(names, figures, left_out, order, stored_marks(store, names))


def _entries(store: ResultStore, names: Sequence[str], now: datetime) -> tuple[dict[str, Entry], dict[str, str]]:
    """Return what each campaign contributes, and why others can't be read, by their ids."""
    ids, known = _campaigns_of(store, names), Known.of(store, names)
    entries = {campaign_id: known.entries[campaign_id] for campaign_id in ids if campaign_id in known.entries}
    damaged, added = dict[str, str](), list[str]()
    for campaign_id in (campaign_id for campaign_id in ids if campaign_id not in known.entries):
        try:
            entry = _entry(CampaignStore(store, campaign_id), known.begin_look(store, campaign_id), now)
        except (DamagedRecord, DefinitionError, NotFound) as error:
            if definition_name(store, campaign_id) in names:  # else the note that led to it is stale: it is another's
                damaged[campaign_id] = error.headline
            continue
        if entry.definition in names:
            entries[campaign_id] = entry
            added.append(campaign_id)
    _gather(store, entries, added)
    return entries, damaged


def record_figures(campaign: CampaignStore, published: StoredCampaign, verdict_names: str, now: datetime) -> None:
    """Record what the campaign contributes to trends.

    `published`: the campaign as its report has it; `verdict_names`: as they were before that was read, so that a
    verdict that is stored meanwhile makes the record void.
    """
    # older campaigns have no such note
    note_definition(campaign.store, campaign.campaign_id, published.declared().name)
    _record(campaign, verdict_names, *_computed(campaign, published, now))


def _computed(campaign: CampaignStore, published: StoredCampaign, now: datetime) -> tuple[CampaignFigures | str, str]:
    """Return what the campaign contributes, or why it can't take part, and the sha256 of the definition that it had.

    The sha256 is empty while a verdict is being replaced: what was computed must not be recorded then.
    """
    # Looked at before the figures are read. A verdict that is replaced later gets another name, which makes the record
    # void. Names do not tell of a verdict that was kept already while the one that replaces it is not stored yet.
    again = ((key, layout.VERDICT.read(published.store, key)) for key in campaign.judged_again())
    replaced = any(verdict is not None and is_kept_last(campaign.store, key, verdict) for key, verdict in again)
    digest = published.definition_sha256()
    return computed_figures(published, now), "" if replaced else digest


def _record(campaign: CampaignStore, verdict_names: str, figures: CampaignFigures | str, definition: str) -> None:
    """Record what `_computed` returned, unless a verdict is being replaced or the campaign can't take part.

    No record stays where the definition has changed or is gone.
    """
    if isinstance(figures, str) or not definition:
        return
    record = Figures(revision=REVISION, verdict_names=verdict_names, campaign=figures)
    FIGURES.write(campaign.store, campaign.campaign_id, record)
    # After the write: whoever changes the definition may have deleted the record before it was there
    if not campaign_exists(campaign.store, campaign.campaign_id) or campaign.definition_sha256() != definition:
        campaign.store.delete(FIGURES.key(campaign.campaign_id))


def _campaigns_of(store: ResultStore, names: Sequence[str]) -> list[str]:
    by_name = campaigns_by_definition(store)
    for name in names:
        if name not in by_name:
            mend = f"{meant(name, by_name)} `plimsoll campaigns` lists the campaigns of this store".strip()
            raise NotFound(f"there is no campaign of a definition {name!r}", where=store.url(), mend=mend)
    return list(dict.fromkeys(campaign_id for name in names for campaign_id in by_name[name]))


def _entry(campaign: CampaignStore, token: str, now: datetime) -> Entry:
    recorded, verdict_names = FIGURES.read_sound(campaign.store, campaign.campaign_id), campaign.verdict_names()
    if recorded is None or recorded.revision != REVISION or recorded.verdict_names != verdict_names:
        figures, definition = _computed(campaign, campaign, now)
        if isinstance(figures, str):
            return Entry(definition=definition_name(campaign.store, campaign.campaign_id), token=token, why=figures)
        with suppress(StoreError):  # it is known all the same
            _record(campaign, verdict_names, figures, definition)
        return Entry(definition=figures.definition, token=token, figures=figures)
    return Entry(definition=recorded.campaign.definition, token=token, figures=recorded.campaign)


def computed_figures(campaign: StoredCampaign, now: datetime) -> CampaignFigures | str:
    """Return what the campaign contributes, from its verdicts and tables, or why it can't take part.

    Raises DamagedRecord, DefinitionError, NotFound.
    """
    from plimsoll.report.trend.document import StoredResults, contribution

    data = verdict_data(campaign, campaign.verdicts(), now)
    incomplete = published_without(campaign.store, campaign.campaign_id)
    counted = [cell.counted for cell in data.state.cells if cell.counted]
    missing = completeness_of(data.state)
    if not counted or not (missing.is_complete or incomplete):
        mend = f"`plimsoll report {campaign.campaign_id} --incomplete` would let it take part"
        return missing.words + (f": {mend}" if counted else "")
    if mixed := mixed_judging(campaign.campaign_id, data.state):
        return f"{mixed.what} ({mixed.mend})"
    require_no_strays(data)
    tables = ("pauses", "jvms")
    attempts = tuple(attempt_data(campaign.store, attempt.verdict, tables) for attempt in data.attempts)
    data = replace(data, attempts=attempts)
    first = min(counted, key=lambda attempt: (attempt.verdict.started_at is None, attempt.verdict.started_at or now))
    record = layout.ATTEMPT.read(campaign.store, first.key)
    results = StoredResults(
        data=data,
        parts=data_of_parts(data),
        stored_at=record.started_at if record else now,
        code_version=record.code_version if record else "not known",
        incomplete=() if missing.is_complete else incomplete,
    )
    return contribution(results)
