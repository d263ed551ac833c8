"""Percentiles that single operations decide, because an interval has too few of them."""

import math
from collections.abc import Iterable, Iterator
from datetime import timedelta
from fractions import Fraction

from plimsoll.domain.service_level import ALL_OPERATIONS, ServiceLevel
from plimsoll.domain.units import format_duration

LEAST = 10
"""The number of an interval's operations that should lie above its percentile: of 10,000 operations, p99.9
leaves ten.
"""


def operations_needed(level: ServiceLevel) -> int | None:
    """Tell how many operations an interval needs so that `LEAST` ones decide its percentile; None for the maximum."""
    above = 1 - Fraction(str(level.percentile)) / 100
    return math.ceil(LEAST / above) if above else None


def few_operations(level: ServiceLevel, rates_ops_s: Iterable[float], which: str = "") -> Iterator[str]:
    """Yield a note if a service level's percentile is decided by few operations at one of the rates, with what would
    do.

    `which`: the intervals that it is about, where it is not all.
    """
    needed, interval_s = operations_needed(level), level.interval / timedelta(seconds=1)
    few = sorted(rate for rate in rates_ops_s if needed and 0 < rate * interval_s < needed)
    if not (needed and few):
        return
    of = "" if level.operations == ALL_OPERATIONS else f" of {level.operations}"
    ends = [f"{one:,.6g}" for one in (few[0], few[-1])[: len(set(few))]]
    rates = (" to " if len(set(few)) > 2 else " and ").join(ends)
    longer = format_duration(timedelta(seconds=math.ceil(needed / few[0])))
    yield (
        f"p{level.percentile:g}{of} of an interval of {format_duration(level.interval)} is decided by fewer than "
        f"{LEAST} operations at {rates} ops/s{which}: {math.ceil(needed / interval_s):,} ops/s would do, or "
        f"intervals of {longer} at {few[0]:,.6g} ops/s"
    )
