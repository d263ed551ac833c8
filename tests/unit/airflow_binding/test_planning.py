from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import ValidationError
from tests.fakes.installation import Installation, instant_definition
from tests.fakes.paid import Prices

from plimsoll.domain.cell import AttemptKey, cell_of
from plimsoll.domain.definition import ProviderChoice
from plimsoll.domain.errors import NotFound, Refused, SecretError
from plimsoll.domain.progress import AttemptProgress
from plimsoll.domain.result import Verdict
from plimsoll.services.campaigns import CampaignStore, write_model
from plimsoll.services.layout import VERDICT
from plimsoll.services.planning import running_order
from plimsoll.services.states import AttemptState, CellState
from plimsoll_airflow.planning import Request, campaign_id_of, choose, plan_cells

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
DEFINITION = instant_definition(variants=2, loads=3, repeats=2)
HOUR = timedelta(hours=1)
JUDGED = {"attempted_ops_s": 1000, "achieved_ops_s": 1000, "rate_achieved": True, "code_version": "test"}
ALL = {cell.id for cell in running_order(DEFINITION)}


def chosen(*states: CellState, **request: object) -> set[str]:
    """Ids of the chosen cells; those that `states` does not hold were never tried."""
    known = {state.cell.id: state for state in states}
    every = [known.get(cell.id, CellState(cell, ())) for cell in running_order(DEFINITION)]
    return {state.cell.id for state in choose(DEFINITION, Request.model_validate(request), every, NOON)}


def judged(cell_id: str, *, valid: bool, at: datetime = NOON - HOUR) -> CellState:
    cell, key = cell_of(DEFINITION, cell_id), AttemptKey(campaign_id="mine", cell_id=cell_id, attempt=1)
    verdict = Verdict.model_validate({**JUDGED, "key": key, "cell": cell, "valid": valid, "met": valid or None})
    return CellState(cell, (AttemptState(key, progress=AttemptProgress(phase="done", at=at), verdict=verdict),))


def broken(cell_id: str) -> CellState:
    key = AttemptKey(campaign_id="mine", cell_id=cell_id, attempt=1)
    return CellState(cell_of(DEFINITION, cell_id), (AttemptState(key, ended="cancelled by ada"),))


def test_by_default_every_cell_without_a_valid_attempt_is_asked_for() -> None:
    assert chosen() == ALL
    assert chosen(judged("v1-001k-r1", valid=True), judged("v1-002k-r1", valid=False)) == ALL - {"v1-001k-r1"}


@pytest.mark.parametrize("empty", [None, ""])
def test_what_is_left_empty_is_as_if_it_were_not_given(empty: str | None) -> None:
    params = dict.fromkeys(Request.model_fields, empty)

    assert Request.model_validate(params) == Request()
    assert campaign_id_of(DEFINITION, {"campaign_id": empty}, NOON) == campaign_id_of(DEFINITION, {}, NOON)


def test_failed_cells_are_those_that_were_tried_and_invalid_ones_those_that_were_judged_so() -> None:
    states = judged("v1-001k-r1", valid=True), judged("v1-002k-r1", valid=False), broken("v2-003k-r2")

    assert chosen(*states, cells="failed") == {"v1-002k-r1", "v2-003k-r2"}
    assert chosen(*states, cells="invalid") == {"v1-002k-r1"}


@pytest.mark.parametrize("cells", ["v1-001k-r1 v2-*-r2", "v1-001k-r1, v2-*-r2", " v1-001k-r1,v2-*-r2"])
def test_cells_are_asked_for_by_ids_and_patterns(cells: str) -> None:
    assert chosen(cells=cells) == {"v1-001k-r1", "v2-001k-r2", "v2-002k-r2", "v2-003k-r2"}


def test_a_valid_cell_runs_again_when_its_very_id_is_asked_for() -> None:
    states = judged("v1-001k-r1", valid=True), judged("v1-002k-r1", valid=True)

    assert chosen(*states, cells="v1-001k-r1 v1-*-r2") == {"v1-001k-r1", "v1-001k-r2", "v1-002k-r2", "v1-003k-r2"}


def test_one_that_was_judged_valid_since_it_was_asked_for_does_not_run_once_more() -> None:
    assert chosen(judged("v1-001k-r1", valid=True, at=NOON + HOUR), cells="v1-001k-r1") == set()


def test_subsets_narrow_each_other() -> None:
    assert chosen(variants=["v1"], loads=["2000/s", "3000/s"], repeats=["r2"]) == {"v1-002k-r2", "v1-003k-r2"}


def test_a_pattern_that_fits_no_cell_is_refused_with_what_is_allowed() -> None:
    with pytest.raises(Refused, match=r"'g1-\*' fits no cell of 'instant' \(allowed: missing, failed, invalid, or ids"):
        chosen(cells="v1-* g1-*")


def test_unknown_params_are_no_request() -> None:
    with pytest.raises(ValidationError, match="speed"):
        Request.model_validate({"speed": 3})


def test_planning_opens_a_campaign_named_after_definition_and_time(installation: Installation) -> None:
    installation.define(DEFINITION)

    plan = plan_cells("instant", Request(), NOON)

    assert plan.campaign_id == "instant-20260131t120000"
    assert plan.cells == running_order(DEFINITION)
    assert CampaignStore(installation.toolkit.store, plan.campaign_id).definition() == DEFINITION


def test_planning_again_runs_only_what_has_no_valid_attempt(installation: Installation) -> None:
    installation.define(DEFINITION)
    first = plan_cells("instant", Request(), NOON)
    _make_valid(installation, first.campaign_id, first.cells[0].id)

    again = plan_cells("instant", Request(), NOON)

    assert again.cells == first.cells[1:]
    assert again.summary == "11 cells to run now; 11 of 12 have no valid attempt"


def test_a_campaign_is_continued_by_its_id(installation: Installation) -> None:
    installation.define(DEFINITION)
    plan_cells("instant", Request(campaign_id="mine"), NOON)
    _make_valid(installation, "mine", "v1-001k-r1")

    again = plan_cells("instant", Request(campaign_id="mine", cells="v1-*-r1"), NOON)

    assert [cell.id for cell in again.cells] == [
        cell.id
        for cell in running_order(DEFINITION)
        if cell.id.startswith("v1") and cell.repeat == 1 and cell.id != "v1-001k-r1"
    ]


def test_failed_cells_are_planned_again_by_their_name(installation: Installation) -> None:
    from plimsoll.services.attempts import begin

    installation.define(DEFINITION)
    plan_cells("instant", Request(campaign_id="mine"), NOON)
    begin(installation.toolkit, "mine", "v2-002k-r1", "owner")

    assert [cell.id for cell in plan_cells("instant", Request(campaign_id="mine", cells="failed"), NOON).cells] == [
        "v2-002k-r1"
    ]


def test_a_campaign_of_another_definition_is_refused(installation: Installation) -> None:
    installation.define(DEFINITION)
    installation.define(instant_definition("other"))
    plan_cells("instant", Request(campaign_id="mine"), NOON)

    with pytest.raises(Refused, match="another definition"):
        plan_cells("other", Request(campaign_id="mine"), NOON)


def test_a_definition_that_can_not_run_here_is_refused_before_a_campaign_exists(installation: Installation) -> None:
    elsewhere = DEFINITION.model_copy(update={"provider": DEFINITION.provider.model_copy(update={"name": "moon"})})
    installation.define(elsewhere)

    with pytest.raises(Refused, match="'moon' is not available here"):
        plan_cells("instant", Request(), NOON)
    assert not list(installation.toolkit.store.keys(""))


def test_a_definition_that_is_gone_is_said_to_be(installation: Installation) -> None:
    with pytest.raises(NotFound, match="there is no definition 'instant'"):
        plan_cells("instant", Request(), NOON)


def _make_valid(installation: Installation, campaign_id: str, cell_id: str) -> None:
    from plimsoll.services.attempts import begin

    key = begin(installation.toolkit, campaign_id, cell_id, "owner").key
    verdict = {**JUDGED, "key": key, "cell": cell_of(DEFINITION, cell_id), "valid": True, "met": True}
    write_model(installation.toolkit.store, key, VERDICT, Verdict.model_validate(verdict))


def test_a_connection_that_airflow_does_not_have_is_named_before_anything_starts(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {
        "connection": "plimsoll_nonesuch",
        "region": "us-east-1",
        "zones": ["us-east-1a"],
        "security_group": "plimsoll",
        "image": "ami-0123456789abcdef0",
        "instance_types": {"node": "r5d.2xlarge", "load": "c5.2xlarge"},
    }
    provider = ProviderChoice(name="ec2", options=options)
    installation.define(instant_definition("azul").model_copy(update={"provider": provider}))
    monkeypatch.setenv("PLIMSOLL_TOOLKIT", "plimsoll.bootstrap:local_toolkit")

    with pytest.raises(SecretError, match=r"connection 'plimsoll_nonesuch': there is no such connection") as refused:
        plan_cells("azul", Request(), NOON)
    assert "Admin → Connections" in refused.value.mend
    assert installation.toolkit.store.folders("") == ()


def test_a_campaign_without_room_in_its_budget_is_refused_before_any_cell(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    installation.define(instant_definition("dear").model_copy(update={"budget": 0.01}))
    paid = replace(installation.toolkit, tariffs={"instant": Prices()})
    monkeypatch.setattr("plimsoll_airflow.planning.toolkit", lambda: paid)

    with pytest.raises(Refused, match=r"no room for another cell: 0\.00 USD are spent.*raise `budget`"):
        plan_cells("dear", Request(), NOON)
