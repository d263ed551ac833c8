import pandas as pd
import pytest

from plimsoll.analysis.attempt.judgement import Judgement
from plimsoll.domain.attempt.load_summary import LoadSummary
from plimsoll.services.judge.measured import by_files, counted

INTERVALS = pd.DataFrame(
    [
        ("warm-up", "reads", 7),
        ("judged", "all", 30),
        ("judged", "reads", 10),
        ("judged", "writes", 20),
        ("judged", "reads", 5),
    ],
    columns=["phase", "operation", "count"],
)


def test_operations_that_a_generator_does_not_count_are_those_of_its_logs() -> None:
    assert counted(LoadSummary(complete=True), INTERVALS).operations == {"reads": 15, "writes": 20}


def test_its_own_count_stands() -> None:
    summary = LoadSummary(complete=True, operations={"reads": 1})
    assert counted(summary, INTERVALS) == summary


@pytest.mark.parametrize(("judged", "counts"), [({}, {}), ({"timeout": 2}, {"timeout": 2}), (None, {"timeout": 6500})])
def test_failures_of_a_command_s_warm_up_count_only_where_their_times_are_not_known(
    judged: dict[str, int] | None, counts: dict[str, int]
) -> None:
    found = Judgement(errors={"timeout": 6500}, judged_errors=judged)
    assert by_files(LoadSummary(complete=True), found).errors == counts
