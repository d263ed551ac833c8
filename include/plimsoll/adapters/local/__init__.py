"""Clusters on this machine: every host is a folder and a loopback address."""

from plimsoll.adapters.local.host import LocalHost
from plimsoll.adapters.local.provider import LocalProvider

__all__ = ["LocalHost", "LocalProvider"]
