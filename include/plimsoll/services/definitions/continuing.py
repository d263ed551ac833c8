"""Decide whether a campaign can go on with a definition, and make the campaign's own copy of it."""

from collections.abc import Iterator

from plimsoll.domain.definition import Definition
from plimsoll.services.definitions.sliding_windows import judged_as

_FREE_TO_CHANGE = ("description", "published", "max_cells", "budget", "at_most", "schedule", "timezone", "notify")
"""Keys that do not affect the measurement."""


def continued_as(stored: Definition, definition: Definition) -> Definition | None:
    """Return the campaign's own copy if the campaign goes on with this definition; None where it can't.

    `stored` is the copy as the campaign declared it, without loads that stages took from earlier stages' results.
    """
    wanted = judged_as(stored, definition)
    free = {name: getattr(wanted, name) for name in _FREE_TO_CHANGE}
    return wanted if stored.model_copy(update=free) == wanted else None


def changed_keys(stored: Definition, definition: Definition) -> Iterator[str]:
    """Yield the keys that the definition and the campaign's own copy do not agree in."""
    wanted = judged_as(stored, definition)
    return (name for name in type(stored).model_fields if getattr(stored, name) != getattr(wanted, name))
