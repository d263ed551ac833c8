"""Garbage collection in processes that run tests."""

import gc
from collections.abc import Callable, Generator, Iterator
from typing import cast

import pytest
from tests.support.suite.garbage import YOUNGEST, Garbage


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """Nothing is frozen that was not frozen before, and the numbers are what they were."""
    threshold, frozen = gc.get_threshold(), gc.get_freeze_count()
    yield
    gc.set_threshold(*threshold)
    gc.unfreeze()
    if frozen:
        gc.freeze()


def collecting() -> Generator[None, object, object]:
    """The collection of tests with the plugin: what comes before its end, and what comes after it."""
    hook = cast("Callable[[Garbage], Generator[None, object, object]]", Garbage.pytest_collection)
    return hook(Garbage())


def test_nothing_is_looked_for_during_collection_and_what_it_made_is_left_alone_from_then_on() -> None:
    gc.unfreeze()
    during = collecting()
    next(during)
    assert not gc.isenabled()
    with pytest.raises(StopIteration) as end:
        during.send("collected")

    assert end.value.value == "collected"
    assert gc.isenabled()
    assert gc.get_threshold()[0] == YOUNGEST
    assert gc.get_freeze_count() > 10_000


def test_after_a_collection_that_failed_unreachable_objects_are_looked_for_again() -> None:
    during = collecting()
    next(during)
    with pytest.raises(KeyboardInterrupt):
        during.throw(KeyboardInterrupt())

    assert gc.isenabled()
