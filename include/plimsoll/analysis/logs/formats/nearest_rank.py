"""Percentiles of writers that round a rank to the nearest, which may be one lower than Plimsoll's."""

from collections.abc import Iterator, Sequence
from math import ceil, floor

_DECIMALS = 100


def at_nearest_rank(percentile: float, count: int) -> float:
    """Return the percentile at whose rank a writer's value stands: the same, or that of the rank before."""
    rank = floor(count * percentile / 100 + 0.5)
    return percentile if rank >= ceil(count * percentile / 100) or not rank else 100 * (rank - 0.5) / count


def rank_remarks(tool: str, percentile: float, counts: Sequence[int]) -> Iterator[str]:
    """Yield a remark where some of so many operations have a lower rank, with the percentile that is proven."""
    lowest = min((at_nearest_rank(percentile, count) for count in counts if count), default=percentile)
    if lowest < percentile:
        proven = floor(lowest * _DECIMALS) / _DECIMALS
        yield f"{tool} rounds ranks to the nearest: its p{percentile:g} is at least p{proven:g}, which it proves"
