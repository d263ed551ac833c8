"""What stored logs and results tell: of logs, of an attempt, of a campaign. Pure."""

from collections import defaultdict
from collections.abc import Hashable, Iterable
from typing import TypeVar

_K = TypeVar("_K", bound=Hashable)
_T = TypeVar("_T")


def grouped(pairs: Iterable[tuple[_K, _T]]) -> dict[_K, tuple[_T, ...]]:
    """Return the values of each key, both in order."""
    groups: defaultdict[_K, list[_T]] = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return {key: tuple(values) for key, values in groups.items()}
