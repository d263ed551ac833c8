"""Spare Great Expectations work that it does again and again while it validates one table, with the same results.

It makes an expectation's `configuration` anew each time that it is read, once for each argument of each metric, and
makes the expectation itself anew for each metric: a hundred times for one expectation. For each expectation it also
asks again which other metrics a metric needs, and computes the names of all of them. None of this changes while a table
is validated, so inside `once_each` it is made once. Outside, the library works as it is.

tests/integration/quality/test_quicker.py compares the results with the library's own, and fails where the library
works in another way or needs no help any more.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_PLAIN = frozenset({str, int, float, bool, type(None)})
"""Types whose values are the same in JSON if Python shows them the same."""

_made: ContextVar[dict[Any, Any] | None] = ContextVar("made in this validation", default=None)


@contextmanager
def once_each() -> Iterator[None]:
    """Inside the block, which is the validation of one table, each thing is made once."""
    before = _made.set({})
    try:
        yield
    finally:
        _made.reset(before)


def make_quicker() -> None:
    """Let the library look for what it made already. Its own functions stay `__wrapped__`."""
    expectation = import_module("great_expectations.expectations.expectation").Expectation
    configuration = import_module("great_expectations.expectations.expectation_configuration").ExpectationConfiguration
    provider = import_module("great_expectations.expectations.metrics.metric_provider").MetricProvider
    named = import_module("great_expectations.core.id_dict").IDDict
    expectation.configuration = property(_once(expectation.configuration.fget))
    expectation._get_success_kwargs = _once(expectation._get_success_kwargs, then=dict)  # callers add to it
    configuration.to_domain_obj = _once(configuration.to_domain_obj)
    provider.get_evaluation_dependencies = classmethod(_once_a_metric(provider.get_evaluation_dependencies.__func__))
    named.to_id = _once_for_equal(named.to_id)


def _once(theirs: Callable[[Any], Any], then: Callable[[Any], Any] = lambda made: made) -> Callable[[Any], Any]:
    """What the library's own function made of this very object earlier in the validation. `then` is done each time."""

    @wraps(theirs)
    def ours(own: Any) -> Any:
        made = _made.get()
        if made is None:
            return theirs(own)
        key = theirs, id(own)
        if key not in made:
            made[key] = own, theirs(own)  # with the object, or a later one could get its id
        return then(made[key][1])

    return ours


def _once_a_metric(theirs: Callable[..., Any]) -> Callable[..., Any]:
    """The metrics that a metric needs. In one validation the engine and the settings of the run are the same.

    The library also hands over the expectation, of which no metric that our suites use asks anything.
    """

    @wraps(theirs)
    def ours(own: Any, metric: Any, **others: Any) -> Any:
        made = _made.get()
        if made is None:
            return theirs(own, metric, **others)
        key = own, metric.id
        if key not in made:
            made[key] = theirs(own, metric, **others)
        return made[key]

    return ours


def _once_for_equal(theirs: Callable[..., Any]) -> Callable[..., Any]:
    """What the library's own function made of a dictionary with the same plain values earlier in the validation."""

    @wraps(theirs)
    def ours(own: Any, *arguments: Any, **others: Any) -> Any:
        made = _made.get()
        if made is None or arguments or others or not _PLAIN.issuperset(map(type, own.values())):
            return theirs(own, *arguments, **others)
        key = type(own), repr(own)
        if key not in made:
            made[key] = theirs(own)
        return made[key]

    return ours
