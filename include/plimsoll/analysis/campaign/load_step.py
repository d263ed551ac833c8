"""The meaning of a difference of one load step: how often two full grids of one system find different capacities."""

from math import exp

_LEVELS = range(-14, 15)
_PLACES = 20


def grids_disagree(repeats: int, width: float) -> float:
    """Return the chance that two full grids of the same system, with that many repeats, find different capacities.

    The chance that a repeat is met falls with the load along a logistic curve of that width, in load steps: four and a
    half widths lie between the loads where 90 % and 10 % are met. The curve's middle lies anywhere between two loads,
    and the loads extend far to either side. The result is exact except that 20 positions stand for all positions of the
    middle.
    """
    places = [(place + 0.5) / _PLACES for place in range(_PLACES)]
    return sum(1 - _agree(place, repeats, width) for place in places) / _PLACES


def _agree(middle: float, repeats: int, width: float) -> float:
    """Return the chance that two independent grids agree: the sum of the squared chances of each capacity."""
    climbed, same = 1.0, 0.0
    for level in _LEVELS:
        carried = _chance((middle - level) / width) ** repeats
        same += (climbed * (1 - carried)) ** 2
        climbed *= carried
    return same + climbed**2


def _chance(scaled: float) -> float:
    return 1 / (1 + exp(-scaled)) if abs(scaled) < 50 else float(scaled > 0)
