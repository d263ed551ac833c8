"""Hosts that are used over SSH, and clusters of existing hosts."""

from plimsoll.adapters.ssh.depot import Depot
from plimsoll.adapters.ssh.errors import KeyRefused, WrongHostKey
from plimsoll.adapters.ssh.host import SshHost
from plimsoll.adapters.ssh.pool import Connections
from plimsoll.adapters.ssh.provider import SshProvider
from plimsoll.adapters.ssh.target import Target

__all__ = ["Connections", "Depot", "KeyRefused", "SshHost", "SshProvider", "Target", "WrongHostKey"]
