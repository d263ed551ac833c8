"""What keeps a host from being used though it answers: unlike `Unreachable`, none of it passes by itself."""

from plimsoll.domain.errors import HostError


class WrongHostKey(HostError):
    """Something answers that is not the expected host."""


class KeyRefused(HostError):
    """The host does not let this user in with this key."""
