from datetime import timedelta
from typing import Any

import pytest
from tests.support.campaigns.interval_logs import line, log, payload
from tests.support.nodes import slowness
from tests.support.nodes.slowness import SHORT, Measured, not_slow, undisturbed

from plimsoll.analysis.attempt.judgement import Judgement, Run
from plimsoll.analysis.attempt.service_level_evaluation import judge_logs
from plimsoll.domain.attempt.load_summary import LoadSummary
from plimsoll.domain.keys.service_level import ServiceLevel

ONE, NONE = payload([1]), payload([])
GAP = "x, line 4: a gap of 3.000 s (records are missing, or the clock jumped forward)"


@pytest.fixture(autouse=True)
def tries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure nothing: these tests are not to appear among those that measured again."""
    monkeypatch.setattr(slowness, "tries", lambda most: range(1, most + 1))


def measured(failed: int = 0, *reasons: str, complete: bool = True) -> Measured:
    return LoadSummary(complete=complete, errors={"failed": failed}), Judgement(reasons=reasons)


def test_requests_without_an_answer_in_time_are_slow_and_all_other_errors_are_told() -> None:
    slow = {"read_timeout": 3, "write_timeout": 1, "client_timeout": 2}
    assert not_slow({**slow, "overloaded": 0}) == {}
    assert not_slow({**slow, "connection": 4}) == {"connection": 4}


def test_the_first_load_without_a_disturbance_counts() -> None:
    loads = {1: measured(2), 2: measured(0, GAP), 3: measured()}
    assert undisturbed(loads.__getitem__) == loads[3]
    assert undisturbed({1: loads[3]}.__getitem__) == loads[3]


@pytest.mark.parametrize(
    ("records", "words"),
    [
        ([(0, 1, ONE), (1, 1, ONE), (5, 1, ONE), (6, 1, ONE)], "a gap of 3.000 s"),
        ([(0, 1, ONE), (1, 1, ONE), (2, 4, ONE), (6, 1, ONE)], "a record of 4.000 s"),
        ([(0, 1, ONE), (1, 1, ONE), (1.5, 1, ONE), (2.5, 1, ONE)], "two records overlap by 0.500 s"),
        ([(0, 1, ONE), (1, 1, NONE), (2, 1, ONE), (3, 1, ONE)], "1 of 4 intervals of 1s holds no operation"),
    ],
)
def test_a_stall_is_known_by_what_judging_says_of_the_log(records: Any, words: str) -> None:
    run, level = Run(timedelta(), timedelta(seconds=4)), ServiceLevel.model_validate({"interval": "1s"})
    reasons = judge_logs({"x": log(line(*record) for record in records)}, run, [level]).reasons
    assert words in str(reasons)
    assert undisturbed({1: measured(0, *reasons), 2: measured()}.__getitem__) == measured()


@pytest.mark.parametrize(
    "other",
    [
        measured(2, "the logs cover 3 s: no whole interval after 1 s of warm-up"),
        measured(0, GAP, "the logs don't distinguish reads, so their service level can't be judged"),
        measured(2, complete=False),
    ],
)
def test_a_load_that_something_else_is_wrong_with_counts_at_once(other: Measured) -> None:
    assert undisturbed({1: other}.__getitem__) == other


def test_of_loads_that_all_have_a_fault_the_last_one_tells_it() -> None:
    loads = {number: measured(number) for number in range(1, SHORT + 1)}
    assert undisturbed(loads.__getitem__) == loads[SHORT]
