"""Who is alive, as a test says."""

from collections.abc import Set


class FixedOwners:
    """Implements the Owners port: owners in `alive` are alive, all others have ended."""

    def __init__(self, *, alive: Set[str], me: str = "me", unknown: Set[str] = frozenset()) -> None:
        self._alive, self._me, self._unknown = alive, me, unknown

    def me(self) -> str:
        """As the test says."""
        return self._me

    def is_alive(self, owner: str) -> bool | None:
        """As the test says."""
        return None if owner in self._unknown else owner in self._alive
