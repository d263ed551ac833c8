"""Whole staged campaigns, simulated: later stages take their loads from what a ramp has found, whatever that is."""

import random
from collections.abc import Mapping
from datetime import UTC, datetime

from tests.fakes.installation import instant_definition

from plimsoll.domain.attempt.result import Outcome, ValidOutcome, Verdict
from plimsoll.domain.campaign.cell import AttemptKey, Cell
from plimsoll.domain.campaign.grid import cell_ids, grid
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.keys.loads import TakenLoad
from plimsoll.domain.keys.strategy import FullGrid, Ramp, Stage, StageLoad
from plimsoll.strategies.replay import Replay, replay
from plimsoll.strategies.stage_starts import find_stage_start
from plimsoll.strategies.state import CampaignState, CellAttempts, JudgedAttempt, campaign_state
from plimsoll.strategies.synthetic import play

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
VARIANTS, LOADS, REPEATS, CAMPAIGNS = 3, 5, 2, 60
STAGES = (
    Stage(id="maximum", strategy=Ramp()),
    Stage(id="share", strategy=FullGrid(), loads=TakenLoad.model_validate({"share": "70%", "of": "maximum"})),
    Stage(id="common", strategy=FullGrid(), loads=TakenLoad.model_validate({"slowest_of": "maximum"})),
)
State = CampaignState[CellAttempts[JudgedAttempt]]


def judged(
    cell: Cell, number: int = 1, *, valid: bool = True, met: bool | None, achieved_ops_s: float
) -> JudgedAttempt:
    """Return an attempt at the cell with that result."""
    key = AttemptKey(campaign_id="mine", cell_id=cell.id, attempt=number)
    rates = {"attempted_ops_s": cell.load_ops_s, "achieved_ops_s": achieved_ops_s, "rate_achieved": True}
    facts = {"key": key, "cell": cell, "valid": valid, "met": met, "code_version": "test", **rates}
    return JudgedAttempt(key, Verdict.model_validate(facts))


class Simulated:
    """A campaign whose outcomes are drawn when they are asked for; a fifth of all attempts is invalid."""

    def __init__(self, dice: random.Random) -> None:
        self._dice, self._chance = dice, dice.random()
        self._attempts: list[JudgedAttempt] = []
        self._outcomes: dict[tuple[str, int, int], ValidOutcome] = {}
        self.definition = instant_definition(variants=VARIANTS, loads=LOADS, repeats=REPEATS).model_copy(
            update={"stages": STAGES}
        )

    def run(self) -> State:
        """Run cells and start stages until nothing is left. Returns the state at the end."""
        opened = {}
        while True:
            state = campaign_state(
                resolve(self.definition).with_stage_starts(opened), self._attempts, CellAttempts[JudgedAttempt]
            )
            if state.to_run_now:
                self._attempts += [self._attempt(one.cell, len(one.attempts) + 1) for one in state.to_run_now]
            elif state.stages_without_loads:
                opened[state.stages_without_loads[0]] = find_stage_start(state, NOON)
            else:
                return state

    def maxima(self) -> Mapping[str, int | None]:
        """Return, by variant, the load that a full grid finds with the same outcomes, ops/s."""
        loads = [number * 1000 for number in range(1, LOADS + 1)]
        found = {}
        for variant in self.definition.variants:
            rows = [[self._outcome(variant.id, load, repeat) for repeat in range(1, REPEATS + 1)] for load in loads]
            place = play(FullGrid(), rows).capacity[1]
            found[variant.id] = None if place is None else loads[place]
        return found

    def _attempt(self, cell: Cell, number: int) -> JudgedAttempt:
        valid = self._dice.random() > 0.2
        met = self._outcome(cell.variant, cell.load_ops_s, cell.repeat) == "met" if valid else None
        return judged(cell, number, valid=valid, met=met, achieved_ops_s=cell.load_ops_s)

    def _outcome(self, variant: str, load_ops_s: int, repeat: int) -> ValidOutcome:
        drawn: ValidOutcome = "met" if self._dice.random() < self._chance else "missed"
        return self._outcomes.setdefault((variant, load_ops_s, repeat), drawn)


def loads_of(state: State, stage: str) -> Mapping[str, int]:
    """Return the load of its cells in that stage by variant."""
    cells = [one.cell for one in state.cells if one.cell.stage == stage]
    return {one.variant: one.load_ops_s for one in cells}


def test_shares_and_the_slowest_are_of_what_a_full_grid_finds() -> None:
    dice, told_apart = random.Random(8), 0
    for _ in range(CAMPAIGNS):
        simulated = Simulated(dice)
        state = simulated.run()
        maxima = simulated.maxima()
        known = {variant: found for variant, found in maxima.items() if found is not None}
        shares = {variant: found * 7 // 10 for variant, found in known.items()}
        slowest = min(known.values()) if len(known) == VARIANTS else None
        assert loads_of(state, "share") == shares
        assert loads_of(state, "common") == ({} if slowest is None else dict.fromkeys(known, slowest))
        told_apart += slowest is not None and len(set(known.values())) > 1
    assert told_apart >= 5, "the campaigns are too much alike"


def closed_loop(rates: Mapping[str, float]) -> StageLoad:
    """Return the load that 80 % of a closed loop's rate give, whose cells achieved those rates."""
    stages = (
        Stage(id="closed", loop="closed"),
        Stage(id="open", loads=TakenLoad.model_validate({"share": "80%", "of": "closed"})),
    )
    definition = instant_definition(variants=1, loads=2, repeats=3).model_copy(update={"stages": stages})
    cells = [cell for cell in grid(resolve(definition)) if cell.stage == "closed"]
    attempts = [
        judged(cell, met=False, achieved_ops_s=rates.get(cell.id.removeprefix("closed-v1-"), 5)) for cell in cells
    ]
    state = campaign_state(resolve(definition), attempts, CellAttempts[JudgedAttempt])
    [found] = find_stage_start(state, NOON).loads
    return found


def test_a_closed_loop_has_the_median_rate_of_its_highest_load_for_a_maximum_also_where_it_missed() -> None:
    found = closed_loop({"002k-r1": 700.9, "002k-r2": 400.0, "002k-r3": 900.0})

    assert (found.kind, found.maximum_ops_s, found.load_ops_s) == ("achieved", 700, 560)
    assert found.decided_by == ("closed-v1-002k-r1/1", "closed-v1-002k-r2/1", "closed-v1-002k-r3/1")


def test_a_closed_loop_that_achieved_nothing_gives_no_load() -> None:
    found = closed_loop(dict.fromkeys(("002k-r1", "002k-r2", "002k-r3"), 0.0))

    assert (found.kind, found.maximum_ops_s, found.load_ops_s) == ("none", None, None)


def replayed(*, invalid: tuple[str, ...] = (), missed: tuple[str, ...] = ()) -> Replay:
    """Return the staged campaign where every cell is met at its first attempt, except cells whose ids begin so."""
    definition = Simulated(random.Random(1)).definition

    def outcomes(cell_id: str) -> list[Outcome]:
        return ["invalid"] if cell_id.startswith(invalid) else ["missed"] if cell_id.startswith(missed) else ["met"]

    return replay(resolve(definition), {cell_id: outcomes(cell_id) for cell_id in cell_ids(resolve(definition))})


def test_given_outcomes_play_all_stages_each_after_those_that_its_loads_come_from() -> None:
    played = replayed(missed=("maximum-v1-003k", "maximum-v2-005k", "share-v3"))
    assert played.capacities == {
        "maximum-v1": ("found", 2000), "maximum-v2": ("found", 4000), "maximum-v3": ("at-least", 5000),
    }  # fmt: skip
    shares = {"share-v1": 1400, "share-v2": 2800, "share-v3": 3500}
    assert played.taken_loads == shares | {"common-v1": 2000, "common-v2": 2000, "common-v3": 2000}
    stages = [cell_id.partition("-")[0] for cell_id in played.ran]
    assert stages == sorted(stages, key=["maximum", "share", "common"].index)
    assert (played.cells, stages.count("share"), stages.count("common")) == (30 + 6 + 6, 6, 6)
    assert (played.may_run, played.waiting) == (0, ())


def test_given_outcomes_leave_out_the_cells_of_a_variant_that_carried_nothing() -> None:
    played = replayed(missed=("maximum-v1-001k",))
    assert played.capacities["maximum-v1"] == ("none", None)
    assert (played.taken_loads["share-v1"], played.taken_loads["common-v2"]) == (None, None)
    assert not [one for one in played.ran if one.startswith(("share-v1", "common"))]
    assert (played.cells, played.may_run) == (30 + 4, 0)


def test_given_outcomes_without_a_valid_one_keep_later_stages_waiting() -> None:
    played = replayed(invalid=("maximum-v1-002k-r1",))
    assert played.waiting == played.invalid == ("maximum-v1-002k-r1",)
    assert played.taken_loads == {}
    assert (played.cells, played.may_run) == (30 + 6 + 6, 3 + 6 + 6)


def test_given_outcomes_find_the_loads_that_a_campaign_finds() -> None:
    dice = random.Random(9)
    for _ in range(20):
        simulated = Simulated(dice)
        state = simulated.run()
        outcomes: dict[str, list[Outcome]] = {cell_id: [] for cell_id in cell_ids(resolve(simulated.definition))}
        outcomes |= {
            one.cell.id: [tried.verdict.outcome for tried in one.attempts if tried.verdict] for one in state.cells
        }
        played = replay(resolve(simulated.definition), outcomes)
        for stage in ("share", "common"):
            found = {f"{stage}-{variant}": load for variant, load in loads_of(state, stage).items()}
            assert {name: load for name, load in played.taken_loads.items() if load and name.startswith(stage)} == found
        assert set(played.ran) == {one.cell.id for one in state.cells if one.attempts}
