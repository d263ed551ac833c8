from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from tests.fakes.installation import Installation, instant_definition
from tests.fakes.paid import Prices

from plimsoll.domain.attempt.result import Verdict
from plimsoll.domain.attempt.status import AttemptProgress
from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.campaign.grid import cell_of, grid
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.keys.strategy import Ramp, Search
from plimsoll.domain.text.errors import Refused
from plimsoll.services.campaign.open.creation import CampaignPlan, open_campaign
from plimsoll.services.campaign.open.request import Request, campaign_id_of, choose, read_request, words_for
from plimsoll.services.campaign.state.reading import CellState
from plimsoll.services.cell.attempt_state import AttemptState
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.strategies.matrix import running_order
from plimsoll.strategies.state import campaign_state

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
DEFINITION = instant_definition(variants=2, loads=3, repeats=2)
HOUR = timedelta(hours=1)
JUDGED = {"attempted_ops_s": 1000, "achieved_ops_s": 1000, "rate_achieved": True, "code_version": "test"}
ALL = {cell.id for cell in running_order(resolve(DEFINITION))}


def plan(installation: Installation, definition: Definition = DEFINITION, **conf: object) -> CampaignPlan:
    """Return what a run of noon plans that is asked for this."""
    return open_campaign(installation.toolkit, definition, read_request(resolve(definition), conf), NOON)


def chosen(*attempts: AttemptState, definition: Definition = DEFINITION, **request: object) -> set[str]:
    """Return ids of the chosen cells of a campaign with these attempts."""
    state = campaign_state(resolve(definition), attempts, CellState)
    return {one.cell.id for one in choose(read_request(resolve(definition), request), state, NOON)}


def judged(cell_id: str, *, valid: bool, met: bool = True, at: datetime = NOON - HOUR) -> AttemptState:
    cell, key = cell_of(resolve(DEFINITION), cell_id), AttemptKey(campaign_id="mine", cell_id=cell_id, attempt=1)
    verdict = Verdict.model_validate(
        {**JUDGED, "key": key, "cell": cell, "valid": valid, "met": met if valid else None}
    )
    return AttemptState(key, progress=AttemptProgress(phase="done", at=at), verdict=verdict)


def broken(cell_id: str) -> AttemptState:
    key = AttemptKey(campaign_id="mine", cell_id=cell_id, attempt=1)
    return AttemptState(key, ended="cancelled by ada")


def test_by_default_every_cell_without_a_valid_attempt_is_asked_for() -> None:
    assert chosen() == ALL
    assert chosen(judged("v1-001k-r1", valid=True), judged("v1-002k-r1", valid=False)) == ALL - {"v1-001k-r1"}


def test_failed_cells_are_those_that_were_tried_and_invalid_ones_those_that_were_judged_so() -> None:
    states = judged("v1-001k-r1", valid=True), judged("v1-002k-r1", valid=False), broken("v2-003k-r2")

    assert chosen(*states, cells="failed") == {"v1-002k-r1", "v2-003k-r2"}
    assert chosen(*states, cells="invalid") == {"v1-002k-r1"}


@pytest.mark.parametrize("cells", ["v1-001k-r1 v2-*-r2", "v1-001k-r1, v2-*-r2", " v1-001k-r1,v2-*-r2"])
def test_cells_are_asked_for_by_ids_and_patterns(cells: str) -> None:
    assert chosen(cells=cells) == {"v1-001k-r1", "v2-001k-r2", "v2-002k-r2", "v2-003k-r2"}


def test_blanks_around_a_word_change_nothing() -> None:
    assert chosen(judged("v1-001k-r1", valid=True), cells=" missing ") == ALL - {"v1-001k-r1"}


def test_a_valid_cell_runs_again_when_its_very_id_is_asked_for() -> None:
    states = judged("v1-001k-r1", valid=True), judged("v1-002k-r1", valid=True)

    assert chosen(*states, cells="v1-001k-r1 v1-*-r2") == {"v1-001k-r1", "v1-001k-r2", "v1-002k-r2", "v1-003k-r2"}


def test_one_that_was_judged_valid_since_it_was_asked_for_does_not_run_once_more() -> None:
    assert chosen(judged("v1-001k-r1", valid=True, at=NOON + HOUR), cells="v1-001k-r1") == set()


def test_subsets_narrow_each_other() -> None:
    assert chosen(variants=["v1"], loads=["2000/s", "3000/s"], repeats=["r2"]) == {"v1-002k-r2", "v1-003k-r2"}


def test_a_pattern_that_fits_no_cell_is_refused_with_what_is_allowed() -> None:
    with pytest.raises(Refused, match=r"'zgc\*' fits no cell of 'instant' \(allowed: missing, failed, invalid, or ids"):
        chosen(cells="v1-* zgc*")


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ("faled", r"'faled' fits no cell .*did you mean 'failed'\?"),
        ("g1-*", r"did you mean 'v[12]-\*'\?"),
        ("*-01k-*", r"did you mean '\*-001k-\*'\?"),
        ("*-r7", r"did you mean '\*-r[12]'\?"),
        ("failed v1-*", r"'failed' stands beside other cells \(ask for it alone"),
    ],
)
def test_who_slips_is_told_what_may_have_been_meant(cells: str, message: str) -> None:
    with pytest.raises(Refused, match=message):
        chosen(cells=cells)


def test_in_a_search_missing_asks_for_what_is_next_and_ids_and_patterns_for_what_need_not_run_too() -> None:
    search = DEFINITION.model_copy(update={"strategy": Search()})
    missed = judged("v1-001k-r1", valid=True, met=False)
    assert chosen(missed, definition=search) == {"v2-001k-r1"}
    assert chosen(missed, definition=search, cells="v1-003k-r1") == {"v1-003k-r1"}
    assert chosen(missed, definition=search, cells="v1-*-r2") == {"v1-001k-r2", "v1-002k-r2", "v1-003k-r2"}
    assert chosen(missed, broken("v1-002k-r1"), definition=search, cells="failed") == set()


def test_of_loads_that_share_their_data_missing_asks_for_one_of_those_that_are_chosen() -> None:
    sharing = DEFINITION.model_copy(update={"strategy": Ramp(data="same"), "cluster_scope": "campaign"})
    every = {"v1-001k-r1", "v1-001k-r2", "v2-001k-r1", "v2-001k-r2"}
    first = chosen(definition=sharing)
    assert len(first) == 1
    assert first < every
    assert chosen(definition=sharing, repeats=("r2",), variants=("v2",)) == {"v2-001k-r2"}
    assert chosen(definition=sharing, cells="*-001k-*") == every


@pytest.mark.parametrize(
    ("conf", "message"),
    [
        ({"campain_id": "mine"}, r"campain_id: there is no such parameter \(did you mean 'campaign_id'\?"),
        ({"campaign_id": "mine\n"}, r"'mine\\n' is no id of a campaign \(allowed: lower-case"),
        ({"campaign_id": "../mine"}, "is no id of a campaign"),
        ({"campaign_id": "a" * 101}, "is no id of a campaign"),
        ({"cells": "v1-001k-r9"}, r"'v1-001k-r9' fits no cell of 'instant' \(did you mean 'v1-001k-r[12]'\?"),
        ({"cells": "v1-001k-r1; rm"}, "is no choice of cells"),
        ({"cells": "[" * 18_000}, r"cells: \[{160}… is longer than 160 characters \(allowed"),
        ({"cells": "(" * 18_000}, r"cells: '\({160}' is no choice of cells \(allowed"),
        ({"cells": 3}, r"cells: must be text; found 3, which is a number"),
        ({"variants": ["g1"]}, r"variants: 'g1' is none of the definition's \(allowed: v1, v2\)"),
        ({"loads": ["7000/s"]}, r"loads: '7000/s' is none .*allowed: 1000/s, 2000/s, 3000/s"),
        ({"repeats": ["r3"]}, r"repeats: 'r3' is none .*allowed: r1, r2"),
        ({"parallel": 5}, r"parallel: 5 is too many .*allowed: 1 to 4"),
        ({"parallel": 0}, r"parallel: must be at least 1; found 0"),
    ],
)
def test_what_can_not_be_asked_for_is_refused_with_what_is_allowed(conf: dict[str, object], message: str) -> None:
    with pytest.raises(Refused, match=message):
        read_request(resolve(DEFINITION), conf)


def test_a_request_is_refused_with_everything_that_is_wrong_with_it() -> None:
    with pytest.raises(Refused, match="3 problems") as refused:
        read_request(resolve(DEFINITION), {"speed": 3, "variants": ["g1"], "cells": "zgc-*"})

    assert [problem.where for problem in refused.value.problems] == ["speed", "variants", "cells"]


@pytest.mark.parametrize("empty", [None, ""])
def test_what_is_left_empty_is_as_if_it_were_not_given(empty: str | None) -> None:
    assert read_request(resolve(DEFINITION), dict.fromkeys(Request.model_fields, empty)) == Request()
    assert campaign_id_of(DEFINITION.name, {"campaign_id": empty}, NOON) == campaign_id_of(DEFINITION.name, {}, NOON)


def test_planning_opens_a_campaign_named_after_definition_and_time(installation: Installation) -> None:
    planned = plan(installation)

    assert planned.campaign_id == "instant-20260131t120000"
    assert planned.cells == running_order(resolve(DEFINITION))
    assert CampaignStore(installation.toolkit.store, planned.campaign_id).declared() == DEFINITION


def test_planning_again_runs_only_what_has_no_valid_attempt(installation: Installation) -> None:
    first = plan(installation)
    _make_valid(installation, first.campaign_id, first.cells[0].id)

    again = plan(installation)

    assert again.cells == first.cells[1:]
    assert again.summary == "11 cells to run now; 11 of 12 have no valid attempt"


def test_a_campaign_is_continued_by_its_id(installation: Installation) -> None:
    plan(installation, campaign_id="mine")
    _make_valid(installation, "mine", "v1-001k-r1")

    again = plan(installation, campaign_id="mine", cells="v1-*-r1")

    assert [cell.id for cell in again.cells] == [
        cell.id
        for cell in running_order(resolve(DEFINITION))
        if cell.id.startswith("v1") and cell.repeat == 1 and cell.id != "v1-001k-r1"
    ]


def test_failed_cells_are_planned_again_by_their_name(installation: Installation) -> None:
    from plimsoll.services.cell.attempts import begin

    plan(installation, campaign_id="mine")
    begin(installation.toolkit, "mine", "v2-002k-r1", "owner")

    assert [cell.id for cell in plan(installation, campaign_id="mine", cells="failed").cells] == ["v2-002k-r1"]


def test_a_campaign_of_another_definition_is_refused(installation: Installation) -> None:
    plan(installation, campaign_id="mine")

    with pytest.raises(Refused, match="another definition"):
        plan(installation, instant_definition("other"), campaign_id="mine")


def test_a_definition_that_can_not_run_here_is_refused_before_a_campaign_exists(installation: Installation) -> None:
    elsewhere = DEFINITION.model_copy(update={"provider": DEFINITION.provider.model_copy(update={"name": "moon"})})

    with pytest.raises(Refused, match="there is no 'moon' here"):
        plan(installation, elsewhere)
    assert not list(installation.toolkit.store.keys(""))


def _make_valid(installation: Installation, campaign_id: str, cell_id: str) -> None:
    from plimsoll.services.cell.attempts import begin

    key = begin(installation.toolkit, campaign_id, cell_id, "owner").key
    verdict = {**JUDGED, "key": key, "cell": cell_of(resolve(DEFINITION), cell_id), "valid": True, "met": True}
    layout.VERDICT.write(installation.toolkit.store, key, Verdict.model_validate(verdict))


def test_a_campaign_without_room_in_its_budget_is_refused_before_it_exists(installation: Installation) -> None:
    dear = instant_definition("dear").model_copy(update={"budget": 0.01})
    paid = replace(installation.toolkit, tariffs={"instant": Prices()})

    with pytest.raises(Refused, match=r"no room for another cell: 0\.00 USD are spent.*raise `budget`"):
        open_campaign(paid, dear, Request(), NOON)
    assert installation.toolkit.store.folders("") == ()


def test_a_campaign_without_time_for_a_cell_is_refused_before_it_exists(installation: Installation) -> None:
    late = instant_definition("late").model_copy(update={"finish_by": installation.toolkit.clock.now()})

    with pytest.raises(Refused, match=r"leaves no time for another cell.*raise `finish_by`"):
        open_campaign(installation.toolkit, late, Request(), NOON)
    assert installation.toolkit.store.folders("") == ()


@pytest.mark.parametrize("cells", ["failed", "invalid"])
def test_a_new_campaign_has_no_cells_to_repeat_and_is_not_opened(installation: Installation, cells: str) -> None:
    with pytest.raises(Refused, match=f"{cells!r} asks for cells that were run before, and campaign 'mine' is new"):
        plan(installation, campaign_id="mine", cells=cells)
    assert installation.toolkit.store.folders("") == ()


@pytest.mark.parametrize("campaign_id", ["mine\n", "Mine", "../mine", ""])
def test_no_campaign_is_opened_under_what_is_no_id(installation: Installation, campaign_id: str) -> None:
    with pytest.raises(Refused, match="is no id of a campaign"):
        CampaignStore(installation.toolkit.store, campaign_id).open(DEFINITION)
    assert installation.toolkit.store.folders("") == ()


def test_more_cells_than_a_run_can_start_are_refused_before_the_campaign_exists(installation: Installation) -> None:
    with pytest.raises(Refused, match=r"12 cells are asked for, and .* at most 11.*MAX_MAP_LENGTH"):
        open_campaign(installation.toolkit, DEFINITION, Request(), NOON, largest_run=11)
    assert installation.toolkit.store.folders("") == ()
    some = read_request(resolve(DEFINITION), {"cells": sorted(ALL)[0]})
    assert len(open_campaign(installation.toolkit, DEFINITION, some, NOON, largest_run=11).cells) == 1


def test_a_round_is_asked_for_by_ids_or_where_they_are_too_many_as_what_is_missing() -> None:
    cells = grid(resolve(instant_definition(variants=2, loads=3, repeats=1)))
    assert read_request(resolve(DEFINITION), {"cells": words_for(cells)}).patterns == [cell.id for cell in cells]
    many = grid(resolve(instant_definition(variants=4, loads=100, repeats=5)))
    assert words_for(many) == "missing"


def test_a_report_of_what_is_valid_runs_no_cell(installation: Installation) -> None:
    plan(installation, campaign_id="mine")

    planned = plan(installation, campaign_id="mine", incomplete=True)

    assert (planned.cells, planned.goes_on) == ((), False)
    with pytest.raises(Refused, match="'other' is new"):
        plan(installation, campaign_id="other", incomplete=True)
