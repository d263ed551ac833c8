"""Runs that are asked for some of a campaign's cells: what lets them through, and what is left to do."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.installation import Installation, instant_definition
from tests.support.campaigns.attempt_verdicts import verdict_of

from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.keys.strategy import Search
from plimsoll.domain.text.errors import LASTS, GateClosed
from plimsoll.services.campaign.show.progress import campaign_progress
from plimsoll.services.campaign.show.status import campaign_status, summary_of
from plimsoll.services.campaign.state.completeness import (
    REQUEST,
    RequestedCells,
    completeness,
    newest_request,
    record_request,
)
from plimsoll.services.campaign.state.reading import Memory
from plimsoll.services.cell.attempt_state import note_phase
from plimsoll.services.cell.attempts import begin
from plimsoll.services.publish.publishing import pass_gate
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore

FIRST, SECOND, THIRD = "v1-001k-r1", "v1-002k-r1", "v1-003k-r1"
DEFINITION = instant_definition(variants=1, loads=3)


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    made = Installation(tmp_path)
    made.open_campaign(DEFINITION)
    return made


@pytest.fixture
def campaign(installation: Installation) -> CampaignStore:
    return CampaignStore(installation.toolkit.store, "campaign")


def judge(installation: Installation, cell_id: str, *, valid: bool, **facts: Any) -> None:
    tools = installation.toolkit
    key = begin(tools, "campaign", cell_id, "me").key
    layout.VERDICT.write(tools.store, key, verdict_of(DEFINITION, key, valid=valid, met=valid or None, **facts))
    note_phase(tools, key, "done")


def ask(installation: Installation, *cells: str) -> None:
    tools = installation.toolkit
    record_request(CampaignStore(tools.store, "campaign"), RequestedCells(at=tools.clock.now(), cells=cells))


def test_a_run_whose_cells_are_valid_passes_although_the_campaign_is_incomplete(
    installation: Installation, campaign: CampaignStore
) -> None:
    judge(installation, FIRST, valid=True)

    passed = pass_gate(installation.toolkit, "campaign", [FIRST])

    assert not passed.is_complete
    assert passed.words == "campaign incomplete: 1 of 3 cells have a valid attempt"
    assert completeness(campaign) == passed
    assert pass_gate(installation.toolkit, "campaign", []) == passed


def test_a_run_of_which_a_cell_is_not_valid_is_stopped_and_told_of_its_own_cells_alone(
    installation: Installation,
) -> None:
    judge(installation, FIRST, valid=True)
    judge(installation, SECOND, valid=False)

    with pytest.raises(GateClosed, match=r"1 of the 2 cells asked for have no valid attempt") as closed:
        pass_gate(installation.toolkit, "campaign", [FIRST, SECOND])
    assert closed.value.mend.startswith(f"run again: {SECOND}. ")
    assert THIRD not in closed.value.mend


def test_a_cell_that_no_run_mends_is_told_apart(installation: Installation) -> None:
    judge(installation, FIRST, valid=False)
    judge(installation, SECOND, valid=False, reasons=[f"there is no pgbench on this host; {LASTS}"])

    with pytest.raises(GateClosed) as closed:
        pass_gate(installation.toolkit, "campaign", [FIRST, SECOND])
    assert closed.value.mend.startswith(f"no run mends {SECOND}: change what its reasons name")
    assert f"Then run again: {FIRST}, {SECOND}. " in closed.value.mend


def test_time_left_is_that_of_the_cells_that_were_asked_for(installation: Installation) -> None:
    tools = installation.toolkit
    whole = campaign_progress(tools.store, "campaign", now=tools.clock.now())
    assert (whole.asked, whole.of_run()) == (None, whole)
    ask(installation, SECOND)

    progress = campaign_progress(tools.store, "campaign", now=tools.clock.now())

    one_cell = DEFINITION.timing.duration + timedelta(seconds=45)
    assert whole.seconds_left == pytest.approx(one_cell.total_seconds())  # three cells, three at a time
    assert progress.seconds_left == pytest.approx(one_cell.total_seconds())
    assert [cell.cell.id for cell in progress.of_run().cells] == [SECOND]
    status = campaign_status(tools.store, "campaign", resolve(DEFINITION), tools.clock.now(), Memory())
    assert (status.asked, status.seconds_left) == ((SECOND,), progress.seconds_left)

    judge(installation, SECOND, valid=True)
    assert campaign_progress(tools.store, "campaign", now=tools.clock.now()).seconds_left == 0.0


def test_time_left_of_a_search_is_that_of_the_present_round_and_says_so(installation: Installation) -> None:
    tools, search = installation.toolkit, DEFINITION.model_copy(update={"strategy": Search()})
    sought = installation.open_campaign(search, "sought")
    now = tools.clock.now()
    record_request(sought, RequestedCells(at=now, cells=(SECOND,), for_all=True))

    progress = campaign_progress(tools.store, "sought", now=now)
    status = campaign_status(tools.store, "sought", resolve(search), now, Memory())

    assert [cell.cell.id for cell in progress.of_run().cells] == [SECOND]
    assert status.seconds_left == progress.seconds_left == pytest.approx(search.timing.duration.total_seconds() + 45)
    assert progress.model_dump()["in_rounds"] is True
    assert summary_of(status).model_dump()["in_rounds"] is True
    whole = campaign_progress(tools.store, "campaign", now=now)
    assert (whole.in_rounds, "in_rounds" in whole.model_dump()) == (False, False)
    assert "in_rounds" not in campaign_status(tools.store, "campaign", resolve(DEFINITION), now, Memory()).model_dump()


def test_what_was_asked_for_in_a_way_of_another_version_counts_as_everything(campaign: CampaignStore) -> None:
    assert newest_request(campaign) is None
    campaign.store.write(REQUEST.key("campaign"), b"{}")
    assert newest_request(campaign) is None
