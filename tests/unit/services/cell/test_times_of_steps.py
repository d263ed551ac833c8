"""A step that takes hours beside the load: hosts live, and attempts and runs count as alive, for as much longer."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from tests.fakes.clock import SteppingClock
from tests.fakes.installation import Installation, instant_definition

from plimsoll.services.campaign.elsewhere import Run, begin_run
from plimsoll.services.campaign.state import Memory, read_state
from plimsoll.services.cell.actions import provision
from plimsoll.services.cell.attempts import begin
from plimsoll.services.steps import steps
from plimsoll.services.steps.steps import step
from plimsoll.services.store import layout
from plimsoll.services.toolkit import Toolkit

DEFINITION = instant_definition()
CELL = "v1-001k-r1"
LONG = timedelta(hours=5)
OWNER = "somebody"


@pytest.fixture
def tools(tmp_path: Path) -> Toolkit:
    installation = Installation(tmp_path)
    installation.open_campaign(DEFINITION)
    return replace(installation.toolkit, clock=SteppingClock())


@pytest.fixture
def longer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells with a further step, whose work on the hosts may take five hours."""
    load = step("load")
    assert load.polling is not None
    operate = replace(load, name="operate", polling=replace(load.polling, declared=lambda _: LONG))
    at = steps.STEPS.index(load) + 1
    monkeypatch.setattr(steps, "STEPS", (*steps.STEPS[:at], operate, *steps.STEPS[at:]))


def life_of_hosts(tools: Toolkit) -> timedelta:
    work = begin(tools, "campaign", CELL, OWNER)
    return provision(work).expires_at - work.attempt().started_at


def end_of_run(tools: Toolkit, cells: int) -> timedelta:
    begin_run(tools, "campaign", OWNER, cells)
    run = Run.model_validate_json(tools.store.read(layout.run_of_owner_key("campaign", OWNER)))
    return run.until - run.since


def state_after(tools: Toolkit, passed: timedelta) -> str:
    state = read_state(tools.store, "campaign", DEFINITION, tools.clock.now() + passed, Memory())
    return state.by_id[CELL].state


def test_hosts_of_a_cell_as_it_is_live_an_hour_longer_than_its_load(tools: Toolkit) -> None:
    assert life_of_hosts(tools) == DEFINITION.timing.duration + timedelta(hours=1)


@pytest.mark.usefixtures("longer")
def test_hosts_live_until_the_further_step_is_over(tools: Toolkit) -> None:
    assert life_of_hosts(tools) == DEFINITION.timing.duration + LONG + timedelta(hours=1)


@pytest.mark.usefixtures("longer")
def test_an_attempt_is_not_lost_while_the_further_step_may_run(tools: Toolkit) -> None:
    begin(tools, "campaign", CELL, OWNER)

    assert state_after(tools, DEFINITION.timing.duration + LONG) == "running"
    assert state_after(tools, DEFINITION.timing.duration + LONG + timedelta(hours=3)) == "failed"


def test_the_latest_end_of_a_run_has_room_for_the_further_step_in_every_cell(
    tools: Toolkit, request: pytest.FixtureRequest
) -> None:
    before = end_of_run(tools, cells=3)
    request.getfixturevalue("longer")

    assert end_of_run(tools, cells=3) - before == 3 * LONG
