"""Which owners of kept hosts a task takes to be alive."""

from typing import Any

from tests.fakes.owners import FixedOwners

from plimsoll_airflow.runs.own_task import RunOwners
from plimsoll_airflow.runs.ownership import CellRun


class Runs:
    """Of the DAG `cell` the runs `mine` and `live` have not ended."""

    def get_dr_count(self, dag_id: str, run_ids: list[str], states: list[str]) -> int:
        assert (dag_id, states) == ("cell", ["queued", "running"])
        return sum(run_id in ("mine", "live") for run_id in run_ids)


def test_runs_are_alive_until_they_end_and_earlier_passes_of_ones_own_are_over() -> None:
    runs: Any = Runs()
    owners = RunOwners(FixedOwners(alive={"process"}, me="me", unknown={"elsewhere"}), runs, CellRun("mine", 1, "here"))
    tokens = [
        CellRun("live", 0, "here").token,
        CellRun("gone", 2, "here").token,
        CellRun("mine", 0, "here").token,
        "process",
        "elsewhere",
    ]
    assert [owners.is_alive(owner) for owner in tokens] == [True, False, False, True, None]
    assert owners.me() == "me"


def test_of_runs_of_another_airflow_nothing_is_known_though_one_here_has_the_same_id() -> None:
    runs: Any = Runs()
    owners = RunOwners(FixedOwners(alive=set()), runs, CellRun("mine", 0, "here"))
    tokens = [CellRun(run_id, 0, "elsewhere").token for run_id in ("live", "gone", "mine")]
    assert [owners.is_alive(owner) for owner in tokens] == [None, None, None]
    assert owners.is_alive(CellRun("live", 0, "here").token) is True
