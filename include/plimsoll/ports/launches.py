"""The record of what was launched for an attempt: what a cloud does not show yet is known by it."""

from collections.abc import Sequence
from typing import Protocol

from plimsoll.domain.cell import AttemptKey
from plimsoll.domain.launch import Launch


class Launches(Protocol):
    """Launches of every attempt, by token. Each method raises StoreError when the record can't be reached."""

    def of(self, key: AttemptKey) -> Sequence[Launch]:
        """The attempt's launches, in the order in which they were asked for."""

    def note(self, launch: Launch) -> None:
        """Put it on record, over what was known of it."""
