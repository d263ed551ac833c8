"""The unit of an interval log of no known tool, and whether two of its tags measure the same operations.

HdrHistogram's log writer puts the highest value of each histogram beside it, in milliseconds: divided by 10^6 where
values are in ns, by 10^3 where they are in µs. So histogram and `Interval_Max` together show the unit.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from plimsoll.analysis.decode import Decoder
from plimsoll.analysis.hdrlog import Record
from plimsoll.analysis.histogram_layout import UNITS_PER_MS, WIDE, Ints, Unit
from plimsoll.analysis.operations import Track
from plimsoll.domain.errors import LogError

_ASKED = 50
"""Records that are looked at, evenly spread: what holds for these holds for the log."""
_ROUNDED = 0.0006
"""`Interval_Max` has three decimals."""
_COARSE = 0.2
"""A histogram of one significant digit knows its maximum to a tenth; the units are a thousandfold apart."""


def unit_of(track: Track) -> Unit:
    """The unit in which Interval_Max and the histograms of a track agree.

    Raises LogError, with advice, if no unit fits.
    """
    compared = [(told, found) for told, found in _maxima(track) if found > 0]
    units: tuple[Unit, Unit] = ("us", "ns")
    fitting = [unit for unit in units if all(_fits(told, found, unit) for told, found in compared)]
    if len(fitting) == 1 and compared:
        return fitting[0]
    told, found = max(compared, key=lambda pair: pair[1], default=(None, 0))
    shown = "without Interval_Max" if told is None else f"Interval_Max {told:g} beside values up to {found:,}"
    why = "fits both ns and µs" if len(fitting) > 1 else "fits neither ns nor µs"
    raise LogError(
        f"does not say in which unit its values are: {shown} {why}",
        where=track.name,
        mend="say it: `--unit ns`, `--unit us` or `--unit ms` (in the description of an import, `unit:`)",
    )


def refuse_two_measures(tracks: Sequence[Track], kinds: Mapping[str, str]) -> None:
    """Raise LogError where two tracks of unknown operations hold equally many values in every record.

    Such tracks look like two measures of the same operations, such as response and service time, which must not be
    added up.
    """
    for one, other in combinations(tracks, 2):
        named = {*kinds.values(), *kinds}
        if {one.operation.lower(), other.operation.lower()} <= named or len(one.records) != len(other.records):
            continue
        counts = [_counts(track) for track in (one, other)]
        if counts[0] == counts[1] and any(counts[0]):
            raise LogError(
                f"and {other.name} hold equally many values in every record: are they two measures of the same "
                "operations?",
                where=one.name,
                mend="name the tags that are to be judged, `--tags NAME` (in the description of an import, "
                "`tags: [NAME]`), both if they are two operations; or give the files of one measure alone",
            )


def _fits(told: float | None, found: int, unit: Unit) -> bool:
    expected = found / UNITS_PER_MS[unit]
    return told is not None and abs(told - expected) <= _ROUNDED + _COARSE * min(told, expected)


def _maxima(track: Track) -> Iterator[tuple[float | None, int]]:
    """Pairs of Interval_Max and the histogram's own highest value, for a few of the records."""
    for record, counts in _decoded(track):
        used = np.flatnonzero(counts)
        yield record.told_max, int(WIDE.highest_values(used[-1:])[0]) if len(used) else 0


def _counts(track: Track) -> list[int]:
    return [int(counts.sum()) for _, counts in _decoded(track)]


def _decoded(track: Track) -> Iterator[tuple[Record, Ints]]:
    # The finest unit, so that the widest values fit.
    decoder = Decoder("ns")
    for record in _spread(track.records):
        yield record, decoder.merge([record], track.name)


def _spread(records: Sequence[Record]) -> Iterable[Record]:
    step = max(1, len(records) // _ASKED)
    return records[::step]
