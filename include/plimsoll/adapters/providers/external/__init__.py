"""Clusters that somebody else runs: nothing of them is provided but the hosts that the load comes from."""

from plimsoll.adapters.providers.external.provider import ExternalProvider
from plimsoll.adapters.providers.external.tariffs import LoadHostTariffs

__all__ = ["ExternalProvider", "LoadHostTariffs"]
