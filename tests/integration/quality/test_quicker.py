"""What Great Expectations is spared: the results are the library's own, and it really is spared the work.

A new version of the library that works in another way, or that needs no help any more, must fail a test here.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from importlib import import_module
from math import nan
from types import CodeType, FrameType
from typing import Any

import pandas as pd
import pytest
from tests.support.campaigns import sound_attempt as sound

from plimsoll.quality import engine, quicker
from plimsoll.quality.attempt import attempt_suite
from plimsoll.quality.expectation import Expected, Part, at_most, each_between, each_one_of, in_order, rows
from plimsoll.quality.gx_import import load

NAMES = ["sound", "spoilt", "empty", "provoked"]
PROVOKED = Part(
    "Provoked",
    pd.DataFrame({"low": [1.0, 3.0, nan], "high": [2.0, 2.0, 2.0], "word": ["a", "b", None], "row": [7, 8, 9]}),
    [
        Expected("rows", *rows(2), "two rows"),
        Expected("order", *in_order("low", "high"), "in order", "warning"),
        Expected("low", *each_between("low", None, 0), "at most 0"),
        Expected("one", *at_most("high", 1), "at most 1"),
        Expected("true", *at_most("high", True), "at most true"),  # must not count as the same as 1
        Expected("words", *each_one_of("word", "a"), "a"),
        Expected("no column", *each_between("absent", 0, 1), "between 0 and 1"),
        Expected("no maximum", *at_most("absent", 1), "at most 1"),
    ],
    ("row",),
)


@pytest.fixture
def theirs(great_expectations: Any) -> dict[str, Any]:
    """The library's own functions that have an answer kept."""
    within = "great_expectations.expectations"
    expectation = import_module(f"{within}.expectation").Expectation
    provider = import_module(f"{within}.metrics.metric_provider").MetricProvider
    ours = {
        "configuration": expectation.configuration.fget,
        "arguments": expectation._get_success_kwargs,
        "expectation": import_module(f"{within}.expectation_configuration").ExpectationConfiguration.to_domain_obj,
        "metrics": provider.get_evaluation_dependencies.__func__,
        "name": id_dict().to_id,
    }
    return {name: function.__wrapped__ for name, function in ours.items()}


def id_dict() -> Any:
    return import_module("great_expectations.core.id_dict").IDDict


def suites() -> dict[str, tuple[Part, ...]]:
    busy = sound.summary(cpu_cores=1.9, errors={"write_timeout": 60}, hiccup_max_ms=None)
    odd = sound.fingerprint(sound.node("node1"), sound.node("node2", collector=None, arguments=()))
    measured = {
        "sound": sound.measured(),
        "spoilt": sound.measured(summary=busy, fingerprint=odd, samples=pd.DataFrame()),
        "empty": sound.measured(intervals=sound.intervals().iloc[:0]),
    }
    found = {name: attempt_suite(sound.definition(), sound.CELL, one) for name, one in measured.items()}
    return found | {"provoked": (PROVOKED,)}


def told(parts: tuple[Part, ...]) -> list[Any]:
    """All that Great Expectations found, but for the times and names of what it validated."""
    return [result.to_json_dict() | {"meta": None} for result in engine._run(parts)]


@pytest.mark.parametrize("name", NAMES)
def test_results_checks_and_pages_are_those_of_the_library_as_it_is(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = suites()[name]
    spared = told(parts), engine.validate(name, parts)
    monkeypatch.setattr(engine, "once_each", nullcontext)
    assert spared == (told(parts), engine.validate(name, parts))


@pytest.mark.parametrize("name", NAMES)
def test_results_are_those_of_a_batch_that_validates_a_suite(name: str) -> None:
    """The documented way, which gets each table twice and lists the rows of each column for a query."""
    for part, ours in zip(suites()[name], told(suites()[name]), strict=True):
        suite = load().ExpectationSuite(name=part.title)
        for one in engine.expectations_of(part):
            suite.add_expectation(one)
        layout = {"result_format": "SUMMARY", "unexpected_index_column_names": list(part.rows_by)}
        result = engine._tables().get_batch({"dataframe": part.table}).validate(suite, result_format=layout)
        assert ours == engine._plain(result).to_json_dict() | {"meta": None}


def test_each_thing_is_made_at_most_half_as_often(theirs: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    parts = suites()["sound"]
    spared = times(lambda: engine._run(parts))
    monkeypatch.setattr(engine, "once_each", nullcontext)
    unspared = times(lambda: engine._run(parts))
    for name, function in theirs.items():
        assert 0 < spared[function.__code__] <= unspared[function.__code__] / 2, name


def times(run: Callable[[], object]) -> Counter[CodeType]:
    """How often each function of Python was called."""
    calls: Counter[CodeType] = Counter()

    def note(frame: FrameType, event: str, _: object) -> None:
        calls[frame.f_code] += event == "call"

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.parametrize("name", NAMES)
def test_what_is_kept_is_at_the_end_what_the_library_would_make_anew(
    name: str, theirs: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: set[Any] = set()

    @contextmanager
    def once_each() -> Iterator[None]:
        with quicker.once_each():
            yield
            kept = dict(quicker._made.get() or {})
        for (function, _), made in kept.items():
            if function in theirs.values():
                assert function(made[0]) == made[1]
                compared.add(function)

    monkeypatch.setattr(engine, "once_each", once_each)
    engine._run(suites()[name])
    assert compared == {theirs[kind] for kind in ("configuration", "arguments", "expectation")}


def test_names_of_metrics_are_told_apart_by_value_and_type(theirs: dict[str, Any]) -> None:
    values: list[Any] = [1, True, 1.0, "1", "True", None, "None", 0.0, -0.0, nan, "it's", 'a "b"', [1], {"a": None}]
    with quicker.once_each():
        for again in range(2):
            for value in values:
                own = id_dict()({"column": "x", "value": value})
                assert own.to_id() == theirs["name"](own), (again, value)
                assert own.to_id(id_keys=["value"]) == theirs["name"](own, id_keys=["value"])
        assert id_dict()({"a": 1, "b": 2}).to_id() == id_dict()({"b": 2, "a": 1}).to_id()


def test_nothing_is_kept_outside_a_validation() -> None:
    (expectation,) = engine.expectations_of(Part("One", pd.DataFrame(), [Expected("rows", *rows(1), "one row")]))
    with quicker.once_each():
        first = expectation.configuration
        assert expectation.configuration is first
        with quicker.once_each():
            assert expectation.configuration is not first
        assert expectation.configuration is first
    assert expectation.configuration is not first


def test_arguments_are_handed_out_as_copies() -> None:
    (expectation,) = engine.expectations_of(Part("One", pd.DataFrame(), [Expected("rows", *rows(1), "one row")]))
    with quicker.once_each():
        expectation._get_success_kwargs()["value"] = 2
        assert expectation._get_success_kwargs()["value"] == 1
