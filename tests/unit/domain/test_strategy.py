"""The strategies that a definition can choose."""

from typing import get_args

from plimsoll.domain.keys.expected import STRATEGY_NAMES
from plimsoll.domain.keys.strategy import FullGrid, Ramp, Search, Strategy, Threshold


def test_the_names_of_strategies_are_those_of_their_models_in_the_same_order() -> None:
    models = get_args(get_args(Strategy)[0])
    assert models == (FullGrid, Search, Ramp, Threshold)
    assert tuple(model.model_fields["name"].default for model in models) == STRATEGY_NAMES
