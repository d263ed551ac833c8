"""Where a provider's clusters may be: as the definitions say that campaigns were started with."""

from collections.abc import Callable, Iterable

from plimsoll.domain.definition import Definition, ProviderChoice
from plimsoll.domain.errors import DefinitionError, NotFound, StoreError
from plimsoll.ports.provider import Places
from plimsoll.ports.store import ResultStore
from plimsoll.services.hosts.outage import Outage
from plimsoll.services.store.campaigns import CampaignStore, campaign_ids


class StoredPlaces:
    """Reads the campaigns of a store. A campaign's provider never changes, so each is read once.

    `at_hand` gives the definitions that can be read without the store: where it is out of reach, they tell where
    clusters may be.
    """

    def __init__(
        self, store: ResultStore, outage: Outage, at_hand: Callable[[], Iterable[Definition]] = lambda: ()
    ) -> None:
        self._store, self._outage, self._at_hand = store, outage, at_hand
        self._read: dict[str, ProviderChoice] = {}

    def of_campaign(self, provider: str, campaign_id: str) -> Places:
        """Where that provider has the campaign's clusters; every known place where the store does not tell."""
        try:
            choice = self._choice(campaign_id)
        except (NotFound, StoreError, DefinitionError):
            return self.known(provider)
        return Places((choice.options,)) if choice.name == provider else self.known(provider)

    def known(self, provider: str) -> Places:
        """Where that provider has clusters of any campaign, and why there may be others."""
        choices, unread = self._choices()
        found = [choice.options for choice in choices if choice.name == provider]
        if not unread:
            return Places(tuple(found))
        at_hand = (one.provider for one in self._at_hand())
        found += [choice.options for choice in at_hand if choice.name == provider]
        return Places(
            tuple(found),
            f"not every campaign could be read, so clusters may be in places that are not known: {'; '.join(unread)}. "
            "Clusters are looked for where definitions at hand say. Let this machine reach the store, then try again",
        )

    def _choices(self) -> tuple[list[ProviderChoice], list[str]]:
        """Of every campaign that can be read, and why others can't be."""
        try:
            with self._outage.noticed():
                ids = campaign_ids(self._store)
        except StoreError as error:
            return list(self._read.values()), [error.what]
        found, unread = [], []
        for campaign_id in ids:
            try:
                found.append(self._choice(campaign_id))
            except NotFound:  # deleted meanwhile
                continue
            except (StoreError, DefinitionError) as error:
                unread.append(f"{campaign_id}: {error.what}")
        return found, unread

    def _choice(self, campaign_id: str) -> ProviderChoice:
        if campaign_id not in self._read:
            with self._outage.noticed():
                self._read[campaign_id] = CampaignStore(self._store, campaign_id).definition().provider
        return self._read[campaign_id]
