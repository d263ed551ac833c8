"""Synthetic campaigns, and the least and the most that a strategy takes."""

import time
from itertools import product
from typing import Any

import pytest
from tests.support.campaigns.synthetic.definitions import azul_definition, demo_definition
from tests.support.resolved import only_stage

from plimsoll.strategies.stage_plans import estimate, least_and_most
from plimsoll.strategies.synthetic import CapacityModel, play, simulate

FAST = {"name": "search", "mode": "fast", "guard": 1}
UNGUARDED = FAST | {"guard": 0}
TWO_AT_ONCE = FAST | {"repeats_at_once": 2}


def test_the_exact_search_never_differs_and_takes_a_third_on_the_published_shape() -> None:
    found = simulate(only_stage(azul_definition(strategy="search")), CapacityModel("published", 0.25), runs=60, seed=1)
    assert found.differs_share == 0
    assert found.cells_mean <= 275 / 3
    assert found.grid_differs_share > 0.5


def test_the_full_grid_takes_every_cell() -> None:
    found = simulate(only_stage(azul_definition()), CapacityModel(), runs=5, seed=1)
    assert (found.cells_mean, found.cells_p95, found.differs_share) == (275, 275, 0)


def test_the_same_seed_gives_the_same_campaigns() -> None:
    definition = azul_definition(strategy=FAST)
    assert simulate(only_stage(definition), CapacityModel(), 20, seed=7) == simulate(
        only_stage(definition), CapacityModel(), 20, seed=7
    )


def test_invalid_attempts_run_again() -> None:
    sound, unsound = (
        simulate(only_stage(demo_definition()), CapacityModel(invalid=share), 400, 1).attempts_mean
        for share in (0, 0.5)
    )
    assert sound == 4
    assert unsound == pytest.approx(8, rel=0.1)


def test_on_hosts_of_a_variant_the_rounds_of_all_variants_follow_one_another() -> None:
    definition = azul_definition(strategy="search")
    by_variant = definition.model_copy(update={"cluster_scope": "variant", "max_parallel": 1})
    found, exact = (
        simulate(only_stage(definition), CapacityModel(), 20, seed=7),
        simulate(only_stage(by_variant), CapacityModel(), 20, seed=7),
    )
    assert exact.rounds_mean == exact.cells_mean == found.cells_mean > found.rounds_mean
    assert (estimate(only_stage(definition)).at_once, estimate(only_stage(by_variant)).at_once) == (5, 1)
    assert estimate(only_stage(by_variant)).likely_turns(1) == estimate(only_stage(by_variant)).likely


def test_a_campaign_takes_as_long_as_its_rounds_which_wait_for_their_last_cell() -> None:
    found = estimate(only_stage(azul_definition(strategy="search")))
    assert found.likely_turns(1) == found.likely
    assert found.likely_turns(5) == found.likely_turns(100)
    assert found.likely_turns(3) > max(found.likely / 3, found.likely_turns(100))


@pytest.mark.parametrize(("highest", "repeats", "seconds"), [(1000, 1, 15), (220, 5, 6)])
def test_a_plan_of_very_many_loads_takes_seconds(highest: int, repeats: int, seconds: float) -> None:
    loads = [f"{load}/s" for load in range(1, highest + 1)]
    definition = azul_definition(strategy="search", loads=loads, repeats=repeats, max_cells=10_000)
    began = time.process_time()
    found = estimate(only_stage(definition))
    assert found.least < found.likely < found.most
    assert time.process_time() - began < seconds


def test_rounds_become_smaller_as_ladders_end() -> None:
    found = simulate(only_stage(azul_definition(strategy="search")), CapacityModel("published", 0.001), runs=1, seed=1)
    # 8, 4, 4, 1 and 0 loads are carried, with five repeats each: the ladders end after 41, 21, 21, 6 and 1 cells.
    assert found.rounds == {5: 1, 4: 5, 3: 15, 1: 20}


def test_without_width_capacities_are_what_they_were_drawn_as() -> None:
    found = simulate(only_stage(azul_definition(strategy="search")), CapacityModel("published", 0.001), runs=3, seed=1)
    assert (found.cells_mean, found.grid_differs_share) == (90, 0)


@pytest.mark.parametrize("strategy", ["full-grid", "search", FAST, UNGUARDED, TWO_AT_ONCE])
def test_least_and_most_are_those_of_all_outcomes_there_are(strategy: Any) -> None:
    definition = demo_definition(strategy=strategy, loads=["1/s", "2/s", "3/s"], repeats=2)
    outcomes: Any = product(("met", "missed"), repeat=6)
    every = [play(definition.strategy, [cells[0:2], cells[2:4], cells[4:6]]).cells for cells in outcomes]
    assert least_and_most(only_stage(definition)) == (2 * min(every), 2 * max(every))


@pytest.mark.parametrize("guard", [0, 1, 2, 3])
@pytest.mark.parametrize("at_once", [1, 2])
@pytest.mark.parametrize(("loads", "repeats"), [(1, 1), (1, 3), (2, 2), (3, 3), (5, 2), (10, 1)])
def test_of_a_fast_search_they_are_so_whatever_its_guard_and_repeats(
    guard: int, at_once: int, loads: int, repeats: int
) -> None:
    """But the most with one repeat and a guard of 1, which is a bound."""
    fast = FAST | {"guard": guard, "repeats_at_once": at_once}
    definition = demo_definition(strategy=fast, loads=[f"{one}/s" for one in range(1, loads + 1)], repeats=repeats)
    outcomes: Any = product(("met", "missed"), repeat=loads * repeats)
    ladders = ([cells[one : one + repeats] for one in range(0, len(cells), repeats)] for cells in outcomes)
    every = [play(definition.strategy, ladder).cells for ladder in ladders]
    least, most = least_and_most(only_stage(definition))
    assert least == 2 * min(every)
    assert most == 2 * max(every) or (repeats == guard == 1 and 2 * max(every) < most == 2 * loads)
