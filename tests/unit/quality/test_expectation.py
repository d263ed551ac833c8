"""How far beyond its limit a value is."""

from math import inf

import pandas as pd
import pytest

from plimsoll.domain.attempt.result import Check
from plimsoll.quality.expectation import Expected, Quality, beyond, each_between, multiple_of


@pytest.mark.parametrize(
    ("low", "high", "value", "multiple"),
    [
        (1, None, 0.0, inf),
        (1, None, 0.5, 2.0),
        (0.99, None, 0.0, pytest.approx(100)),
        (None, 5.0, inf, inf),
        (None, 5.0, 10.0, 2.0),
        (None, 5.0, 4.0, None),
    ],
)
def test_what_has_no_multiple_of_its_limit_is_stored_and_read_as_the_same(
    low: float | None, high: float | None, value: float, multiple: float | None
) -> None:
    found = beyond(Expected("x", *each_between("x", low, high), "enough"), pd.DataFrame({"x": [value]}))
    assert found == multiple
    check = Check(name="x", success=False, severity="warning", expected="enough", observed="y", **multiple_of(found))
    assert Check.model_validate_json(check.model_dump_json()) == check
    assert check.size == (found or 0)


def test_of_warnings_one_beyond_any_multiple_of_its_limit_is_the_worst_and_one_without_a_limit_the_least() -> None:
    checks = (
        Check(name="a", success=False, expected="x", observed="y", beyond=2.0),
        Check(name="b", success=False, expected="x", observed="y"),
        Check(name="c", success=False, severity="warning", expected="x", observed="y"),
        Check(name="d", success=False, severity="warning", expected="x", observed="y", **multiple_of(inf)),
    )
    assert [reason[0] for reason in Quality(checks).reasons] == ["b", "d", "a"]
    assert [warning[0] for warning in Quality(checks).warnings] == ["c"]
