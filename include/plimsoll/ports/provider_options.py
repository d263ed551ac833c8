"""The options that definitions give a provider: its clusters must be found long after they were asked for."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from plimsoll.domain.errors import StoreError


class ProviderOptions(Protocol):
    """What the campaigns of the store say; nothing of it is the provider's own memory."""

    def of_campaign(self, campaign_id: str) -> Mapping[str, object]:
        """The options of that campaign's definition; NotFound when the store has no such campaign."""

    def known(self, provider: str) -> Iterable[Mapping[str, object]]:
        """The options of every campaign that uses that provider.

        PartlyKnown where not all campaigns could be read; it carries the options that are known.
        """


class PartlyKnown(StoreError):
    """Not all campaigns could be read; `options` are those of the others, and of the definitions at hand."""

    def __init__(self, what: str, options: Sequence[Mapping[str, object]], *, where: str = "", mend: str = "") -> None:
        super().__init__(what, where=where, mend=mend)
        self.options = tuple(options)
