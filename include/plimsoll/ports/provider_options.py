"""The options that definitions give a provider: its clusters must be found long after they were asked for."""

from collections.abc import Iterable, Mapping
from typing import Protocol


class ProviderOptions(Protocol):
    """What the campaigns of the store say; nothing of it is the provider's own memory."""

    def of_campaign(self, campaign_id: str) -> Mapping[str, object]:
        """The options of that campaign's definition; NotFound when the store has no such campaign."""

    def known(self, provider: str) -> Iterable[Mapping[str, object]]:
        """The options of every campaign that uses that provider."""
