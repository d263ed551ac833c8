"""Clusters on this machine: every host is a folder and a loopback address."""

from plimsoll.adapters.local.host import LocalHost

__all__ = ["LocalHost"]
