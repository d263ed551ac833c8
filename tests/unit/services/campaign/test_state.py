"""What the store says of attempts and cells, and how a campaign stands."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

import pytest
from tests.fakes.clock import SteppingClock
from tests.fakes.installation import Installation, instant_definition
from tests.fakes.owners import FixedOwners
from tests.support.campaigns.attempt_verdicts import verdict_of
from tests.support.stores.reads import Reads

from plimsoll.domain.attempt.status import CampaignStatus
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.text.errors import NotFound, Refused
from plimsoll.ports.provider import TIME_TO_PROVISION
from plimsoll.ports.store import ResultStore
from plimsoll.services.campaign.show.status import campaign_status, summary_of
from plimsoll.services.campaign.state.reading import CellState, Memory, read_state, require_cell_state
from plimsoll.services.cell.attempt_state import cancel, note_phase, record_failure
from plimsoll.services.cell.attempts import begin
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.store import layout
from plimsoll.strategies.state import CampaignState

CELL = "v1-001k-r1"
NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
DEFINITION = instant_definition(variants=1, loads=2)


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    made = Installation(tmp_path)
    made.open_campaign(DEFINITION)
    return made


def begun(installation: Installation, cell_id: str = CELL) -> AttemptContext:
    return begin(installation.toolkit, "campaign", cell_id, "me")


def judge(installation: Installation, work: AttemptContext, *, worst_ms: float = 50.0, **facts: object) -> None:
    store = installation.toolkit.store
    layout.VERDICT.write(store, work.key, verdict_of(DEFINITION, work.key, worst_ms=worst_ms, **facts))
    note_phase(installation.toolkit, work.key, "done")


def states(
    installation: Installation, *, later: timedelta = timedelta(), memory: Memory | None = None
) -> CampaignState[CellState]:
    tools = installation.toolkit
    return read_state(tools.store, "campaign", resolve(DEFINITION), tools.clock.now() + later, memory or Memory())


def state(installation: Installation, *, later: timedelta = timedelta(), memory: Memory | None = None) -> CellState:
    return require_cell_state(states(installation, later=later, memory=memory), CELL, "campaign")


def status(installation: Installation) -> CampaignStatus:
    tools = installation.toolkit
    return campaign_status(tools.store, "campaign", resolve(DEFINITION), tools.clock.now(), Memory())


def test_cells_wait_in_running_order_until_they_are_tried(installation: Installation) -> None:
    assert [one.state for one in states(installation).cells] == ["waiting", "waiting"]
    assert status(installation).state == "waiting"


def test_an_attempt_runs_until_it_is_judged(installation: Installation) -> None:
    work = begun(installation)
    assert state(installation).state == "running"
    judge(installation, work, met=False)
    assert state(installation).state == "missed"


def test_one_that_nobody_can_be_working_at_any_more_has_failed(installation: Installation) -> None:
    begun(installation)
    waited = DEFINITION.timing.duration + TIME_TO_PROVISION
    assert state(installation, later=waited + timedelta(hours=1)).state == "running", "its hosts may still live"
    found = state(installation, later=waited + timedelta(hours=3))
    assert (found.state, found.reason) == (
        "failed",
        "nobody works at it any more: its run was killed or ended by hand",
    )


def test_one_whose_owner_has_ended_has_failed_at_once(installation: Installation) -> None:
    begun(installation)
    found = state(installation, memory=Memory(owners=FixedOwners(alive=set())))
    assert (found.state, found.newest.is_running) == ("failed", False)
    assert found.reason == "me has ended, and with it the attempt: it had not finished"


def test_one_whose_owner_lives_runs(installation: Installation) -> None:
    begun(installation)
    assert state(installation, memory=Memory(owners=FixedOwners(alive={"me"}))).state == "running"


def test_one_that_its_owner_judged_before_it_ended_is_judged(installation: Installation) -> None:
    work = begun(installation)

    class Ending(FixedOwners):
        def is_alive(self, owner: str) -> bool:
            judge(installation, work)
            return False

    assert state(installation, memory=Memory(owners=Ending(alive=set()))).state == "met"


def test_nobody_begins_a_cell_that_somebody_alive_runs(installation: Installation) -> None:
    begun(installation)
    alive = replace(installation.toolkit, owners=FixedOwners(alive={"me"}))
    with pytest.raises(Refused, match=r"cell v1-001k-r1: is being run by me, since .* \(wait until it has ended"):
        begin(alive, "campaign", CELL, "other")
    assert begin(replace(alive, owners=FixedOwners(alive=set())), "campaign", CELL, "other").key.attempt == 2


def test_one_whose_judging_failed_has_failed(installation: Installation) -> None:
    work = begun(installation)
    note_phase(replace(installation.toolkit, clock=SteppingClock()), work.key, "judge")
    record_failure(work, "judge: no")
    assert (state(installation).state, state(installation).reason) == ("failed", "judge: no")


def test_one_that_was_cancelled_says_by_whom(installation: Installation) -> None:
    cancel(begun(installation), "ada")
    assert (state(installation).state, state(installation).reason) == ("failed", "cancelled by ada")


def test_a_judged_attempt_can_not_be_cancelled(installation: Installation) -> None:
    work = begun(installation)
    judge(installation, work)
    cancel(work, "ada")
    assert state(installation).state == "met"


def test_the_newest_valid_attempt_counts_while_a_newer_one_runs_or_is_invalid(installation: Installation) -> None:
    judge(installation, begun(installation))
    later = begun(installation)
    assert (state(installation).state, state(installation).shown.key.attempt) == ("met", 1)
    assert status(installation).state == "running"
    judge(installation, later, valid=False, met=None, reasons=("node1 was down",))
    assert (state(installation).state, state(installation).newest.verdict.outcome) == ("met", "invalid")


def test_what_is_final_is_read_once(installation: Installation) -> None:
    work, memory = begun(installation), Memory()
    judge(installation, work)
    first, second = Reads(installation.toolkit.store), Reads(installation.toolkit.store)
    for store in (first, second):
        found = read_state(cast(ResultStore, store), "campaign", resolve(DEFINITION), NOON, memory)
        assert require_cell_state(found, CELL, "campaign").state == "met"
    assert layout.VERDICT.key(work.key) in first.keys_read
    assert second.keys_read == []


def test_what_is_not_final_is_read_again(installation: Installation) -> None:
    work, memory = begun(installation), Memory()
    assert state(installation, memory=memory).state == "running"
    judge(installation, work)
    assert state(installation, memory=memory).state == "met"


def test_a_campaign_that_was_made_anew_is_not_taken_for_the_old_one(installation: Installation) -> None:
    memory = Memory()
    judge(installation, begun(installation))
    state(installation, memory=memory)
    installation.toolkit.store.delete("campaign/cells")
    begun(installation)
    assert state(installation, memory=memory).state == "running"


def test_not_even_once_its_attempts_have_verdicts(installation: Installation) -> None:
    memory = Memory()
    judge(installation, begun(installation))
    assert state(installation, memory=memory).state == "met"
    installation.toolkit.store.delete("campaign/cells")
    judge(installation, begun(installation), met=False)
    assert state(installation, memory=memory).state == "missed"


def test_a_verdict_in_place_of_another_is_seen_although_none_was_kept(installation: Installation) -> None:
    work, memory = begun(installation), Memory()
    judge(installation, work)
    assert state(installation, memory=memory).state == "met"
    judge(installation, work, met=False)
    assert state(installation, memory=memory).state == "missed"


def test_what_the_store_has_no_more_is_not_remembered(installation: Installation) -> None:
    memory = Memory()
    judge(installation, begun(installation))
    state(installation, memory=memory)
    assert len(memory.final) == 1
    installation.toolkit.store.delete("campaign/cells")
    state(installation, memory=memory)
    assert len(memory.final) == 0


def test_files_below_an_attempt_are_none_of_its_own(installation: Installation) -> None:
    work = begun(installation)
    installation.toolkit.store.write(layout.attempt_file(work.key, "raw/load/verdict.json"), b"no verdict")
    assert state(installation).state == "running"


def test_a_cell_that_is_none_is_not_found(installation: Installation) -> None:
    with pytest.raises(NotFound, match="has no cell 'v9-001k-r1'"):
        require_cell_state(states(installation), "v9-001k-r1", "campaign")


def test_status_gives_the_figures_of_the_attempt_that_counts(installation: Installation) -> None:
    judge(installation, begun(installation), met=False, worst_ms=250.0)
    cell = next(cell for cell in status(installation).matrix if cell.id == CELL)
    assert (cell.state, cell.worst_ms, cell.worst_to_bound, cell.intervals_missed) == ("missed", 250.0, 2.5, 3)


def test_status_gives_phase_and_progress_of_what_runs(installation: Installation) -> None:
    work, clock = begun(installation), installation.toolkit.clock
    note_phase(replace(work.toolkit, clock=clock), work.key, "load", seconds_left=10.0, achieved_ops_s=990.0)
    cell = next(cell for cell in status(installation).matrix if cell.id == CELL)
    assert (cell.phase, cell.seconds_left, cell.achieved_ops_s) == ("load", 10.0, 990.0)
    assert cell.phase_share == pytest.approx(0.51)


def test_a_campaign_is_complete_once_every_cell_has_a_valid_attempt(installation: Installation) -> None:
    judge(installation, begun(installation))
    judge(installation, begun(installation, "v1-002k-r1"), valid=False, met=None)
    assert status(installation).state == "incomplete"
    judge(installation, begun(installation, "v1-002k-r1"), met=False)
    found = summary_of(status(installation))
    assert (found.state, found.counts, found.valid) == ("complete", {"met": 1, "missed": 1}, 2)
