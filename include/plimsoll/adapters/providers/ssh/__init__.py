"""Hosts that are used over SSH, and clusters of existing hosts."""

from plimsoll.adapters.providers.ssh.depot import Depot
from plimsoll.adapters.providers.ssh.errors import KeyRefused, WrongHostKey
from plimsoll.adapters.providers.ssh.host import SshHost
from plimsoll.adapters.providers.ssh.pool import Connections
from plimsoll.adapters.providers.ssh.provider import SshProvider
from plimsoll.adapters.providers.ssh.target import Target

__all__ = ["Connections", "Depot", "KeyRefused", "SshHost", "SshProvider", "Target", "WrongHostKey"]
