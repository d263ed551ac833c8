"""Spare Great Expectations a part of its work, with the same results.

An expectation's `configuration` is made anew each time that it is read, and the library reads it once for each argument
of each metric: a hundred times for one expectation. Here all arguments are read from one configuration.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def read_configuration_once(expectation: type[Any]) -> None:
    """Let this class of expectations, and those derived from it, read arguments from one configuration."""
    expectation._get_domain_kwargs = _all_at_once(expectation._get_domain_kwargs, lambda own: own.domain_keys)
    expectation._get_success_kwargs = _all_at_once(
        expectation._get_success_kwargs, lambda own: (*own.success_keys, *own.domain_keys)
    )


def _all_at_once(
    theirs: Callable[[Any], dict[str, Any]], names: Callable[[Any], Iterable[str]]
) -> Callable[[Any], dict[str, Any]]:
    """What the library's own method answers: each argument as given, or its default. Theirs stays `__wrapped__`."""

    @wraps(theirs)
    def arguments(own: Any) -> dict[str, Any]:
        given = own.configuration.kwargs
        return {name: given.get(name, own._get_default_value(name)) for name in names(own)}

    return arguments
