"""Checks as they are told."""

from typing import Any

import pytest

from plimsoll.domain.attempt.result import Check


def check(**changes: object) -> Check:
    content = {"name": "steal", "success": True, "severity": "warning", "expected": "at most 1%", "observed": "0.1%"}
    return Check.model_validate(content | changes)


@pytest.mark.parametrize(
    ("changes", "result"),
    [
        ({}, "passed"),
        ({"success": False}, "warning"),
        ({"success": False, "severity": "invalid"}, "failed"),
        ({"tested": False}, "not tested"),
        ({"tested": False, "success": False, "severity": "invalid"}, "not tested"),
    ],
)
def test_a_check_passed_or_not_or_could_not_be_made(changes: Any, result: str) -> None:
    assert check(**changes).result == result


def test_a_sentence_says_what_was_observed_or_that_nothing_was() -> None:
    assert check(success=False, observed="4%").sentence == "steal: expected at most 1%, observed 4%"
    untested = check(observed="nothing known", tested=False)
    assert untested.sentence == "steal: expected at most 1%, not tested: nothing known"


def test_a_check_reads_back_as_it_was_stored() -> None:
    for one in (check(), check(observed="nothing known", tested=False)):
        assert Check.model_validate_json(one.model_dump_json()) == one
