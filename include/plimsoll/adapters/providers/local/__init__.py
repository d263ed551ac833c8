"""Clusters on this machine: every host is a folder and a loopback address."""

from plimsoll.adapters.providers.local.host import LocalHost
from plimsoll.adapters.providers.local.provider import LocalProvider

__all__ = ["LocalHost", "LocalProvider"]
