"""What keeps a host from being reached, told apart: only the first kind may pass by itself."""

from plimsoll.domain.errors import HostError


class Unreachable(HostError):
    """No connection: the host is down, booting or cut off, or nothing answers at that port."""


class WrongHostKey(HostError):
    """Something answers that is not the expected host."""


class KeyRefused(HostError):
    """The host does not let this user in with this key."""
