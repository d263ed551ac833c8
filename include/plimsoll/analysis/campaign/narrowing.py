"""The loads to run next to narrow the gap in which a variant's boundary lies.

The boundary lies between the highest load that was met and the next one, which missed. Bisection on a logarithmic scale
halves the gap with each load, wherever the boundary is. Where every load was met, the highest one is doubled; where
every load missed, the lowest one is halved, as in a search without bounds (Bentley and Yao, Information Processing
Letters 5, 1976).
"""

from collections.abc import Iterator
from math import exp, floor, log, log10

FAR = 1.25
"""The ratio of two loads above which they are far apart."""

_MOST = 3
_ROUNDED = 0.25
_STEPS = (1.0, 0.5, 0.1)


def between(met_ops_s: int, missed_ops_s: int) -> tuple[int, ...]:
    """Return at most three loads (ops/s) between one that was met and one that missed; the first halves the gap.

    Returns no load where the two are close together: repeats vary by about as much.
    """
    gaps, found = [(met_ops_s, missed_ops_s)], list[int]()
    while gaps and len(found) < _MOST:
        low, high = gaps.pop(0)
        middle = _readable(low, high)
        if middle is not None:
            found.append(middle)
            gaps += [(low, middle), (middle, high)]
    return tuple(found)


def below(missed_ops_s: int) -> tuple[int, ...]:
    """Return two loads below the lowest one, which missed: half of it and a quarter of it."""
    return tuple(dict.fromkeys(load for share in (2, 4) if (load := _rounded(missed_ops_s / share, 2.0)) >= 1))


def above(met_ops_s: int) -> int:
    """Return the load beyond the highest one, which was met: twice that load."""
    return 2 * met_ops_s


def _readable(low: int, high: int) -> int | None:
    """Return the middle of two loads on a log scale, rounded. None where no round load lies between."""
    if high <= FAR * low:
        return None
    middle = _rounded(exp((log(low) + log(high)) / 2), high / low)
    return middle if low < middle < high else None


def _rounded(load: float, gap: float) -> int:
    """Round to the fewest digits that move the value by at most a quarter of its distance from either end.

    Distances are measured on a log scale.
    """
    return next((one for one in _candidates(load) if abs(log(one / load)) <= _ROUNDED * log(gap) / 2), round(load))


def _candidates(load: float) -> Iterator[int]:
    """Yield multiples of 10^k, of half and of a tenth of that: 632 → 600, 650, 630."""
    unit = 10.0 ** floor(log10(load))
    for step in _STEPS:
        rounded = round(round(load / (unit * step)) * unit * step)
        if rounded:
            yield rounded
