"""Notes on campaigns."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.fakes.installation import Installation, instant_definition

from plimsoll.domain.attempt.result import LONGEST_NOTE, Note
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.text.errors import NotFound, Refused
from plimsoll.services.campaign.curating import annotate
from plimsoll.services.campaign.show.status import campaign_summary
from plimsoll.services.campaign.state.reading import Memory
from plimsoll.services.publish.results import campaign_data, take_snapshot
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore, StoredCampaign

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
DEFINITION = instant_definition(variants=1, loads=1)


@pytest.fixture
def campaign(tmp_path: Path) -> CampaignStore:
    return Installation(tmp_path).open_campaign(DEFINITION)


def test_a_note_shows_in_lists_and_goes_into_the_report_and_its_bundle(campaign: CampaignStore) -> None:
    note = annotate(campaign, "  the switch was\r\nreplaced in between <b> \n", "ada", NOON)

    assert note == Note(text="the switch was\nreplaced in between <b>", by="ada", at=NOON)
    assert layout.NOTE.read_sound(campaign.store, "campaign") == note
    assert campaign_summary(campaign.store, "campaign", resolve(DEFINITION), NOON, Memory()).note == note.text
    snapshot = take_snapshot(campaign)
    assert layout.NOTE.key("campaign") in set(snapshot.keys(""))
    assert campaign_data(StoredCampaign(snapshot, "campaign"), (), NOON).note == note


def test_an_empty_note_removes_it(campaign: CampaignStore) -> None:
    annotate(campaign, "wrong", "ada", NOON)
    assert annotate(campaign, " \n", "ada", NOON) is None
    assert layout.NOTE.read_sound(campaign.store, "campaign") is None
    assert layout.NOTE.key("campaign") not in set(take_snapshot(campaign).keys(""))


@pytest.mark.parametrize(("text", "why"), [("x" * (LONGEST_NOTE + 1), "2001 characters"), ("a\x1b[2J", "control")])
def test_what_is_too_long_or_no_text_is_refused(campaign: CampaignStore, text: str, why: str) -> None:
    with pytest.raises(Refused, match=why):
        annotate(campaign, text, "ada", NOON)


def test_a_campaign_that_does_not_exist_has_no_notes(campaign: CampaignStore) -> None:
    with pytest.raises(NotFound):
        annotate(CampaignStore(campaign.store, "nonesuch"), "text", "ada", NOON)
