import pytest

from plimsoll.domain.campaign.cell import LONGEST_CAMPAIGN_ID
from plimsoll.domain.keys.host_bounds import LONGEST_CELL_ID
from plimsoll_airflow.runs.ownership import CampaignRunOwner, CellRun, CellRunId


def test_an_owner_names_the_pass_of_the_run_that_it_was_made_of() -> None:
    run = CellRun("demo-20260131t120000__g1-040k-r3", 2, "lab-1")

    assert CellRun.parse(run.token) == run


def test_run_ids_that_airflow_makes_itself_survive_the_owner() -> None:
    run = CellRun("manual__2026-01-31T12:00:00.000000+00:00", 0, "lab-1")

    assert CellRun.parse(run.token) == run


def test_an_owner_names_the_airflow_of_its_run() -> None:
    cell, campaign = (
        CellRun("demo-1__g1-040k-r3", 2, "lab-1.a"),
        CampaignRunOwner("demo", "manual__2026+00:00", "lab-1.a"),
    )

    assert (CellRun.parse(cell.token), CampaignRunOwner.parse(campaign.token)) == (cell, campaign)
    assert cell.token != CellRun(cell.run_id, 2, "lab-2").token


def test_the_longest_owner_fits_into_a_tag_of_a_cloud() -> None:
    run = CellRunId("c" * LONGEST_CAMPAIGN_ID, "c" * LONGEST_CELL_ID)

    assert len(CellRun(run.run_id, 1000, "i" * 40).token) <= 256


@pytest.mark.parametrize("owner", ["cli-4711", "", "airflow:run", "airflow:run#x", "airflow:run#0"])
def test_other_owners_are_no_runs(owner: str) -> None:
    assert CellRun.parse(owner) is None


def test_a_cleared_run_is_another_owner() -> None:
    assert CellRun("run", 0, "lab-1").token != CellRun("run", 1, "lab-1").token


def test_a_cells_run_is_named_after_campaign_and_cell() -> None:
    named = CellRunId("demo-20260131t120000", "g1-040k-r3")

    assert named.run_id == "demo-20260131t120000__g1-040k-r3"
    assert CellRunId.parse(named.run_id) == named


def test_an_id_of_another_kind_names_no_cell() -> None:
    with pytest.raises(ValueError, match="not enough values"):
        CellRunId.parse("g1-040k-r3")
