"""The unit of an interval log's values, and the reason why it is taken.

A log does not say its unit. Its column Interval_Max is the highest value divided by a number that the writer's author
chose: 10^6 in HdrHistogram's own writers in Java, Go, Python and .NET, 10^3 in HdrHistogramJS, 1 in C and Rust. They
divide by it whatever the unit is. Only 10^3 from another writer than HdrHistogramJS was chosen by somebody, for µs.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from math import ceil, floor
from typing import NamedTuple

import numpy as np

from plimsoll.analysis.logs.hdr.histograms import WIDE, Decoder, Unit
from plimsoll.analysis.logs.hdr.record_line import has_index_offset, inflate
from plimsoll.analysis.logs.operations import Track
from plimsoll.domain.text.errors import LogError

ASK_FOR_UNIT = "say it: `--unit ns`, `--unit us` or `--unit ms` (in the description of an import, `unit:`)"

_MOST_COMMON = 1_000_000
_DIVISORS = (_MOST_COMMON, 1_000, 1)


class FoundUnit(NamedTuple):
    """A unit, and why it is taken."""

    unit: Unit
    why: str


def unit_of(declared: Unit | None, written: FoundUnit | None, where: str, tool: str = "") -> FoundUnit | None:
    """Return the unit that the user gave, or that the file's writer is known to write; None where neither is known.

    `tool`: the tool whose format the file was recognised by. Raises LogError where the two contradict each other.
    """
    if declared and written and declared != written.unit:
        what = f"its values are in {written.unit}, not in {declared}: {written.why}"
        other = f"; if another program than {tool} wrote the file: `--format hdr --unit {declared}`" if tool else ""
        raise LogError(what, where=where, mend=f"leave `--unit` out (of an import, `unit:`){other}")
    return written or (FoundUnit(declared, "as given (`--unit`)") if declared else None)


def refuse_another_writer(track: Track, tool: str) -> None:
    """Raise LogError where Interval_Max is not as the tool's log writer puts it, so that another program wrote the log.

    All tools whose unit is known use the writers that divide by 10^6.
    """
    compared, divisors = _divisors(track)
    if compared and _MOST_COMMON not in divisors:
        what = f"is not as {tool} writes it: {_shown(compared, divisors)}, while {tool} divides by 10⁶"
        raise LogError(what, where=track.name, mend=ASK_FOR_UNIT)


def shown_unit(track: Track) -> FoundUnit:
    """Return the unit that the log of an unknown writer shows. Raises LogError, to ask for it, if it shows none."""
    compared, divisors = _divisors(track)
    if divisors == [1_000] and not has_index_offset(inflate(track.records[0].payload)):
        return FoundUnit("us", "Interval_Max is the highest value / 10³, which a writer sets for values in us")
    what = f"does not say in which unit its values are: {_shown(compared, divisors)}"
    raise LogError(what, where=track.name, mend=ASK_FOR_UNIT)


def doubts(declared: Unit | None, track: Track, by_name: FoundUnit | None) -> Iterator[str]:
    """Yield remarks on a track for which the user gave a unit, while its file's name or its log shows another one."""
    if declared is None:
        return
    shown = by_name
    with suppress(LogError):
        shown = shown or shown_unit(track)
    if shown and shown.unit != declared:
        yield f"{track.name}: taken to be in {declared} as given, but {shown.why}"


def _divisors(track: Track) -> tuple[list[tuple[float | None, int]], list[int]]:
    """Return pairs of Interval_Max and the highest value, and which of the usual divisors fit them all."""
    compared = [pair for pair in _maxima(track) if pair[1] > 0]
    return compared, [divisor for divisor in _DIVISORS if compared and all(_fits(*pair, divisor) for pair in compared)]


def _shown(compared: Sequence[tuple[float | None, int]], divisors: Sequence[int]) -> str:
    declared, highest = max(compared, key=lambda pair: pair[1], default=(None, 0))
    if declared is None:
        return "it has no value, or no Interval_Max"
    shown = f"Interval_Max is {declared:g} beside values up to {highest:,}"
    if divisors == [_MOST_COMMON]:
        return f"{shown}; most writers divide by 10⁶ whatever the unit is"
    if divisors == [1_000]:
        return f"{shown}; HdrHistogramJS, which seems to have written it, divides by 10³ whatever the unit is"
    if divisors == [1]:
        return f"{shown}, which is the value itself"
    return f"{shown}, which fits {'several units' if divisors else 'no unit'}"


def _fits(declared: float | None, highest: int, divisor: int) -> bool:
    expected = highest / divisor
    # Interval_Max has three decimals, and a histogram of one significant digit knows its maximum to a tenth. So wide a
    # tolerance confuses no divisors, which are a thousandfold apart.
    return declared is not None and abs(declared - expected) <= 0.0006 + 0.2 * min(declared, expected)


def _maxima(track: Track) -> Iterator[tuple[float | None, int]]:
    """Yield pairs of Interval_Max and the histogram's own highest value, for a few of the records."""
    decoder = Decoder("ns")  # the finest unit, so that the widest values fit
    # Evenly spread: what holds for these holds for the log
    for record in track.records[:: max(1, len(track.records) // 50)]:
        used = np.flatnonzero(decoder.merge([record], track.name))
        yield record.interval_max, int(WIDE.highest_values(used[-1:])[0]) if len(used) else 0


def rank_remarks(tool: str, percentile: float, counts: Sequence[int]) -> Iterator[str]:
    """Yield a remark where the tool's rank is lower than Plimsoll's for some of so many operations.

    The tool rounds a rank to the nearest, Plimsoll rounds it up. The remark names the percentile that the value proves.
    """
    nearest = [(floor(count * percentile / 100 + 0.5), count) for count in counts]
    lower = [100 * (rank - 0.5) / count for rank, count in nearest if 0 < rank < ceil(count * percentile / 100)]
    if lower:
        proven = floor(min(lower) * 100) / 100
        yield f"{tool} rounds ranks to the nearest: its p{percentile:g} is at least p{proven:g}, which it proves"
