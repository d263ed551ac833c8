"""Percentiles of writers that round a rank to the nearest, which may be one lower than Plimsoll's."""

from collections.abc import Iterator, Sequence
from math import ceil, floor

_DECIMALS = 100


def rank_remarks(tool: str, percentile: float, counts: Sequence[int]) -> Iterator[str]:
    """Yield a remark where the rank is the lower one for some of so many operations, with the percentile it proves."""
    nearest = [(floor(count * percentile / 100 + 0.5), count) for count in counts]
    lower = [100 * (rank - 0.5) / count for rank, count in nearest if 0 < rank < ceil(count * percentile / 100)]
    if lower:
        proven = floor(min(lower) * _DECIMALS) / _DECIMALS
        yield f"{tool} rounds ranks to the nearest: its p{percentile:g} is at least p{proven:g}, which it proves"
