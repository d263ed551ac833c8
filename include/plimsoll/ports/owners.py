"""Who works at attempts: whether the process is still there that a token names."""

from typing import Protocol


class Owners(Protocol):
    """Tokens of those who work at attempts and campaigns, and whether they are alive."""

    def me(self) -> str:
        """The token of this process."""

    def is_alive(self, owner: str) -> bool | None:
        """Whether the owner of that token is alive; None where that can't be told from here."""


class UnknownOwners:
    """Implements the Owners port where nobody can be asked: how old an attempt is decides alone."""

    def me(self) -> str:
        """A name that tells nothing."""
        return "unknown"

    def is_alive(self, owner: str) -> bool | None:  # noqa: ARG002
        """Nobody knows."""
        return None
