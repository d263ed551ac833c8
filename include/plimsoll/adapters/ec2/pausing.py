"""How long to wait between two looks at what changes by itself."""

from collections.abc import Iterator
from itertools import chain, repeat

# Soon at first, for what is quick; not often later, for the sake of the API's limits.
_LOOKS_S = (0.5, 1.0, 1.0, 2.0, 3.0)
_LATER_S = 5.0


def looks() -> Iterator[float]:
    """Seconds until the next look, without end."""
    return chain(_LOOKS_S, repeat(_LATER_S))
