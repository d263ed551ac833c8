"""What is read when: once for all who look, again when it may have changed, and nobody waits for a long list."""

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

import pytest
from tests.fakes.installation import Installation, instant_definition
from tests.support.campaigns.attempt_verdicts import verdict_of

from plimsoll.domain.attempt.result import Note
from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.text.errors import DamagedRecord, DefinitionError, NotFound
from plimsoll.services.campaign.show.progress import record_totals
from plimsoll.services.cell.attempt_state import note_phase
from plimsoll.services.cell.attempts import begin
from plimsoll.services.hosts.at_rest import begin_look, mark, unmark
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.store.layout import report_key
from plimsoll_airflow.web.library import FINAL_S, LISTED_S, LIVE_S, QUIET_S, Library

CELL = "v1-001k-r1"
KEY = AttemptKey(campaign_id="campaign", cell_id=CELL, attempt=1)
DEFINITION = instant_definition(variants=1, loads=1)


class Later(Executor):
    """Does what it is given when the test says so."""

    def __init__(self) -> None:
        self.given: list[Callable[[], object]] = []

    def submit(self, work: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        self.given.append(lambda: work(*arguments, **named))
        return Future()

    def work(self) -> None:
        while self.given:
            self.given.pop()()


@pytest.fixture
def time() -> dict[str, float]:
    return {"now": 0.0}


@pytest.fixture
def library(installation: Installation, time: dict[str, float]) -> Library:
    installation.open_campaign(DEFINITION)
    tools = installation.toolkit
    return Library(tools.store, tools.clock, monotonic=lambda: time["now"], reader=Later())


def start(installation: Installation) -> None:
    begin(installation.toolkit, "campaign", CELL, "me")


def judged(installation: Installation, **facts: Any) -> None:
    """Write the cell's attempt with its verdict."""
    start(installation)
    store = installation.toolkit.store
    layout.VERDICT.write(store, KEY, verdict_of(DEFINITION, KEY, **facts))
    note_phase(installation.toolkit, KEY, "done")


def state(library: Library) -> str:
    return library.snapshot("campaign").status.state


def test_a_quiet_campaign_is_read_again_after_some_seconds(
    library: Library, installation: Installation, time: dict[str, float]
) -> None:
    assert state(library) == "waiting"
    start(installation)
    time["now"] += QUIET_S - 0.1
    assert state(library) == "waiting"
    time["now"] += 0.1
    assert state(library) == "running"


def test_one_that_runs_is_read_more_often(library: Library, installation: Installation, time: dict[str, float]) -> None:
    start(installation)
    assert state(library) == "running"
    installation.toolkit.store.delete("campaign/cells")
    time["now"] += LIVE_S
    assert state(library) == "waiting"


def test_what_was_done_to_a_campaign_shows_at_once(library: Library, installation: Installation) -> None:
    state(library)
    start(installation)
    library.forget("campaign")
    assert state(library) == "running"


def test_equal_content_has_an_equal_name_and_other_content_another(
    library: Library, installation: Installation, time: dict[str, float]
) -> None:
    first = library.snapshot("campaign").etag
    time["now"] += QUIET_S
    assert library.snapshot("campaign").etag == first
    start(installation)
    time["now"] += QUIET_S
    assert library.snapshot("campaign").etag != first


def test_what_is_made_of_a_content_is_made_once_for_all_viewers_and_again_of_other_content(
    library: Library, installation: Installation, time: dict[str, float]
) -> None:
    made: list[str] = []

    def page(name: str) -> str:
        snapshot = library.snapshot("campaign")

        def make() -> str:
            made.append(name)
            return f"{name}: {snapshot.status.state}"

        return snapshot.once(name, make)

    assert {page("for all"), page("for all")} == {"for all: waiting"}
    assert page("for editors") == "for editors: waiting"
    assert made == ["for all", "for editors"]
    start(installation)
    time["now"] += QUIET_S
    assert page("for all") == "for all: running"


def test_what_could_not_be_made_is_made_at_the_next_request(library: Library) -> None:
    snapshot = library.snapshot("campaign")
    with pytest.raises(ZeroDivisionError):
        snapshot.once("page", lambda: 1 / 0)
    assert snapshot.once("page", lambda: "made") == "made"


def test_the_list_shows_what_is_known_and_reads_it_again_meanwhile(
    library: Library, installation: Installation, time: dict[str, float]
) -> None:
    assert [one.state for one in library.campaigns()] == ["waiting"]
    start(installation)
    time["now"] += LISTED_S
    assert [one.state for one in library.campaigns()] == ["waiting"]
    assert isinstance(library.reader, Later)
    library.reader.work()
    assert [one.state for one in library.campaigns()] == ["running"]


def test_a_settled_campaign_is_listed_without_its_attempts_and_as_it_is_once_one_is_begun(
    library: Library, installation: Installation, time: dict[str, float]
) -> None:
    store = installation.toolkit.store
    judged(installation)
    record_totals(CampaignStore(store, "campaign"), installation.toolkit.clock.now())

    (listed,) = library.campaigns()
    assert (listed.state, listed.counts, len(library.memory.final)) == ("complete", {"met": 1}, 0)
    start(installation)
    time["now"] += LISTED_S
    library.campaigns()
    assert isinstance(library.reader, Later)
    library.reader.work()
    assert [one.state for one in library.campaigns()] == ["running"]


def test_a_complete_campaign_with_its_report_is_read_again_less_often(
    library: Library, installation: Installation, time: dict[str, float]
) -> None:
    judged(installation)
    installation.toolkit.store.write(report_key("campaign"), b"<!DOCTYPE html>")
    store = installation.toolkit.store
    mark(store, "campaign", begin_look(store, "campaign"), DEFINITION.provider)
    (listed,) = library.campaigns()
    assert (listed.state, listed.published) == ("complete", True)
    layout.NOTE.write(store, "campaign", Note(text="by another", by="ada", at=installation.toolkit.clock.now()))
    assert isinstance(library.reader, Later)
    for later, note in ((LISTED_S, ""), (FINAL_S, "by another")):
        time["now"] += later
        library.campaigns()
        library.reader.work()
        assert library.campaigns()[0].note == note


def test_a_finished_campaign_that_runs_again_is_read_soon(
    library: Library, installation: Installation, time: dict[str, float]
) -> None:
    store = installation.toolkit.store
    judged(installation)
    store.write(report_key("campaign"), b"<!DOCTYPE html>")
    mark(store, "campaign", begin_look(store, "campaign"), DEFINITION.provider)
    library.campaigns()
    unmark(store, "campaign")  # as whoever begins something does
    start(installation)
    time["now"] += LISTED_S
    library.campaigns()
    library.campaigns()
    assert isinstance(library.reader, Later)
    assert len(library.reader.given) == 1
    library.reader.work()
    assert library.campaigns()[0].state == "running"


def test_a_campaign_with_the_id_of_a_deleted_one_is_shown_with_its_own_results(
    library: Library, installation: Installation
) -> None:
    judged(installation)
    assert library.snapshot("campaign").status.counts == {"met": 1}
    installation.toolkit.store.delete("campaign")
    installation.open_campaign(DEFINITION)
    judged(installation, met=False)
    library.forget("campaign")
    assert library.snapshot("campaign").status.counts == {"missed": 1}


def test_nothing_is_remembered_of_a_campaign_that_is_gone(library: Library, installation: Installation) -> None:
    judged(installation)
    library.snapshot("campaign")
    assert len(library.memory.final) == 1
    installation.toolkit.store.delete("campaign")
    assert library.campaigns() == ()
    assert len(library.memory.final) == 0


def test_a_definition_whose_budget_was_raised_is_read_again(library: Library, installation: Installation) -> None:
    assert library.resolved("campaign").budget is None
    raised = CampaignStore(installation.toolkit.store, "campaign").declared().model_copy(update={"budget": 5.0})
    installation.open_campaign(raised)
    assert library.resolved("campaign").budget == 5.0


def test_a_campaign_that_is_none_is_not_found(library: Library) -> None:
    with pytest.raises(NotFound, match="there is no campaign 'other'"):
        library.snapshot("other")


def test_a_damaged_campaign_is_left_out_of_the_list_and_its_own_page_says_why(
    library: Library, installation: Installation
) -> None:
    installation.open_campaign(DEFINITION, "damaged")
    begin(installation.toolkit, "damaged", CELL, "me")
    damaged = AttemptKey(campaign_id="damaged", cell_id=CELL, attempt=1)
    installation.toolkit.store.write(layout.ATTEMPT.key(damaged), b"")

    assert [one.campaign_id for one in library.campaigns()] == ["campaign"]
    with pytest.raises(DamagedRecord, match=r"is damaged"):
        library.snapshot("damaged")


NEWER = b"\nkey_of_a_newer_version: 1\n"


def test_a_campaign_whose_definition_a_newer_version_wrote_is_left_out_of_the_list_and_its_page_tells_why(
    library: Library, installation: Installation, caplog: pytest.LogCaptureFixture
) -> None:
    newer = installation.open_campaign(DEFINITION, "newer")
    installation.toolkit.store.write(layout.DEFINITION.key("newer"), newer.definition_text() + NEWER)

    assert [one.campaign_id for one in library.campaigns()] == ["campaign"]
    assert "left out of the list of campaigns: " in caplog.text
    assert "key_of_a_newer_version" in caplog.text
    with pytest.raises(DefinitionError, match="key_of_a_newer_version"):
        library.snapshot("newer")


def test_what_can_no_longer_be_read_is_not_listed_as_it_was_once(
    library: Library, installation: Installation, time: dict[str, float]
) -> None:
    (listed,) = library.campaigns()
    text = CampaignStore(installation.toolkit.store, "campaign").definition_text()
    installation.toolkit.store.write(layout.DEFINITION.key("campaign"), text + NEWER)
    time["now"] += LISTED_S
    assert library.campaigns() == (listed,)
    assert isinstance(library.reader, Later)
    library.reader.work()

    assert library.campaigns() == ()
