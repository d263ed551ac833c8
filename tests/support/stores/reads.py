"""A store that tells which of its files were read."""

from typing import Any

from plimsoll.ports.store import ResultStore


class Reads:
    """The store, and which keys were read of it."""

    def __init__(self, store: ResultStore) -> None:
        self._store = store
        self.keys_read: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def read(self, key: str) -> bytes:
        self.keys_read.append(key)
        return self._store.read(key)
