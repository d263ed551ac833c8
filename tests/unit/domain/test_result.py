"""Checks and verdicts as they are told, those of earlier versions too."""

import json
from typing import Any

import pytest
from tests.support.campaigns import sound_attempt as sound

from plimsoll.domain.result import Check, Verdict


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


@pytest.mark.parametrize("observed", ["nothing known", "all 0 rows", "could not be evaluated: no such column"])
def test_stored_checks_of_earlier_versions_tell_by_what_they_observed(observed: str) -> None:
    assert check(observed=observed).result == "not tested"
    assert check(observed="all 12 rows").result == "passed"


def test_a_check_reads_back_as_it_was_stored() -> None:
    for one in (check(), check(observed="nothing known", tested=False)):
        assert Check.model_validate_json(one.model_dump_json()) == one


def test_a_stored_verdict_of_an_earlier_version_is_read_and_told_as_today() -> None:
    stored = json.loads(sound.verdict(sound.CELL).model_dump_json())
    del stored["opening_backlog"]
    unknown = "generator's CPU: expected less than 90% of its host's processors"
    plain = "rate: expected achieved within 1% of attempted, observed 66.66% of it"
    stored |= {"warnings": [f"{unknown}, observed nothing known", plain], "checks": [check().model_dump()]}
    del stored["checks"][0]["tested"]
    verdict = Verdict.model_validate_json(json.dumps(stored))
    assert verdict.warnings == (f"{unknown}, not tested: nothing known", plain)
    assert verdict.opening_backlog is None
    assert verdict.checks[0].tested
    assert verdict.valid
