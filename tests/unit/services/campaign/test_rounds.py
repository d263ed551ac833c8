"""A search in rounds over a real store: each round asks anew what the store knows, whatever happened to the last."""

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.fakes.installation import Installation, instant_definition
from tests.fakes.paid import Prices
from tests.support.campaigns.attempt_verdicts import verdict_of

from plimsoll.domain.attempt.result import DISTURBED, Check, Outcome
from plimsoll.domain.campaign.grid import cell_of
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.keys.strategy import FullGrid, Search
from plimsoll.domain.text.errors import LASTS, Refused
from plimsoll.services.campaign.curating import delete_campaign
from plimsoll.services.campaign.open.creation import CampaignPlan, open_campaign
from plimsoll.services.campaign.open.request import read_request
from plimsoll.services.campaign.state.completeness import all_rounds, completeness, name_of_next, next_round
from plimsoll.services.campaign.state.reading import judged_state
from plimsoll.services.cell.attempt_state import note_phase
from plimsoll.services.cell.attempts import begin, runs_again
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.strategies.replay import replay

SEARCH = instant_definition(variants=2, loads=3, repeats=2).model_copy(update={"strategy": Search()})
AT = datetime(2026, 1, 31, 12, tzinfo=UTC)
MISSES_AT = {"v1": 3000, "v2": 1000}
"""Of each variant the lowest load that its second repeat misses."""


@pytest.fixture
def campaign(installation: Installation) -> CampaignStore:
    return CampaignStore(installation.toolkit.store, "mine")


def ask(
    installation: Installation, cells: str = "", definition: Definition = SEARCH, variants: Sequence[str] = ()
) -> CampaignPlan:
    """Return what somebody who triggers the campaign, or presses *Run again*, is given to run."""
    tools = installation.toolkit
    at = tools.clock.now() + timedelta(days=1)  # later than any attempt was judged
    conf = {"campaign_id": "mine", "cells": cells, "variants": variants}
    return open_campaign(tools, definition, read_request(resolve(definition), conf), at)


def run(installation: Installation, cell_id: str, *, valid: bool = True, **facts: Any) -> None:
    """Add one attempt, judged by what the cell's load comes to."""
    tools, cell = installation.toolkit, cell_of(resolve(SEARCH), cell_id)
    met = cell.repeat == 1 or cell.load_ops_s < MISSES_AT[cell.variant]
    key = begin(tools, "mine", cell_id, "me").key
    verdict = verdict_of(SEARCH, key, valid=valid, met=met if valid else None, **facts)
    layout.VERDICT.write(tools.store, key, verdict)
    note_phase(tools, key, "done")


def test_each_round_is_what_the_store_says_and_the_last_asks_for_nothing(
    installation: Installation, campaign: CampaignStore
) -> None:
    ran = []
    for cell in all_rounds(campaign, installation.toolkit.clock, ask(installation).cells):
        run(installation, cell.id)
        ran.append(cell.id)

    assert sorted(ran) == [
        "v1-001k-r1", "v1-001k-r2", "v1-002k-r1", "v1-002k-r2", "v1-003k-r1", "v1-003k-r2", "v2-001k-r1", "v2-001k-r2",
    ]  # fmt: skip
    assert completeness(campaign).words == "campaign complete: 8 of 12 cells have a valid attempt, 4 need not run"


def test_an_invalid_cell_runs_once_more_by_itself(installation: Installation, campaign: CampaignStore) -> None:
    ask(installation)
    run(installation, "v1-001k-r1", valid=False)
    run(installation, "v2-001k-r1")
    assert {cell.id for cell in next_round(campaign, AT)} == {"v1-001k-r1", "v2-001k-r2"}
    assert judged_state(campaign, resolve(SEARCH)).left_to_a_person == ()

    run(installation, "v1-001k-r1")

    assert {cell.id for cell in next_round(campaign, AT)} == {"v1-001k-r2", "v2-001k-r2"}


def other_than_defined(name: str, **facts: Any) -> Check:
    return Check(name=name, success=False, expected="4.0.1", observed="4.0.2", **facts)


@pytest.mark.parametrize(
    ("facts", "waits"),
    [
        ({"reasons": [f"deploy: told 15.14, and the definition says 15.18\n  To mend it: …; {LASTS}"]}, True),
        ({"reasons": ["load: a node was killed"]}, False),
        ({"checks": [other_than_defined("database version")]}, True),
        ({"checks": [other_than_defined("datanode: JDK")]}, True),
        ({"checks": [other_than_defined("database version", tested=False)]}, False),
        ({"checks": [other_than_defined("nodes up")]}, False),
        ({"checks": [other_than_defined(DISTURBED), other_than_defined("JVM flags")]}, True),
    ],
)
def test_a_cell_that_would_be_invalid_again_for_the_same_reason_waits_for_a_person(
    installation: Installation, campaign: CampaignStore, facts: dict[str, Any], waits: bool
) -> None:
    ask(installation)
    run(installation, "v1-001k-r1", valid=False, **facts)
    run(installation, "v2-001k-r1")
    again = {cell.id for cell in next_round(campaign, AT)}
    assert ("v1-001k-r1" not in again) == waits
    assert not runs_again(campaign, "v1-001k-r1")


def test_an_invalid_cell_of_a_full_grid_does_not(installation: Installation, campaign: CampaignStore) -> None:
    grid = SEARCH.model_copy(update={"strategy": FullGrid()})
    ask(installation, definition=grid)
    run(installation, "v1-001k-r1", valid=False)
    assert "v1-001k-r1" not in {cell.id for cell in next_round(campaign, AT)}


def test_a_search_runs_no_cell_more_than_twice_even_if_its_attempts_leave_no_record(
    installation: Installation, campaign: CampaignStore
) -> None:
    first = ask(installation).cells
    assert [cell.id for cell in all_rounds(campaign, installation.toolkit.clock, first)] == [
        one.id for one in first
    ] * 2


def test_a_cell_that_was_invalid_twice_or_killed_waits_for_a_person_while_other_variants_go_on(
    installation: Installation, campaign: CampaignStore
) -> None:
    ask(installation)
    run(installation, "v1-001k-r1", valid=False)
    run(installation, "v1-001k-r1", valid=False)
    begin(installation.toolkit, "mine", "v2-001k-r1", "killed")
    assert next_round(campaign, AT) == ()
    waiting = {one.cell.id for one in judged_state(campaign, resolve(SEARCH)).left_to_a_person}

    again = {cell.id for cell in ask(installation).cells}

    assert waiting == again == {"v1-001k-r1", "v2-001k-r1"}
    run(installation, "v2-001k-r1")
    assert [cell.id for cell in next_round(campaign, AT)] == ["v2-001k-r2"]


def test_a_cell_of_an_earlier_round_that_is_run_again_can_take_back_what_was_decided(
    installation: Installation, campaign: CampaignStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for cell in all_rounds(campaign, installation.toolkit.clock, ask(installation).cells):
        run(installation, cell.id)
    monkeypatch.setitem(MISSES_AT, "v2", 2000)

    assert [cell.id for cell in ask(installation, "v2-001k-r2").cells] == ["v2-001k-r2"]
    run(installation, "v2-001k-r2")

    assert not completeness(campaign).is_complete
    assert [cell.id for cell in next_round(campaign, AT)] == ["v2-002k-r1"]


def test_a_cell_that_holds_up_a_search_lets_it_go_on_when_it_is_asked_for_by_its_id(installation: Installation) -> None:
    assert ask(installation).goes_on
    run(installation, "v1-001k-r1", valid=False)
    run(installation, "v2-001k-r1")

    assert ask(installation, "v1-001k-r1").goes_on
    assert ask(installation, "failed").goes_on
    assert not ask(installation, "v2-001k-r1").goes_on  # it is valid: nothing waits for it
    assert not ask(installation, "v1-003k-r1").goes_on
    assert not ask(installation, variants=("v1",)).goes_on
    assert ask(installation, "v1-001k-r1").goes_on  # whatever was asked for in between


def test_a_cell_that_was_tried_alone_lets_no_search_begin(installation: Installation) -> None:
    assert not ask(installation, "v1-001k-r1").goes_on
    run(installation, "v1-001k-r1", valid=False)

    assert not ask(installation, "v1-001k-r1").goes_on


def test_what_need_not_run_runs_when_it_is_asked_for_and_counts(
    installation: Installation, campaign: CampaignStore
) -> None:
    for cell in all_rounds(campaign, installation.toolkit.clock, ask(installation).cells):
        run(installation, cell.id)

    assert [cell.id for cell in ask(installation, "v2-003k-r1").cells] == ["v2-003k-r1"]
    run(installation, "v2-003k-r1")

    state = judged_state(campaign, resolve(SEARCH))
    assert (state.by_id["v2-003k-r1"].outcome, state.by_id["v2-003k-r1"].decided_by) == ("met", None)
    assert completeness(campaign).words == "campaign complete: 9 of 12 cells have a valid attempt, 3 need not run"


@pytest.mark.parametrize(
    ("limit", "why"),
    [({"budget": 0.01}, "no room for another cell"), ({"finish_by": AT}, "no time for another cell")],
)
def test_a_round_that_has_no_room_is_refused_and_the_campaign_stays_as_it_is(
    installation: Installation, campaign: CampaignStore, limit: dict[str, Any], why: str
) -> None:
    for cell in ask(installation).cells:
        run(installation, cell.id)
    left = next_round(campaign, AT)
    dear, tools = SEARCH.model_copy(update=limit), installation.toolkit
    request = read_request(resolve(dear), {"campaign_id": "mine", "cells": " ".join(cell.id for cell in left)})

    with pytest.raises(Refused, match=why):
        open_campaign(replace(tools, tariffs={"instant": Prices()}), dear, request, tools.clock.now())

    assert next_round(campaign, AT) == left


def test_the_name_of_a_round_stays_until_another_attempt_begins_and_never_comes_back_under_a_reused_id(
    installation: Installation, campaign: CampaignStore
) -> None:
    def first_rounds() -> list[str]:
        names = []
        for cell in ask(installation).cells:
            names += [name_of_next(campaign)] * 2
            run(installation, cell.id)
        return [*names, name_of_next(campaign)]

    before = first_rounds()
    delete_campaign(installation.toolkit, "mine", "ada")
    after = first_rounds()

    assert [name.partition("-")[0] for name in before] == ["0", "0", "1", "1", "2"]
    assert (before[0], before[2]) == (before[1], before[3])
    assert not set(before[2:]) & set(after[2:])


@pytest.mark.parametrize("seed", range(8))
def test_killed_at_any_moment_it_ends_with_what_the_full_grid_finds(
    installation: Installation, campaign: CampaignStore, seed: int
) -> None:
    """Of each round only some cells come to an end; some attempts are left without a verdict, some are invalid.

    What asks next is another process, which knows the store alone.
    """
    dice = random.Random(seed)
    while cells := ask(installation).cells:
        while cells:
            for cell in dice.sample(cells, dice.randint(0, len(cells))):
                if dice.random() < 0.2:
                    begin(installation.toolkit, "mine", cell.id, "killed")
                else:
                    run(installation, cell.id, valid=dice.random() > 0.2)
            cells = next_round(campaign, AT) if dice.random() < 0.8 else ()

    state = judged_state(campaign, resolve(SEARCH))
    outcomes: dict[str, list[Outcome]] = {one.cell.id: [one.outcome or "met"] for one in state.cells}
    grid = SEARCH.model_copy(update={"strategy": FullGrid()})
    true: dict[str, list[Outcome]] = {cell_id: ["met" if _is_met(cell_id) else "missed"] for cell_id in outcomes}
    assert replay(resolve(SEARCH), outcomes).capacities == replay(resolve(grid), true).capacities


def _is_met(cell_id: str) -> bool:
    cell = cell_of(resolve(SEARCH), cell_id)
    return cell.repeat == 1 or cell.load_ops_s < MISSES_AT[cell.variant]
