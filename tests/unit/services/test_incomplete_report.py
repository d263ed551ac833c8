"""A report of what is valid, where a cell can't become valid: only if asked for, and marked everywhere."""

import json
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest
from tests.fakes.installation import Installation, instant_definition

from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.text.errors import GateClosed
from plimsoll.services.campaign.show.status import campaign_status, campaign_summary
from plimsoll.services.campaign.state.completeness import completeness
from plimsoll.services.campaign.state.reading import Memory
from plimsoll.services.cell.attempt_state import cancel
from plimsoll.services.cell.attempts import begin
from plimsoll.services.publish.publishing import pass_gate, publish_report
from plimsoll.services.publish.reproducing import report_again
from plimsoll.services.steps.running import run_cells
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.store.layout import BUNDLE, report_key

DEFINITION = instant_definition(variants=1, loads=3)
FIRST, SECOND, THIRD = "v1-001k-r1", "v1-002k-r1", "v1-003k-r1"


def run(installation: Installation, *cells: str) -> None:
    run_cells(installation.toolkit, "campaign", cells, "me", lambda _: None)


def published(installation: Installation, name: str = "report.html", *, incomplete: bool = True) -> str:
    publish_report(installation.toolkit, "campaign", incomplete=incomplete)
    return installation.toolkit.store.read(report_key("campaign", name)).decode()


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    """Provide a campaign whose second cell was cancelled and killed, and has no valid attempt."""
    made = Installation(tmp_path)
    made.open_campaign(DEFINITION)
    run(made, FIRST, THIRD)
    cancel(begin(made.toolkit, "campaign", SECOND, "me"), "ada")
    begin(made.toolkit, "campaign", SECOND, "another")
    return made


def test_nobody_gets_it_who_does_not_ask_and_the_refusal_says_how(installation: Installation) -> None:
    with pytest.raises(GateClosed) as closed:
        publish_report(installation.toolkit, "campaign")

    assert "`plimsoll report campaign --incomplete`" in closed.value.mend


def test_page_summary_document_and_list_say_that_it_is_incomplete_and_what_is_missing(
    installation: Installation,
) -> None:
    page = published(installation)

    assert "<h1>INCOMPLETE: " in page
    assert f"published without a valid attempt of {SECOND}" in page
    tools = installation.toolkit
    document = json.loads(tools.store.read(report_key("campaign", "report.json")))
    assert document["incomplete"] == [SECOND]
    assert "The campaign is incomplete: 1 of 3 cells has no valid attempt." in document["conclusion"]
    assert tools.store.read(report_key("campaign", "summary.md")).decode().lstrip().startswith("# INCOMPLETE: ")
    for read in (campaign_status, campaign_summary):
        status = read(tools.store, "campaign", resolve(DEFINITION), tools.clock.now(), Memory())
        assert (status.state, status.published, status.published_incomplete) == ("running", True, True)


def test_a_capacity_is_claimed_only_below_the_missing_cell(installation: Installation) -> None:
    published(installation)

    [capacity] = json.loads(installation.toolkit.store.read(report_key("campaign", "report.json")))["capacity"]
    assert (capacity["kind"], capacity["capacity_ops_s"]) == ("provisional", 1_000)
    page = installation.toolkit.store.read(report_key("campaign")).decode()
    assert "Provisional: repeats of the next load are incomplete" in page


def test_what_ended_without_a_verdict_is_told(installation: Installation) -> None:
    page = published(installation)

    assert "No attempt was invalid." not in page
    assert "Attempts without a verdict" in page
    assert "cancelled by ada" in page
    assert "it was killed, or had not ended when this report was made" in page
    run(installation, SECOND)
    later = published(installation, "report.json", incomplete=False)
    ended = json.loads(later)["unjudged"]
    assert [(one["attempt"], one["replaced_by"]) for one in ended] == [(1, 3), (2, 3)]


def test_once_the_campaign_is_complete_it_is_like_any_other(installation: Installation) -> None:
    published(installation)
    run(installation, SECOND)

    asked = json.loads(published(installation, "report.json"))
    assert "incomplete" not in asked
    plain = json.loads(published(installation, "report.json", incomplete=False))
    assert asked | {"generated_at": plain["generated_at"]} == plain
    assert "INCOMPLETE" not in installation.toolkit.store.read(report_key("campaign")).decode()
    assert (
        "published_incomplete"
        not in campaign_summary(
            installation.toolkit.store, "campaign", resolve(DEFINITION), installation.toolkit.clock.now(), Memory()
        ).model_dump()
    )


def test_a_bundle_makes_the_same_marked_report_again(installation: Installation) -> None:
    publish_report(installation.toolkit, "campaign", incomplete=True)
    bundle = installation.toolkit.store.read(report_key("campaign", BUNDLE))
    remade = report_again(BytesIO(bundle), "bundle", installation.toolkit.code_version)

    assert remade.differing == ()
    assert any(name.endswith("cancelled.json") for name in ZipFile(BytesIO(bundle)).namelist())


def test_without_any_valid_cell_there_is_none(tmp_path: Path) -> None:
    made = Installation(tmp_path)
    made.open_campaign(DEFINITION)

    with pytest.raises(GateClosed):
        publish_report(made.toolkit, "campaign", incomplete=True)


def test_the_gate_opens_for_it_where_asked(installation: Installation) -> None:
    with pytest.raises(GateClosed):
        pass_gate(installation.toolkit, "campaign", [SECOND])

    found = pass_gate(installation.toolkit, "campaign", [], incomplete=True)
    assert found == completeness(CampaignStore(installation.toolkit.store, "campaign"))
    assert found.missing == (SECOND,)


def test_an_incomplete_pass_opens_it_to_nobody_else(installation: Installation) -> None:
    published(installation)

    with pytest.raises(GateClosed):
        publish_report(installation.toolkit, "campaign")
