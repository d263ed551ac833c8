"""What the campaigns of a definition contribute to trends, gathered in one file.

A trend over a thousand campaigns reads that file and what has changed since, instead of a thousand records. An entry
counts while there is a mark with its digest. Whoever begins an attempt, stores a verdict, changes the definition or
publishes a report removes the campaign's marks. A mark is made before a last look at the campaign, so none stays of
what changed meanwhile. Entries are looked at again after a day, for who changes a store by hand removes no marks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Annotated

from pydantic import AwareDatetime, Field

from plimsoll.analysis.trend.contribution import CampaignFigures
from plimsoll.domain.text.base import LeftOutIfEmpty, Model
from plimsoll.domain.text.errors import StoreError
from plimsoll.ports.store import ReadableStore, ResultStore
from plimsoll.services.store import layout
from plimsoll.services.store.records import Record

LOOKED_AT_AGAIN = timedelta(days=1)
AT_A_TIME = 20
"""How many old entries a trend looks at again, the oldest first, so that its work has a bound."""


class Entry(Model):
    """What one campaign contributes, or `why` it takes no part."""

    definition: str
    digest: Annotated[str, Field(description="Of what it was made from: another campaign's, or a later one, differs")]
    looked_at: AwareDatetime
    figures: LeftOutIfEmpty[CampaignFigures | None] = None
    why: LeftOutIfEmpty[str] = ""


class Gathered(Model):
    """The entries of a definition's campaigns, by their ids, and the revision that computed them."""

    revision: int
    campaigns: dict[str, Entry]


GATHERED = Record(".gathered/definitions/<definition>.json", Gathered, indent=None)


def entries_that_count(
    store: ReadableStore, definitions: Iterable[str], revision: int, now: datetime
) -> dict[str, Entry]:
    """Return the entries of these definitions' campaigns that are known to be up to date."""
    marks = {tuple(key.split("/")[2:]) for key in store.keys(layout.TREND_MARK.folder(""))}
    found: dict[str, Entry] = {}
    for name in definitions:
        gathered = GATHERED.read_sound(store, "", name)
        if gathered and gathered.revision == revision:
            found |= {key: entry for key, entry in gathered.campaigns.items() if (key, entry.digest) in marks}
    oldest = sorted(found, key=lambda campaign_id: found[campaign_id].looked_at)[:AT_A_TIME]
    again = {campaign_id for campaign_id in oldest if now - found[campaign_id].looked_at > LOOKED_AT_AGAIN}
    return {campaign_id: entry for campaign_id, entry in found.items() if campaign_id not in again}


def gather(store: ResultStore, revision: int, entries: Mapping[str, Entry], added: Sequence[str]) -> None:
    """Store the entries, and mark those that were `added`: the caller looks at these campaigns once more then.

    A store that can't be written to stays as it is.
    """
    with suppress(StoreError):
        for name in {entries[campaign_id].definition for campaign_id in added}:
            own = {campaign_id: entry for campaign_id, entry in entries.items() if entry.definition == name}
            GATHERED.write(store, "", Gathered(revision=revision, campaigns=own), name)
        for campaign_id in added:
            store.write(layout.TREND_MARK.key("", campaign_id, entries[campaign_id].digest), b"")
