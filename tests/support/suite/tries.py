"""Tries of real measurements. The end of a run names the tests that needed more than one."""

import warnings
from collections.abc import Iterator

MOST = 3


def tries(most: int = MOST) -> Iterator[int]:
    """Yield the numbers of the tries, from 1. The caller breaks off after the one that counts.

    It is for measurements that a stall of the machine may spoil. CONTRIBUTING.md says when another try may follow.
    """
    for number in range(1, most + 1):
        if number > 1:  # pytest lists warnings at the end; pyproject.toml excepts this one from being an error
            warnings.warn(f"measured again: try {number}", stacklevel=2)
        yield number
