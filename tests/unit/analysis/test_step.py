"""What a difference of one step of load means."""

import pytest
from tests.support.campaigns.outcomes import definition_of
from tests.support.resolved import only_stage

from plimsoll.analysis.campaign.series import grids_disagree
from plimsoll.domain.keys.strategy import FullGrid
from plimsoll.strategies.synthetic import CapacityModel, simulate


def test_systems_without_chance_always_agree_and_with_more_chance_grids_disagree_more_often() -> None:
    assert grids_disagree(5, 1e-6) == pytest.approx(0.0)
    shares = [grids_disagree(5, width) for width in (0.1, 0.25, 0.5)]
    assert shares == pytest.approx([0.149, 0.360, 0.587], abs=0.001)


def test_simulated_grids_disagree_as_often() -> None:
    """But for the ends of the ladder, where all capacities beyond it are one."""
    ladder = {"a": {1000 * number: "....." for number in range(1, 31)}}
    definition = definition_of(ladder).model_copy(update={"strategy": FullGrid()})
    found = simulate(only_stage(definition), CapacityModel("uniform", 0.25), 1500, seed=1).grid_differs_share
    assert found == pytest.approx(grids_disagree(5, 0.25), abs=0.04)
