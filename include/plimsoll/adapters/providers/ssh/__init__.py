"""Hosts that are used over SSH, and clusters of existing hosts."""

from plimsoll.adapters.providers.ssh.bundles import Depot
from plimsoll.adapters.providers.ssh.connection import Connections
from plimsoll.adapters.providers.ssh.host import SshHost
from plimsoll.adapters.providers.ssh.login import KeyRefused, WrongHostKey
from plimsoll.adapters.providers.ssh.options import Target
from plimsoll.adapters.providers.ssh.provider import SshProvider

__all__ = ["Connections", "Depot", "KeyRefused", "SshHost", "SshProvider", "Target", "WrongHostKey"]
