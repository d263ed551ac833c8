"""The seed of what a load generator draws at random."""

import pytest

from plimsoll.domain.campaign.cell import Cell, load_seed

CELL = Cell(stage="maximum", variant="g1", workload="kv", load_ops_s=40_000, repeat=3)


def test_variants_are_asked_the_same_at_one_load_repeat_and_attempt() -> None:
    assert load_seed(1, CELL, 2) == load_seed(1, CELL.model_copy(update={"variant": "zgc"}), 2)


@pytest.mark.parametrize(
    "other",
    [{"repeat": 4}, {"load_ops_s": 41_000}, {"workload": "mine"}, {"stage": "again"}, {"level": "70pct"}],
)
def test_everything_else_of_a_cell_draws_anew(other: dict[str, object]) -> None:
    assert load_seed(1, CELL, 2) != load_seed(1, CELL.model_copy(update=other), 2)


def test_another_attempt_and_another_definition_draw_anew() -> None:
    assert len({load_seed(1, CELL, 1), load_seed(1, CELL, 2), load_seed(2, CELL, 1), load_seed(-1, CELL, 1)}) == 4


def test_every_program_can_take_it() -> None:
    seeds = [load_seed(seed, CELL, attempt) for seed in (0, 7, 10**30) for attempt in range(1, 300)]
    assert min(seeds) > 0
    assert max(seeds) < 2**31
    assert len(set(seeds)) == len(seeds)


def test_it_stays_the_same_in_every_version() -> None:
    assert load_seed(1, CELL, 1) == 49215273
