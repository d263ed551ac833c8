"""The rules by which a load is ended so that it does no harm."""

from typing import Any

import pytest
from pydantic import ValidationError

from plimsoll.domain.keys.faults import faults_of
from plimsoll.domain.keys.timing import StopRule


@pytest.mark.parametrize(
    ("rule", "text", "share", "stall_ms"),
    [
        ({"errors": "5%", "within": "10s"}, "more than 5 % of the operations of 10s failed", 5, 500),
        ({"percentile": 99, "above": "1s", "within": "30s"}, "p99 of 30s above 1s", 1, 1300),
    ],
)
def test_a_rule_bounds_a_share_of_operations(rule: dict[str, Any], text: str, share: float, stall_ms: float) -> None:
    read = StopRule.model_validate(rule)
    assert (str(read), read.share, read.stall_ms) == (text, share, stall_ms)
    assert StopRule.model_validate(read.model_dump(mode="json")) == read


@pytest.mark.parametrize(
    ("rule", "key", "what"),
    [
        ({"within": "10s"}, "", "does not say one rule"),
        ({"errors": "5%", "percentile": 99, "above": "1s", "within": "10s"}, "", "does not say one rule"),
        ({"percentile": 99, "within": "10s"}, "", "does not say one rule"),
        ({"errors": "5%", "above": "1s", "within": "10s"}, "", "does not say one rule"),
        ({"errors": "5%", "within": "1500ms"}, "within", "1500ms is no whole number of seconds"),
        ({"errors": "5%"}, "within", "is missing"),
        ({"errors": 0, "within": "10s"}, "errors", "0 is not a whole percentage like 70%"),
        ({"errors": "5%", "within": "1h"}, "within", "must be at most 10m"),
    ],
)
def test_what_is_no_rule_is_refused_at_its_key(rule: dict[str, Any], key: str, what: str) -> None:
    with pytest.raises(ValidationError) as refused:
        StopRule.model_validate(rule)
    [fault] = faults_of(refused.value, StopRule)
    assert fault.key == key
    assert what in fault.what
