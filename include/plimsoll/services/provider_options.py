"""The options of providers, from the definitions that campaigns were started with."""

from collections.abc import Iterator, Mapping

from plimsoll.domain.definition import ProviderChoice
from plimsoll.ports.store import ResultStore
from plimsoll.services.campaigns import CampaignStore, campaign_ids


class StoredOptions:
    """Implements the ProviderOptions port. A campaign's provider never changes, so each is read once."""

    def __init__(self, store: ResultStore) -> None:
        self._store = store
        self._read: dict[str, ProviderChoice] = {}

    def of_campaign(self, campaign_id: str) -> Mapping[str, object]:
        """The options of that campaign's definition; NotFound when the store has no such campaign."""
        return dict(self._choice(campaign_id).options)

    def known(self, provider: str) -> Iterator[Mapping[str, object]]:
        """The options of every campaign that uses that provider."""
        for campaign_id in campaign_ids(self._store):
            choice = self._choice(campaign_id)
            if choice.name == provider:
                yield dict(choice.options)

    def _choice(self, campaign_id: str) -> ProviderChoice:
        if campaign_id not in self._read:
            self._read[campaign_id] = CampaignStore(self._store, campaign_id).definition().provider
        return self._read[campaign_id]
