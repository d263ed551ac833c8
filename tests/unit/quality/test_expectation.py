"""How far beyond its limit a value is."""

import pandas as pd
import pytest

from plimsoll.domain.attempt.result import Check
from plimsoll.quality.expectation import Expected, Quality, beyond, each_between


@pytest.mark.parametrize(
    ("low", "high", "value", "multiple"),
    [
        (1, None, 0.0, None),
        (1, None, 0.5, 2.0),
        (0.99, None, 0.0, pytest.approx(100)),
        (None, 5.0, float("inf"), None),
        (None, 5.0, 10.0, 2.0),
        (None, 5.0, 4.0, None),
    ],
)
def test_what_has_no_multiple_of_its_limit_is_stored_and_read_as_the_same(
    low: float | None, high: float | None, value: float, multiple: float | None
) -> None:
    found = beyond(Expected("x", *each_between("x", low, high), "enough"), pd.DataFrame({"x": [value]}))
    assert found == multiple
    check = Check(name="x", success=False, expected="enough", observed="too little", beyond=found)
    assert Check.model_validate_json(check.model_dump_json()) == check


def test_what_has_no_multiple_of_its_limit_is_the_worst() -> None:
    checks = (
        Check(name="a", success=False, expected="x", observed="y", beyond=2.0),
        Check(name="b", success=False, expected="x", observed="y"),
        Check(name="c", success=False, severity="warning", expected="x", observed="y"),
    )
    assert [reason[0] for reason in Quality(checks).reasons] == ["b", "a"]
    assert [warning[0] for warning in Quality(checks).warnings] == ["c"]
