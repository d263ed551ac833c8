import pytest

from plimsoll_airflow.ownership import CellRun, CellRunId


def test_an_owner_names_the_pass_of_the_run_that_it_was_made_of() -> None:
    run = CellRun("demo-20260131t120000__g1-040k-r3", 2)

    assert CellRun.parse(run.token) == run


def test_run_ids_that_airflow_makes_itself_survive_the_owner() -> None:
    run = CellRun("manual__2026-01-31T12:00:00.000000+00:00", 0)

    assert CellRun.parse(run.token) == run


@pytest.mark.parametrize("owner", ["cli-4711", "", "airflow:run", "airflow:run#x"])
def test_other_owners_are_no_runs(owner: str) -> None:
    assert CellRun.parse(owner) is None


def test_a_cleared_run_is_another_owner() -> None:
    assert CellRun("run", 0).token != CellRun("run", 1).token


def test_a_cells_run_is_named_after_campaign_and_cell() -> None:
    named = CellRunId("demo-20260131t120000", "g1-040k-r3")

    assert named.run_id == "demo-20260131t120000__g1-040k-r3"
    assert CellRunId.parse(named.run_id) == named


def test_an_id_of_another_kind_names_no_cell() -> None:
    with pytest.raises(ValueError, match="not enough values"):
        CellRunId.parse("g1-040k-r3")
