"""Pauses between repeated looks at something that changes by itself."""

from collections.abc import Iterator
from itertools import chain, repeat

# Soon at first, for what is quick; not often later, for the sake of the API's limits.
_LOOKS_S = (0.5, 1.0, 1.0, 2.0, 3.0)
_LATER_S = 5.0
# For what may take a quarter of an hour.
_SELDOM_S = (5.0, 5.0, 5.0, 10.0, 10.0, 20.0)
_LONGEST_S = 30.0


def poll_pauses() -> Iterator[float]:
    """Yield the seconds until the next look, without end."""
    return chain(_LOOKS_S, repeat(_LATER_S))


def patient_pauses() -> Iterator[float]:
    """Yield the seconds until the next look at something slow: growing, up to 30 s."""
    return chain(_LOOKS_S, _SELDOM_S, repeat(_LONGEST_S))
