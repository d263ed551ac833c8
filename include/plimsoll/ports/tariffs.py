"""What a provider's hosts cost. Providers whose hosts cost nothing have no tariffs."""

from typing import Protocol

from plimsoll.domain.cost import Tariff
from plimsoll.domain.definition import Definition


class Tariffs(Protocol):
    """Prices of one provider."""

    def tariff(self, definition: Definition) -> Tariff:
        """Of the definition's hosts. Prices that can't be known are None, and no error; wrong options are."""
