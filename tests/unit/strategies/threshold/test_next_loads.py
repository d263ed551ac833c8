"""The loads of the next round."""

from collections.abc import Sequence
from math import log

import numpy as np

from plimsoll.strategies.threshold.answer import halving, next_loads
from plimsoll.strategies.threshold.question import CellObservation, Question

ANY = range(1_000, 32_001, 100)


def played(question: Question, loads: Sequence[int], at_once: int = 1, seed: int = 1) -> list[CellObservation]:
    """Play a search to its end, on a system whose threshold is 7,700 ops/s."""
    dice, cells = np.random.default_rng(seed), list[CellObservation]()
    while chosen := next_loads(question, cells, loads, at_once):
        for load in chosen:
            margin = 3 * log(load / 8_000) + 0.1 * float(dice.standard_normal())
            cells.append(CellObservation(load, "met" if margin <= 0 else "missed", margin))
    return cells


def test_halving_goes_through_halves_quarters_and_eighths() -> None:
    assert [halving(number) for number in range(1, 6)] == [0.5, 0.25, 0.75, 0.125, 0.625]


def test_the_same_question_and_outcomes_give_the_same_cells() -> None:
    assert played(Question(), ANY) == played(Question(), ANY)


def test_the_order_of_the_cells_does_not_matter() -> None:
    cells = played(Question(), ANY)[:4]
    assert next_loads(Question(), cells, ANY) == next_loads(Question(), cells[::-1], ANY)


def test_a_search_takes_few_of_many_loads() -> None:
    cells = played(Question(), ANY)
    assert len(cells) <= 12
    assert all(one.load_ops_s in ANY for one in cells)


def test_a_grid_has_its_own_loads_alone() -> None:
    grid = [1_000, 2_000, 4_000, 6_000, 7_000, 8_000, 9_000, 16_000]
    assert {one.load_ops_s for one in played(Question(at_most=8), grid)} <= set(map(float, grid))


def test_no_more_cells_run_than_may() -> None:
    narrow = Question(within=0.01, at_most=7)
    assert len(played(narrow, ANY)) == 7
    assert len(played(narrow, ANY, at_once=4)) == 7


def test_a_round_has_as_many_cells_as_asked() -> None:
    assert len(next_loads(Question(), [], ANY, at_once=3)) == 3
