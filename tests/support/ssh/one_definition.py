"""The provider's options, as one definition has them."""

from typing import Any

from plimsoll.domain.errors import NotFound


class OneDefinition:
    """Implements the ProviderOptions port: every campaign has these options, unless the store has lost it."""

    def __init__(self, options: Any) -> None:
        self.options, self.lost = options, False

    def of_campaign(self, campaign_id: Any) -> Any:
        if self.lost:
            raise NotFound("there is no such campaign")
        return self.options

    def known(self, provider: Any) -> list[Any]:
        assert provider == "ssh"
        return [self.options, self.options]
