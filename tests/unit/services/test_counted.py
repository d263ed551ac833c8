import pandas as pd

from plimsoll.domain.attempt.load_summary import LoadSummary
from plimsoll.services.judge.measured import counted

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
