"""What is on record of a complete campaign: as true as the attempts themselves, and none of them is read for it."""

from datetime import timedelta
from pathlib import Path
from typing import cast

import pytest
from tests.fakes.installation import Installation, instant_definition
from tests.support.campaigns.attempt_verdicts import verdict_of
from tests.support.stores.reads import Reads

from plimsoll.domain.campaign.resolve import resolve
from plimsoll.ports.store import ResultStore
from plimsoll.services.campaign.show.progress import Tally, record_totals, recorded_totals
from plimsoll.services.campaign.show.status import campaign_status, campaign_summary, summary_of
from plimsoll.services.campaign.state.reading import CellState, Memory, read_state
from plimsoll.services.cell.attempt_state import cancel, note_phase
from plimsoll.services.cell.attempts import begin
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.store.judged import keep_verdict
from plimsoll.strategies.state import CampaignState

DEFINITION = instant_definition(variants=1, loads=2)
CELLS = ("v1-001k-r1", "v1-002k-r1")


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    """Provide a complete campaign: one cell was tried twice, as somebody had ended its first attempt."""
    made = Installation(tmp_path)
    made.open_campaign(DEFINITION)
    cancel(begin(made.toolkit, "campaign", CELLS[0], "me"), "ada")
    for cell in CELLS:
        judge(made, begin(made.toolkit, "campaign", cell, "me"))
    return made


@pytest.fixture
def campaign(installation: Installation) -> CampaignStore:
    return CampaignStore(installation.toolkit.store, "campaign")


def judge(installation: Installation, work: AttemptContext, *, worst_ms: float = 50.0, **facts: object) -> None:
    store = installation.toolkit.store
    layout.VERDICT.write(store, work.key, verdict_of(DEFINITION, work.key, worst_ms=worst_ms, **facts))
    note_phase(installation.toolkit, work.key, "done")


def settled(installation: Installation, campaign: CampaignStore) -> Tally | None:
    record_totals(campaign, installation.toolkit.clock.now())
    return recorded_totals(campaign)


def test_the_line_of_a_settled_campaign_is_that_of_its_attempts_and_reads_none_of_them(
    installation: Installation, campaign: CampaignStore
) -> None:
    assert settled(installation, campaign)
    store, now = Reads(campaign.store), installation.toolkit.clock.now() + timedelta(days=1)
    line = campaign_summary(cast(ResultStore, store), "campaign", resolve(DEFINITION), now, Memory())
    assert line == summary_of(campaign_status(campaign.store, "campaign", resolve(DEFINITION), now, Memory()))
    assert (line.state, line.counts, line.started_at is not None) == ("complete", {"met": 2}, True)
    assert store.keys_read == ["campaign/settled.json", "campaign/note.json"]


def test_one_that_waits_for_cells_is_not_settled(installation: Installation, campaign: CampaignStore) -> None:
    campaign.store.delete(f"campaign/cells/{CELLS[1]}")
    assert settled(installation, campaign) is None


def test_one_with_a_cell_that_runs_again_is_not_settled(installation: Installation, campaign: CampaignStore) -> None:
    begin(installation.toolkit, "campaign", CELLS[0], "me")
    assert settled(installation, campaign) is None


def test_a_new_attempt_ends_it(installation: Installation, campaign: CampaignStore) -> None:
    assert settled(installation, campaign)
    begin(installation.toolkit, "campaign", CELLS[0], "me")
    assert recorded_totals(campaign) is None


def test_an_attempt_that_was_begun_while_it_was_put_on_record_ends_it(
    installation: Installation, campaign: CampaignStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def begin_then_read(*arguments: object) -> CampaignState[CellState]:
        begin(installation.toolkit, "campaign", CELLS[0], "me")
        return states

    states = read_state(campaign.store, "campaign", resolve(DEFINITION), installation.toolkit.clock.now(), Memory())
    monkeypatch.setattr("plimsoll.services.campaign.show.progress.read_state", begin_then_read)
    assert settled(installation, campaign) is None


def test_nothing_is_put_on_record_while_a_verdict_is_being_replaced(
    installation: Installation, campaign: CampaignStore
) -> None:
    key = campaign.key(CELLS[1], 1)
    keep_verdict(campaign.store, key, verdict_of(DEFINITION, key, worst_ms=50.0))
    assert settled(installation, campaign) is None
    layout.VERDICT.write(campaign.store, key, verdict_of(DEFINITION, key, met=False))
    tally = settled(installation, campaign)
    assert (tally and tally.counts) == {"met": 1, "missed": 1}


def test_one_that_was_deleted_by_hand_and_begun_anew_ends_it(
    installation: Installation, campaign: CampaignStore
) -> None:
    assert settled(installation, campaign)
    campaign.store.delete(f"campaign/cells/{CELLS[1]}")
    judge(installation, begin(installation.toolkit, "campaign", CELLS[1], "me"), met=False)
    now = installation.toolkit.clock.now()
    line = campaign_summary(campaign.store, "campaign", resolve(DEFINITION), now, Memory())
    assert line.counts == {"met": 1, "missed": 1}


def test_a_record_that_another_version_wrote_counts_for_nothing(
    installation: Installation, campaign: CampaignStore
) -> None:
    assert settled(installation, campaign)
    campaign.store.write("campaign/settled.json", b'{"files_sha256": 1}')
    assert recorded_totals(campaign) is None
