"""Errors that keep a host that answers from being used. Unlike `Unreachable`, they are permanent."""

from plimsoll.domain.errors import HostError


class WrongHostKey(HostError):
    """Another host than the expected one answers."""


class KeyRefused(HostError):
    """The host does not allow this user to log in with this key."""
