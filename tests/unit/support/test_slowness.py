from tests.support.nodes.slowness import RUNS, Measured, not_slow, undisturbed

from plimsoll.analysis.judgement import Judgement
from plimsoll.domain.load_summary import LoadSummary


def measured(failed: int = 0, *reasons: str) -> Measured:
    return LoadSummary(complete=True, errors={"failed": failed}), Judgement(reasons=reasons)


def test_requests_without_an_answer_in_time_are_slow_and_all_other_errors_are_told() -> None:
    slow = {"read_timeout": 3, "write_timeout": 1, "client_timeout": 2}
    assert not_slow({**slow, "overloaded": 0}) == {}
    assert not_slow({**slow, "connection": 4}) == {"connection": 4}


def test_the_first_load_without_a_disturbance_counts() -> None:
    loads = {1: measured(2), 2: measured(0, "a gap"), 3: measured()}
    assert undisturbed(loads.__getitem__) == loads[3]
    assert undisturbed({1: loads[3]}.__getitem__) == loads[3]


def test_of_loads_that_all_have_a_fault_the_last_one_tells_it() -> None:
    loads = {number: measured(number) for number in range(1, RUNS + 1)}
    assert undisturbed(loads.__getitem__) == loads[RUNS]
