"""Where a provider's clusters may be, according to the definitions of stored campaigns."""

from collections.abc import Callable, Iterable

from plimsoll.domain.choices import ProviderChoice
from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import DefinitionError, NotFound, StoreError
from plimsoll.ports.provider import Places
from plimsoll.ports.store import ResultStore
from plimsoll.services.hosts.outage import Outage
from plimsoll.services.store.campaigns import CampaignStore, campaign_ids


class StoredPlaces:
    """Implements Whereabouts with the campaigns of a store. A campaign's provider never changes, so each is read once.

    `at_hand` returns the definitions that can be read without the store. They are used while it is out of reach.
    """

    def __init__(
        self, store: ResultStore, outage: Outage, at_hand: Callable[[], Iterable[Definition]] = lambda: ()
    ) -> None:
        self._store, self._outage, self._at_hand = store, outage, at_hand
        self._read: dict[str, ProviderChoice] = {}

    def of_campaign(self, provider: str, campaign_id: str) -> Places:
        """The places of the provider's clusters of the campaign; all known places where the store can't answer that."""
        try:
            choice = self._choice(campaign_id)
        except (NotFound, StoreError, DefinitionError):
            return self.known(provider)
        return Places((choice.options,)) if choice.name == provider else self.known(provider)

    def known(self, provider: str) -> Places:
        """The places of the provider's clusters of all campaigns, and the reason why there may be other places."""
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
        """The provider choice of every campaign that can be read, and the reasons why others can't be read."""
        try:
            with self._outage.noticed():
                ids = campaign_ids(self._store)
        except StoreError as error:
            return list(self._read.values()), [error.what]
        found, unread = [], []
        for campaign_id in ids:
            try:
                found.append(self._choice(campaign_id))
            except NotFound:  # the campaign was deleted in the meantime
                continue
            except (StoreError, DefinitionError) as error:
                unread.append(f"{campaign_id}: {error.what}")
        return found, unread

    def _choice(self, campaign_id: str) -> ProviderChoice:
        if campaign_id not in self._read:
            with self._outage.noticed():
                self._read[campaign_id] = CampaignStore(self._store, campaign_id).definition().provider
        return self._read[campaign_id]
