"""The processes that own attempts: whether the process named by a token is still alive."""

from typing import Protocol


class Owners(Protocol):
    """The tokens of processes, and the knowledge whether the owner of a token is alive."""

    def me(self) -> str:
        """Return the token of this process."""

    def is_alive(self, owner: str) -> bool | None:
        """Tell whether the owner with that token is alive; None where this process can't know."""


class UnknownOwners:
    """An implementation of the Owners port where processes can't be looked up. The age of an attempt then decides."""

    def me(self) -> str:
        return "unknown"

    def is_alive(self, owner: str) -> bool | None:
        return None
