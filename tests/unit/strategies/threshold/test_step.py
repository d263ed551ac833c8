"""A threshold as a strategy of a definition: which cells a campaign has, when it ends, and what it answers."""

from collections.abc import Mapping
from dataclasses import replace
from math import exp, log
from random import Random
from typing import Any

import pytest
from tests.support.campaigns.attempt_verdicts import verdict_of
from tests.support.campaigns.outcomes import definition_of

from plimsoll.domain.attempt.result import Verdict
from plimsoll.domain.campaign.cell import AttemptKey, Cell
from plimsoll.domain.campaign.grid import grid
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.strategies.replay import Replay, replay
from plimsoll.strategies.stage_plans import estimate
from plimsoll.strategies.state import CampaignState, CellAttempts, JudgedAttempt, campaign_state
from plimsoll.strategies.synthetic import CapacityModel, simulate
from plimsoll.strategies.threshold.question import observation_of

State = CampaignState[CellAttempts[JudgedAttempt]]
TRUE_LOAD, WORLD = 14_000, CapacityModel()


def asked(**strategy: object) -> Definition:
    """Return a definition that looks for two variants' thresholds between 5,000 and 40,000 ops/s."""
    own = {"name": "threshold", "rounded_to": "100/s", **strategy}
    return definition_of({"a": {5_000: "m", 40_000: "m"}, "b": {5_000: "m", 40_000: "m"}}, strategy=own)


def ratios(definition: Definition, seed: int = 1, noise: float = 0.2) -> Mapping[str, list[float]]:
    """Return for each cell that may run its worst interval over the bound."""
    dice = Random(seed)
    cells = grid(resolve(definition))
    return {cell.id: [exp(3 * log(cell.load_ops_s / TRUE_LOAD) + dice.gauss(0, noise) - 0.26)] for cell in cells}


def attempts(definition: Definition, known: Mapping[str, float]) -> list[JudgedAttempt]:
    """Return a valid attempt at each of the cells. `known`: cell id → its worst interval over the bound."""
    found = []
    for cell_id, ratio in known.items():
        key = AttemptKey(campaign_id="trial-1", cell_id=cell_id, attempt=1)
        found.append(JudgedAttempt(key, verdict_of(definition, key, met=ratio < 1, worst_ms=100 * ratio)))
    return found


def state(definition: Definition, known: Mapping[str, float]) -> State:
    return campaign_state(resolve(definition), attempts(definition, known), CellAttempts[JudgedAttempt])


def test_the_loads_are_the_multiples_between_the_lowest_and_the_highest() -> None:
    [part] = resolve(asked(rounded_to="4000/s")).parts
    assert part.loads == tuple(range(8_000, 40_001, 4_000))


def test_a_campaign_has_the_cells_that_were_asked_for_and_no_others() -> None:
    begun = state(asked(), {})
    assert sorted(one.cell.variant for one in begun.cells) == ["a", "b"]
    assert begun.asked_for == begun.cells
    assert len(begun.unasked) == 2 * 351 - 2
    [first] = [one.cell.id for one in begun.cells if one.cell.variant == "a"]
    after = state(asked(), {first: 0.2})
    assert first in {one.cell.id for one in after.cells}
    assert len(after.missing) == 2


def test_it_goes_on_from_what_is_known_to_an_interval_that_holds_the_load() -> None:
    definition = asked()
    known, may = dict[str, float](), ratios(definition)
    while wanted := state(definition, known).asked_for:
        known |= {one.cell.id: may[one.cell.id][0] for one in wanted}
    over = state(definition, known)
    assert over.is_complete
    assert not over.missing
    for answer in over.answers.values():
        assert answer.stopped == "narrow"
        assert answer.low_ops_s < TRUE_LOAD < answer.high_ops_s
        assert answer.cells < 30


def test_a_replay_plays_it_with_numbers_for_outcomes() -> None:
    definition = asked()
    played = replay(resolve(definition), ratios(definition))
    assert {kind for kind, _ in played.capacities.values()} == {"found"}
    assert all(abs(log(load / TRUE_LOAD)) < 0.15 for _, load in played.capacities.values())
    assert set(played.answers) == {"a", "b"}
    assert len(played.ran) + len(played.not_needed) == 2 * 351


def test_a_stage_takes_a_share_of_the_load_that_was_found() -> None:
    own = {"name": "threshold", "rounded_to": "100/s"}
    stages = [
        {"id": "limit", "strategy": own},
        {"id": "share", "loads": {"share": "70%", "of": "limit", "rounded_to": "100/s"}},
    ]
    definition = definition_of({"a": {5_000: "m", 40_000: "m"}}, stages=stages)
    known: dict[str, list[Any]] = dict(ratios(definition))
    played = replay(resolve(definition), {**known, "share-a-70pct-r1": ["met"]})
    _, limit = played.capacities["limit-a"]
    assert limit is not None
    assert played.taken_loads == {"share-a": limit * 70 // 100 // 100 * 100}
    assert "share-a-70pct-r1" in played.ran


def limit_and_share(true_load: float) -> Replay:
    """Return a campaign whose stages look for a threshold up to 40,000 ops/s, and run at a share of it, and at it."""
    own = {"name": "threshold", "rounded_to": "500/s"}
    stages = [
        {"id": "limit", "strategy": own, "repeats": 3},
        {"id": "share", "loads": {"share": "70%", "of": "limit", "rounded_to": "100/s"}},
    ]
    definition = definition_of({"a": {5_000: "m", 40_000: "m"}}, stages=stages)
    known = {name: [ratio * (TRUE_LOAD / true_load) ** 3] for name, [ratio] in ratios(definition, seed=2).items()}
    return replay(resolve(definition), {**known, "share-a-70pct-r1": ["met"]})


def test_a_threshold_just_above_the_highest_load_is_at_least_the_lower_end_of_its_interval() -> None:
    played = limit_and_share(41_000)
    answer = played.answers["limit-a"]
    assert (answer.load_ops_s, answer.stopped) == (None, "most cells")
    assert answer.low_ops_s is not None
    assert 30_000 < answer.low_ops_s < 40_000
    assert played.capacities == {"limit-a": ("at-least", int(answer.low_ops_s))}
    assert played.taken_loads["share-a"] == answer.low_ops_s * 0.7 // 100 * 100
    assert "share-a-70pct-r1" in played.ran


def test_a_replay_counts_the_cells_of_a_threshold_as_its_outcomes_do() -> None:
    definition = asked()
    played = replay(resolve(definition), ratios(definition))
    assert (played.cells, played.may_run) == (2 * 351, 0)
    waiting = replay(resolve(definition), {name: [] for name in ratios(definition)})
    assert (len(waiting.not_needed), waiting.may_run) == (0, 2 * 30)


def test_a_variant_of_which_nothing_ran_has_an_unknown_capacity() -> None:
    definition = asked()
    of_one = {name: known if name.startswith("a") else [] for name, known in ratios(definition).items()}
    played = replay(resolve(definition), of_one)
    assert played.capacities["a"][0] == "found"
    assert played.capacities["b"] == ("unknown", None)
    assert played.answers["b"].cells == 0


def test_outcomes_alone_take_more_cells_than_margins() -> None:
    definition = asked(at_most=20)
    words: Mapping[str, list[Any]] = {
        name: ["met" if ratio < 1 else "missed"] for name, [ratio] in ratios(definition).items()
    }
    by_outcomes = replay(resolve(definition), words)
    by_margins = replay(resolve(definition), ratios(definition))
    assert len(by_outcomes.ran) > len(by_margins.ran)
    assert {one.decided_by for one in by_outcomes.answers.values()} == {"outcomes"}


def test_several_cells_of_a_variant_may_run_at_once() -> None:
    begun = state(asked(at_once=3), {})
    assert [one.cell.variant for one in begun.cells].count("a") == 3
    assert len({one.cell.load_ops_s for one in begun.cells}) == 3


def test_what_was_tried_with_every_repeat_gives_way_to_the_next_load() -> None:
    definition = asked(rounded_to="5000/s")
    [first, *_] = (one.cell for one in state(definition, {}).cells)
    again = state(definition, {first.id: 1.0 + 1e-9})
    wanted = [one.cell.load_ops_s for one in again.asked_for if one.cell.variant == first.variant]
    assert wanted != [first.load_ops_s]


def test_a_plan_tells_the_least_and_the_most_cells() -> None:
    found = estimate(resolve(asked(at_once=2)).stages[0])
    assert (found.least, found.likely, found.most, found.at_once) == (16, 24, 60, 4)
    assert found.likely_turns(4) == 6


def test_synthetic_campaigns_hold_the_load() -> None:
    found = simulate(resolve(asked()).stages[0], WORLD, runs=5, seed=2)
    assert found.holds_share >= 0.9
    assert 16 <= found.cells_mean <= 60
    assert found.differs_share is None


def test_synthetic_loads_that_end_early_show_a_part_of_their_margin_so_that_more_of_them_run() -> None:
    whole, ended = (
        simulate(replace(stage, parts=tuple(replace(part, timing=timing) for part in stage.parts)), WORLD, 10, 2)
        for stage in resolve(asked()).stages
        for timing in (stage.first.timing, stage.first.timing.model_copy(update={"stop": "decided"}))
    )
    assert ended.cells_mean > whole.cells_mean
    assert ended.holds_share >= 0.9


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"strategy": "threshold"}, "2 cells of a variant are too few for a threshold"),
        ({"strategy": "threshold", "loads": ["5000/s"], "repeats": 9}, "looked for between several loads"),
        ({"strategy": {"name": "threshold", "rounded_to": "1/s"}}, "may run any of 35,001 loads; 2,000 are allowed"),
        ({"strategy": {"name": "threshold", "at_most": 5}, "repeats": 2}, "4 cells of a variant are too few"),
        ({"strategy": {"name": "threshold", "at_most": 3}}, "greater than or equal to 4"),
        ({"strategy": {"name": "threshold", "chance": "30%"}}, "greater than or equal to 50"),
    ],
)
def test_a_threshold_that_can_find_nothing_is_refused(changes: dict[str, Any], what: str) -> None:
    with pytest.raises(ValueError, match=what):
        definition_of({"a": {5_000: "m", 40_000: "m"}}, **changes)


def test_four_cells_may_be_all() -> None:
    definition = asked(at_most=4)
    known = {one.cell.id: 0.5 for one in state(definition, {}).cells}
    while len(known) < 8:
        last = len(known)
        known |= {one.cell.id: ratios(definition)[one.cell.id][0] for one in state(definition, known).asked_for}
        assert len(known) > last
    ended = state(definition, known)
    assert not [one for one in ended.asked_for if one.cell.id not in known]
    found = estimate(resolve(definition).stages[0])
    assert (found.least, found.likely, found.most) == (8, 8, 8)


@pytest.mark.parametrize(("scope", "again"), [("cell", {"a"}), ("variant", set())])
def test_a_variant_whose_hosts_are_gone_is_not_called_back_by_noise_of_a_later_one(scope: str, again: set[str]) -> None:
    definition = definition_of(
        {"a": {5_000: "m", 40_000: "m"}, "b": {5_000: "m", 40_000: "m"}},
        strategy={"name": "threshold", "rounded_to": "100/s"},
        cluster_scope=scope,
    )
    calm, noisy = ratios(definition, noise=0.01), ratios(definition, noise=1.5)
    known: dict[str, float] = {}
    while own := [
        one.cell.id
        for one in state(definition, known).asked_for
        if one.cell.variant == "a" and one.cell.id not in known
    ]:
        known |= {cell_id: calm[cell_id][0] for cell_id in own}
    others = [cell.id for cell in grid(resolve(definition)) if cell.variant == "b"]
    known |= {cell_id: noisy[cell_id][0] for cell_id in others[::15]}

    asked_for = state(definition, known).asked_for
    assert {one.cell.variant for one in asked_for if one.cell.id not in known} - {"b"} == again


def observed(**facts: Any) -> Verdict:
    definition = asked()
    key = AttemptKey(campaign_id="trial-1", cell_id="a-010k-r1", attempt=1)
    return verdict_of(definition, key, Cell(variant="a", load_ops_s=10_000, repeat=1), **facts)


def test_a_verdict_tells_margin_and_intervals() -> None:
    [part] = resolve(asked()).parts
    verdict = observed(met=False, worst_ms=200.0)
    found = observation_of(verdict, part)
    assert (found.outcome, found.margin, found.is_censored) == ("missed", pytest.approx(log(2)), False)
    [level] = verdict.levels
    known = verdict.model_copy(update={"levels": (level.model_copy(update={"ratios": (0.5, 2.5)}),)})
    assert observation_of(known, part).intervals == pytest.approx((log(0.5), log(2.5)))
    assert observation_of(known, part).margin == pytest.approx(log(2.5))


def test_the_margin_of_a_load_that_ended_early_is_at_least_what_was_seen() -> None:
    [part] = resolve(asked()).parts
    verdict = observed(met=False, worst_ms=200.0)
    [level] = verdict.levels
    ended = verdict.model_copy(update={"levels": (level.model_copy(update={"judged": 3}),)})
    assert observation_of(ended, part).is_censored
    assert not observation_of(observed(worst_ms=20.0), part).is_censored


def test_the_margin_of_a_cell_whose_worst_interval_failed_is_at_least_what_is_known() -> None:
    [part] = resolve(asked()).parts
    verdict = observed(met=False, worst_ms=100.0)
    [level] = verdict.levels
    failed = verdict.model_copy(update={"levels": (level.model_copy(update={"worst_is_floor": True}),)})
    found = observation_of(failed, part)
    assert found is not None
    assert (found.outcome, found.margin, found.is_censored) == ("missed", 0.0, True)


def test_a_miss_whose_worst_interval_is_no_higher_than_its_bound_is_missed_by_nobody_knows_how_much() -> None:
    [part] = resolve(asked()).parts
    # Verdicts of earlier versions don't say where failed operations decided an interval; its ratio is 1 there
    assert observation_of(observed(met=False, worst_ms=100.0), part).is_censored
    assert not observation_of(observed(met=False, worst_ms=101.0), part).is_censored
    assert not observation_of(observed(worst_ms=100.0), part).is_censored


def test_an_invalid_attempt_tells_nothing() -> None:
    [part] = resolve(asked()).parts
    assert observation_of(observed(valid=False, met=None), part) is None
