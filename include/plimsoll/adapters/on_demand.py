"""Adapters that are made when they are first asked for, since some import libraries for a tenth of a second."""

from collections.abc import Callable, Iterator, Mapping
from threading import RLock
from typing import TypeVar

_Adapter = TypeVar("_Adapter")


class OnDemand(Mapping[str, _Adapter]):
    """Adapters by name. Each is made once, by its function in `makers`, in whichever thread asks first.

    Listing the names makes none. An error of a maker is raised to the caller, and the next call tries again.
    """

    def __init__(self, makers: Mapping[str, Callable[[], _Adapter]]) -> None:
        self._makers = dict(makers)
        self._made: dict[str, _Adapter] = {}
        self._lock = RLock()

    def __getitem__(self, name: str) -> _Adapter:
        with self._lock:
            if name not in self._made:
                self._made[name] = self._makers[name]()
            return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._makers

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)
