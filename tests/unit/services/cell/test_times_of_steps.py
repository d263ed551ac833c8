"""A definition that gives a cell hours beside its load: hosts live, and attempts and runs count, for as much longer."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from tests.fakes.clock import SteppingClock
from tests.fakes.installation import Installation, instant_definition

from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.services.campaign.state.reading import Memory, read_state
from plimsoll.services.campaign.state.runs import RUNS, begin_run, digest_of
from plimsoll.services.cell.actions import provision
from plimsoll.services.cell.attempts import begin
from plimsoll.services.toolkit import Toolkit

LONG = timedelta(hours=5)
SHORT = instant_definition()
LONGER = SHORT.model_copy(update={"timing": SHORT.timing.model_copy(update={"populating": LONG})})
CELL = "v1-001k-r1"
OWNER = "somebody"
LOAD = SHORT.timing.duration


def tools_of(definition: Definition, place: Path) -> Toolkit:
    installation = Installation(place)
    installation.open_campaign(definition)
    return replace(installation.toolkit, clock=SteppingClock())


def end_of_run(tools: Toolkit, cells: int) -> timedelta:
    begin_run(tools, "campaign", OWNER, cells)
    run = RUNS.read(tools.store, "campaign", digest_of(OWNER))
    return run.until - run.since


def state_after(tools: Toolkit, passed: timedelta) -> str:
    state = read_state(tools.store, "campaign", resolve(LONGER), tools.clock.now() + passed, Memory())
    return state.by_id[CELL].state


@pytest.mark.parametrize(("definition", "longest"), [(SHORT, LOAD), (LONGER, LOAD + LONG)])
def test_hosts_live_an_hour_longer_than_everything_that_the_definition_allows(
    tmp_path: Path, definition: Definition, longest: timedelta
) -> None:
    work = begin(tools_of(definition, tmp_path), "campaign", CELL, OWNER)
    assert provision(work).expires_at - work.attempt().started_at == longest + timedelta(hours=1)


def test_an_attempt_is_not_lost_while_its_definition_lets_it_run(tmp_path: Path) -> None:
    tools = tools_of(LONGER, tmp_path)
    begin(tools, "campaign", CELL, OWNER)

    assert state_after(tools, LOAD + LONG) == "running"
    assert state_after(tools, LOAD + LONG + timedelta(hours=5)) == "failed"


def test_the_latest_end_of_a_run_has_room_for_the_longest_time_of_every_cell(tmp_path: Path) -> None:
    short, longer = (
        end_of_run(tools_of(one, tmp_path / name), cells=3) for name, one in (("short", SHORT), ("longer", LONGER))
    )
    assert longer - short == 3 * LONG
