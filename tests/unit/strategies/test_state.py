"""The state of a campaign: which cells there are, which attempt of each counts, what the strategy says of each."""

from collections.abc import Iterable

from tests.fakes.installation import instant_definition
from tests.support.campaigns.attempt_verdicts import disturbed_verdict

from plimsoll.domain.attempt.result import Outcome, Verdict
from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.campaign.grid import cell_of
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.keys.host_bounds import Disturbance
from plimsoll.domain.keys.strategy import Search
from plimsoll.strategies.matrix import running_order
from plimsoll.strategies.state import CampaignState, CellAttempts, Decider, JudgedAttempt, campaign_state

GRID = instant_definition(variants=1, loads=3, repeats=2)
SEARCH = GRID.model_copy(update={"strategy": Search()})
FIRST = "v1-001k-r1"


def attempt(cell_id: str, outcome: Outcome | None, number: int = 1) -> JudgedAttempt:
    key = AttemptKey(campaign_id="mine", cell_id=cell_id, attempt=number)
    if outcome is None:
        return JudgedAttempt(key, None)
    facts = {"attempted_ops_s": 1000, "achieved_ops_s": 1000, "rate_achieved": True, "code_version": "test"}
    met = None if outcome == "invalid" else outcome == "met"
    cell = cell_of(resolve(GRID), FIRST)
    judged = {**facts, "key": key, "cell": cell, "valid": met is not None, "met": met}
    return JudgedAttempt(key, Verdict.model_validate(judged))


def state_of(definition: Definition, *attempts: JudgedAttempt) -> CampaignState[CellAttempts[JudgedAttempt]]:
    return campaign_state(resolve(definition), attempts, CellAttempts[JudgedAttempt])


def ids(cells: Iterable[CellAttempts[JudgedAttempt]]) -> list[str]:
    return [one.cell.id for one in cells]


def test_every_cell_is_there_before_anything_was_tried_in_running_order_and_all_are_to_be_run() -> None:
    state = state_of(GRID)
    assert (
        ids(state.cells)
        == ids(state.missing)
        == ids(state.to_run_now)
        == [one.id for one in running_order(resolve(GRID))]
    )
    assert ids(state.by_variant) == sorted(ids(state.cells))


def test_the_newest_valid_attempt_counts_whatever_the_order_in_which_they_are_read() -> None:
    outcomes: tuple[tuple[Outcome | None, int], ...] = (("invalid", 4), ("met", 1), (None, 5), ("missed", 3))
    tries = [attempt(FIRST, outcome, number) for outcome, number in outcomes]
    one = state_of(GRID, *tries).by_id[FIRST]
    assert [found.key.attempt for found in one.attempts] == [1, 3, 4, 5]
    assert (one.counted, one.shown, one.outcome) == (tries[3], tries[3], "missed")
    assert one.superseded == (tries[1],)
    assert (one.newest, one.was_unsound, one.is_settled) == (tries[2], True, True)


def test_one_without_a_valid_attempt_shows_its_newest_and_is_missing() -> None:
    invalid = attempt(FIRST, "invalid", 2)
    state = state_of(GRID, attempt(FIRST, "invalid", 1), invalid)
    one = state.by_id[FIRST]
    assert (one.counted, one.shown, one.verdict, one.outcome, one.superseded) == (None, invalid, None, None, ())
    assert (one.was_unsound, one.is_settled) == (True, False)
    assert FIRST in ids(state.missing)


def test_attempts_at_cells_that_the_definition_does_not_have_are_kept_apart() -> None:
    stray = attempt("v9-001k-r1", "met")
    state = state_of(GRID, stray)
    assert state.strays == (stray,)
    assert ids(state.missing) == ids(state.cells)


def test_what_a_search_need_not_run_names_the_cell_that_decided_and_its_outcome() -> None:
    state = state_of(SEARCH, attempt(FIRST, "met"), attempt("v1-001k-r2", "missed"))
    assert ids(state.missing) == []
    assert {one.decided_by for one in state.not_needed} == {Decider("v1-001k-r2", "missed")}
    assert sorted(ids(state.not_needed)) == ["v1-002k-r1", "v1-002k-r2", "v1-003k-r1", "v1-003k-r2"]


def test_of_what_a_search_may_still_ask_for_it_asks_for_the_next_alone() -> None:
    state = state_of(SEARCH, attempt(FIRST, "met"))
    assert ids(state.to_run_now) == ["v1-001k-r2"]
    assert len(state.missing) == 5


def test_a_cell_that_need_not_run_counts_once_somebody_has_run_it_all_the_same() -> None:
    decided = (attempt(FIRST, "met"), attempt("v1-001k-r2", "met"), attempt("v1-002k-r1", "missed"))
    asked_for = attempt("v1-003k-r1", "met")
    one = state_of(SEARCH, *decided, asked_for).by_id["v1-003k-r1"]
    assert (one.decided_by, one.counted, one.outcome) == (None, asked_for, "met")


def test_a_miss_below_what_was_found_has_the_search_take_it_back() -> None:
    found = (attempt(FIRST, "met"), attempt("v1-001k-r2", "met"), attempt("v1-002k-r1", "missed"))
    again = attempt("v1-001k-r2", "missed", 2)
    state = state_of(SEARCH, *found, again)
    assert {one.decided_by for one in state.not_needed} == {Decider("v1-001k-r2", "missed")}
    assert state.missing == ()


def test_a_cell_that_was_killed_before_it_was_invalid_once_runs_again_by_itself() -> None:
    state = state_of(SEARCH, attempt(FIRST, None, 1), attempt(FIRST, "invalid", 2))
    assert (ids(state.to_go_on_with), ids(state.left_to_a_person)) == ([FIRST], [])
    state = state_of(SEARCH, *(attempt(FIRST, "invalid", number) for number in (1, 2)))
    assert (ids(state.to_go_on_with), ids(state.left_to_a_person)) == ([], [FIRST])


def test_a_disturbed_cell_is_asked_for_as_often_as_the_definition_says() -> None:
    patient = SEARCH.model_copy(update={"disturbance": Disturbance(tries=3)})
    disturbed = [
        JudgedAttempt(one.key, disturbed_verdict(one.verdict))
        for number in (1, 2, 3)
        if (one := attempt(FIRST, "missed", number)).verdict
    ]
    assert ids(state_of(patient, *disturbed[:2]).to_go_on_with) == [FIRST]
    assert ids(state_of(patient, *disturbed).left_to_a_person) == [FIRST]
    assert ids(state_of(SEARCH, *disturbed[:2]).left_to_a_person) == [FIRST]


def test_a_disturbed_cell_runs_again_whatever_made_it_invalid_before() -> None:
    disturbed = [
        JudgedAttempt(one.key, disturbed_verdict(one.verdict))
        for number in (2, 3)
        if (one := attempt(FIRST, "missed", number)).verdict
    ]
    killed_node = attempt(FIRST, "invalid", 1)
    assert ids(state_of(SEARCH, killed_node, disturbed[0]).to_go_on_with) == [FIRST]
    assert ids(state_of(SEARCH, killed_node, *disturbed).left_to_a_person) == [FIRST]
    assert ids(state_of(SEARCH, *disturbed, attempt(FIRST, "invalid", 4)).left_to_a_person) == [FIRST]


def test_a_disturbed_miss_drops_no_cell_of_a_search() -> None:
    missed = attempt(FIRST, "missed")
    assert len(state_of(SEARCH, missed).not_needed) == 5
    assert missed.verdict is not None
    noisy = JudgedAttempt(missed.key, disturbed_verdict(missed.verdict))
    assert state_of(SEARCH, noisy).not_needed == ()
