"""Zones without room, as the store remembers them for all cells: each cell is a process of its own."""

from contextlib import suppress
from datetime import datetime, timedelta

from plimsoll.domain.errors import NotFound, StoreError
from plimsoll.ports.clock import Clock
from plimsoll.ports.store import ResultStore
from plimsoll.services.store import layout

_KEPT = timedelta(minutes=5)


class StoredFullZones:
    """An implementation of the FullZones port: a file for each zone, with the time at which it was full."""

    def __init__(self, store: ResultStore, clock: Clock) -> None:
        self._store, self._clock = store, clock

    def note(self, zone: str) -> None:
        """Remember the zone, if the store can be written."""
        with suppress(StoreError):
            self._store.write(f"{layout.FULL_ZONES}/{zone}", self._clock.now().isoformat().encode())

    def known(self) -> frozenset[str]:
        """Return the zones that were full a few minutes ago; none where the store can't be read."""
        with suppress(StoreError, NotFound, ValueError):
            files = {key: self._store.read(key).decode() for key in self._store.keys(layout.FULL_ZONES)}
            since = self._clock.now() - _KEPT
            return frozenset(key.rpartition("/")[2] for key, at in files.items() if datetime.fromisoformat(at) > since)
        return frozenset()
