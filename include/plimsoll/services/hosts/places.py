"""Find the places of a provider's clusters, according to the definitions of stored campaigns, and remember in the
store, for all cells, which zones have no room.

Names that people give for clusters: whether anything had such a name, and what was meant if not.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import PurePosixPath

from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.hosts.cluster import ClusterId
from plimsoll.domain.keys.system import EXTERNAL, ProviderChoice
from plimsoll.domain.text.errors import DefinitionError, NotFound, StoreError
from plimsoll.domain.text.wording import meant, nearest
from plimsoll.ports.controller import Clock
from plimsoll.ports.provider import Places
from plimsoll.ports.store import ReadableStore, ResultStore
from plimsoll.services.hosts.at_rest import digest_of, is_used, marks
from plimsoll.services.retries import Outage
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.store.listing import campaign_exists, campaign_folders

_KEPT = timedelta(minutes=5)


@dataclass(frozen=True)
class _Read:
    """The provider that a campaign chooses, and the text that says so; None where the mark of one at rest does."""

    choice: ProviderChoice
    text: bytes | None = None


def note_place(store: ResultStore, campaign: Campaign) -> None:
    """Record where hosts of the definition are paid for. This outlives the campaign, whose hosts may outlive it too.

    It is written anew by every cell, so that no rule of the store that removes old files removes it meanwhile.
    """
    if source := campaign.provider.hosts_from:
        layout.NOTED_PLACE.write(store, "", source.provider, digest_of(source.provider))


class StoredPlaces:
    """An implementation of ClusterPlaces with the campaigns of a store, and the places that were noted in it.

    A definition is read each time, because a campaign that was deleted and made anew may be in another place, and
    parsed again only if its text has changed: each provider asks, and there may be hundreds. Of campaigns at rest their
    marks say the provider. While the store is out of reach, what was read last counts.

    `at_hand` returns the definitions that can be read without the store. They are used while it is out of reach.
    """

    def __init__(
        self, store: ResultStore, outage: Outage, at_hand: Callable[[], Iterable[Definition]] = lambda: ()
    ) -> None:
        self._store, self._outage, self._at_hand = store, outage, at_hand
        self._read: dict[str, _Read] = {}
        self._noted: dict[str, ProviderChoice] = {}
        self._at_rest = frozenset[str]()

    def of_campaign(self, provider: str, campaign_id: str) -> Places:
        """Return the places of the provider's clusters of the campaign. All known where the store can't tell."""
        try:
            choice = self._choice(campaign_id)
        except (NotFound, StoreError, DefinitionError):
            return self._places(provider)
        if choice.name != provider:
            return self._places(provider)
        return Places((choice.options,), campaigns=(campaign_id,))

    def known(self, provider: str) -> Places:
        """Return the places of the provider's clusters of all campaigns, and the reason why there may be other
        places. Of databases of somebody else it knows in which nothing can be left.
        """
        places = self._places(provider)
        if provider != EXTERNAL:
            options = [option for index, option in enumerate(places.options) if option not in places.options[:index]]
            return replace(places, options=tuple(options), campaigns=())
        return replace(
            places, done=frozenset(campaign for campaign in places.campaigns if not self._may_have_keyspace(campaign))
        )

    def _places(self, provider: str) -> Places:
        choices, unread = self._choices()
        choices += [("", definition.provider) for definition in self._at_hand()] if unread else []
        known = [(campaign_id, choice.options) for campaign_id, choice in choices if choice.name == provider]
        places = Places(
            tuple(options for _, options in known), campaigns=tuple(campaign for campaign, _ in known), everywhere=True
        )
        if not unread:
            return places
        why = (
            f"not every campaign could be read, so clusters may be in places that are not known: {'; '.join(unread)}. "
            "Clusters are looked for where definitions at hand say. Let this machine reach the store, then try again"
        )
        return replace(places, unknown=why)

    def _may_have_keyspace(self, campaign_id: str) -> bool:
        """Tell whether a cluster of the campaign may have one; false where the store is silent, which is told apart."""
        if campaign_id in self._at_rest:
            return False
        try:
            with self._outage.noticed():
                return bool(campaign_id) and is_used(self._store, campaign_id)
        except StoreError:
            return False

    def _choices(self) -> tuple[list[tuple[str, ProviderChoice]], list[str]]:
        """Return the provider choice of every campaign that can be read, and the reasons why others can't be read."""
        try:
            with self._outage.noticed():
                ids, resting = campaign_folders(self._store), marks(self._store)
                noted = tuple(self._store.keys(layout.NOTED_PLACE.folder("")))
        except StoreError as error:
            seen = [(name, known.choice) for name, known in self._read.copy().items()]
            return [*seen, *(("", choice) for choice in self._noted.values())], [error.what]
        # Copied, because several threads may ask at once.
        self._read = {name: known for name, known in self._read.copy().items() if name in ids}
        choices, unread = list[tuple[str, ProviderChoice]](), list[str]()
        self._at_rest = frozenset(resting)
        reads = [(name, name, partial(self._choice, name, resting.get(name, ""))) for name in ids]
        reads += [(key, "", partial(self._note, key)) for key in noted]
        for name, campaign_id, read in reads:
            try:
                choices.append((campaign_id, read()))
            except NotFound:  # it was deleted in the meantime
                continue
            except (StoreError, DefinitionError) as error:
                unread.append(f"{name}: {error.what}")
        return choices, unread

    def _note(self, key: str) -> ProviderChoice:
        digest = PurePosixPath(key).stem.split("-")[-1]  # of the content, which never changes
        if digest not in self._noted:
            with self._outage.noticed():
                self._noted[digest] = layout.NOTED_PLACE.at(self._store, key)
        return self._noted[digest]

    def _choice(self, campaign_id: str, mark: str = "") -> ProviderChoice:
        """Return the campaign's choice, by that mark where it is at rest."""
        if mark:
            with suppress(NotFound):  # something was begun since the listing, and its definition tells where
                self._read[campaign_id] = _Read(self._note(mark))
                return self._read[campaign_id].choice
        known, campaign = self._read.get(campaign_id), CampaignStore(self._store, campaign_id)
        try:
            with self._outage.noticed():
                text = campaign.definition_text()
        except StoreError:
            if known is None:
                raise
            return known.choice
        if known is None or known.text != text:
            known = self._read[campaign_id] = _Read(campaign.parsed(text).provider, text)
        return known.choice


class StoredFullZones:
    """An implementation of the FullZones port: a file for each zone, with the time at which it was full."""

    def __init__(self, store: ResultStore, clock: Clock) -> None:
        self._store, self._clock = store, clock

    def note(self, zone: str) -> None:
        with suppress(StoreError):
            self._store.write(layout.FULL_ZONE.key("", zone), self._clock.now().isoformat().encode())

    def known(self) -> frozenset[str]:
        with suppress(StoreError, NotFound, ValueError):
            files = {key: self._store.read(key).decode() for key in self._store.keys(layout.FULL_ZONE.folder(""))}
            since = self._clock.now() - _KEPT
            return frozenset(key.rpartition("/")[2] for key, at in files.items() if datetime.fromisoformat(at) > since)
        return frozenset()


def require_known(store: ReadableStore, name: str, living: Sequence[ClusterId]) -> None:
    """Raise NotFound, with the name that was meant, where the store has no such cluster and no such campaign.

    `living` are the clusters that live, none of which has the name. The name of a campaign that has some of them is not
    enough: which of them was meant is not clear.
    """
    if own := [str(cluster) for cluster in living if cluster.campaign_id == name]:
        what = f"{name!r} is a campaign, and clusters are named one by one, so nothing was destroyed"
        raise NotFound(what, where=store.url(), mend=f"name one of its living clusters: {', '.join(own)}")
    if _is_on_record(store, name):
        return
    mend = f"{meant(name, [*map(str, living), *_alike(store, name)])} `plimsoll clusters list` shows what lives"
    raise NotFound(
        f"no campaign and no cluster has the name {name!r}, so nothing was destroyed",
        where=store.url(),
        mend=mend.strip(),
    )


def _is_on_record(store: ReadableStore, name: str) -> bool:
    """Tell whether the name is a campaign's, or that of a cluster with a folder in the store."""
    campaign_id, purpose = _parts(name)
    if not purpose:
        return campaign_id in store.folders("") and campaign_exists(store, campaign_id)
    return name in _clusters(store, campaign_id, purpose)


def _alike(store: ReadableStore, name: str) -> Iterator[str]:
    """Yield the campaign with the most similar name, and of its clusters those with the most similar purpose."""
    campaign_id, purpose = _parts(name)
    similar = nearest(campaign_id, store.folders(""))
    if similar is None:
        return
    yield similar
    purposes = {known for folder in _folders(similar) for known in store.folders(folder)}
    if purpose and (alike := nearest(purpose, purposes)):
        yield from _clusters(store, similar, alike)


def _clusters(store: ReadableStore, campaign_id: str, purpose: str) -> list[str]:
    """Return the names of the campaign's clusters on record with that purpose."""
    if campaign_id not in store.folders(""):
        return []
    kept = [folder for folder in _folders(campaign_id) if purpose in store.folders(folder)]
    numbers = (number for folder in kept for number in store.folders(f"{folder}/{purpose}") if number.isdigit())
    return [f"{campaign_id}/{purpose}/{number}" for number in numbers]


def _folders(campaign_id: str) -> tuple[str, str]:
    """Return the folders of each purpose of the campaign's clusters: its cells, and what hosts are kept for."""
    return layout.ATTEMPTS.folder(campaign_id), layout.KEPT_CLUSTERS.folder(campaign_id)


def _parts(name: str) -> tuple[str, str]:
    """Return the campaign and the purpose that the name gives; empty where it gives none."""
    campaign_id, purpose, *_ = (*name.split("/"), "")
    return campaign_id, purpose
