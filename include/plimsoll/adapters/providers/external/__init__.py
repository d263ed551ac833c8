"""Clusters that somebody else runs: nothing of them is provided but the hosts that the load comes from."""

from plimsoll.adapters.providers.external.load_hosts import LoadHostTariffs
from plimsoll.adapters.providers.external.provider import ExternalProvider

__all__ = ["ExternalProvider", "LoadHostTariffs"]
