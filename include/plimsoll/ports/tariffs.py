"""Prices of a provider's hosts. Providers with free hosts have no tariffs."""

from typing import Protocol

from plimsoll.domain.cost import Tariff
from plimsoll.domain.specs import HostsSpec


class Tariffs(Protocol):
    """Prices of one provider."""

    def tariff(self, spec: HostsSpec) -> Tariff | None:
        """Return the prices of the hosts; None where they cost nothing.

        The price of a host is None where nobody knows it. Wrong options are an error.
        """
