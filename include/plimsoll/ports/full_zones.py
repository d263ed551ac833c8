"""The zones of a cloud that were found to have no room, remembered for a few minutes for all cells."""

from typing import Protocol


class FullZones(Protocol):
    """A memory that all cells share. It only spares time and money, so that its errors count for nothing."""

    def note(self, zone: str) -> None:
        """Remember that the zone had no room just now. The name tells all that its room depends on."""

    def known(self) -> frozenset[str]:
        """Return the zones that had no room a few minutes ago."""


class NoneFull:
    """An implementation of the FullZones port that remembers nothing."""

    def note(self, zone: str) -> None:
        """Forget it."""

    def known(self) -> frozenset[str]:
        """Return none."""
        return frozenset()
