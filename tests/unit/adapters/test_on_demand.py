"""Adapters that are made when they are first asked for."""

from itertools import count

import pytest

from plimsoll.adapters.on_demand import OnDemand


def test_names_are_told_without_making_anything() -> None:
    adapters = OnDemand({"a": _fail, "b": _fail})
    assert (list(adapters), len(adapters), "a" in adapters, "c" in adapters) == (["a", "b"], 2, True, False)


def test_each_is_made_once() -> None:
    numbers = count(1)
    adapters = OnDemand({"a": lambda: next(numbers), "b": lambda: next(numbers)})
    assert (adapters["b"], adapters["b"], dict(adapters)) == (1, 1, {"a": 2, "b": 1})


def test_one_that_is_not_there_is_missed_as_in_any_mapping() -> None:
    adapters = OnDemand({"a": lambda: 1})
    assert adapters.get("b") is None
    with pytest.raises(KeyError):
        adapters["b"]


def test_one_that_could_not_be_made_is_tried_again() -> None:
    made = iter([ValueError("not yet"), 2])

    def make() -> int:
        found = next(made)
        if isinstance(found, ValueError):
            raise found
        assert isinstance(found, int)
        return found

    adapters = OnDemand({"a": make})
    with pytest.raises(ValueError, match="not yet"):
        adapters["a"]
    assert adapters["a"] == 2


def _fail() -> int:
    raise AssertionError("nobody asked for it")
