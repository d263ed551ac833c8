"""What use-cases ask of the machine on which they run: the time, who lives there, and where lines for people go."""

from collections.abc import Callable
from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Wall-clock time and waiting: a port, so that use-cases can be tested without waiting."""

    def now(self) -> datetime:
        """Return the current time in UTC, with its time zone."""

    def sleep(self, seconds: float) -> None:
        """Wait that many seconds."""


Log = Callable[[str], None]
"""The receiver of lines about a long operation, for the people who follow it."""


class Owners(Protocol):
    """The tokens of processes that own attempts, and the knowledge whether the owner of a token is alive."""

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
