"""What the campaigns of a definition contribute to trends, gathered in one file.

A trend over a thousand campaigns reads that file and what has changed since, instead of a thousand records. An entry
counts while its token is there, which was made before the campaign was read. Whoever changes what a trend reads of a
campaign removes the tokens before and after (`unmark_in_trends`): of a trend that reads meanwhile no entry counts. A
trend that ends in between leaves a token without an entry, or an entry without a token, and neither counts.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Annotated, Self
from uuid import uuid4

from pydantic import Field

from plimsoll.analysis.trend.figures import CampaignFigures
from plimsoll.domain.text.base import LeftOutIfEmpty, Model
from plimsoll.domain.text.errors import NotFound, StoreError
from plimsoll.ports.store import ReadableStore, ResultStore
from plimsoll.services.store import layout
from plimsoll.services.store.records import Record


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
    def of(cls, store: ReadableStore, definitions: Iterable[str], revision: int) -> Self:
        tokens: dict[str, list[str]] = {}
        for key in store.keys(layout.TREND_TOKEN.folder("")):
            tokens.setdefault(PurePosixPath(key).stem, []).append(key)
        entries: dict[str, Entry] = {}
        for name in definitions:
            gathered = GATHERED.read_sound(store, "", name)
            if gathered and gathered.revision == revision:
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


def gather(store: ResultStore, revision: int, entries: Mapping[str, Entry], added: Iterable[str]) -> None:
    """Store the entries of each definition of which some were `added`, unless the store can't be written to."""
    with suppress(StoreError, NotFound):
        for name in {entries[campaign_id].definition for campaign_id in added if entries[campaign_id].token}:
            own = {campaign_id: entry for campaign_id, entry in entries.items() if entry.definition == name}
            GATHERED.write(store, "", Gathered(revision=revision, campaigns=own), name)
