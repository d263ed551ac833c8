"""Who is alive, as a test says."""

from collections.abc import Set


class FixedOwners:
    """Implements the Owners port: owners in `alive` are alive, all others have ended."""

    def __init__(self, *, alive: Set[str], me: str = "me", unknown: Set[str] = frozenset()) -> None:
        self._alive, self._me, self._unknown = alive, me, unknown

    def me(self) -> str:
        """Return the token that the test chose."""
        return self._me

    def is_alive(self, owner: str) -> bool | None:
        """Answer as the test chose."""
        return None if owner in self._unknown else owner in self._alive
