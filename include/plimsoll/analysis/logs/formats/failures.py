"""Failures of a run: figures with times, a log of failed operations, or two counts of which one leaves them out."""

from collections.abc import Iterable, Iterator, Sequence
from math import inf

import numpy as np
import numpy.typing as npt

from plimsoll.analysis.logs.formats.selection import Series
from plimsoll.analysis.logs.hdr.decode import Decoder
from plimsoll.analysis.logs.hdr.record_line import Record
from plimsoll.analysis.logs.operations import Failures, Floats

Counts = npt.NDArray[np.int64]


def failures_of(series: Series, kind: str) -> Failures:
    """Return failures with times in a log, in the middle of its records. Raises LogError where one can't be decoded."""
    return failed(series, kind, _counts(series), among_times=False)


def failures_between(tried: Series, answered: Series, kind: str, *, among_times: bool) -> Failures:
    """Return those of the operations tried that were not answered, by two counts of the same log.

    An operation that ends at the border of two records may be counted in one of them as tried and in the next as
    answered. So what is missing counts once it is never made up for.
    """
    places = np.searchsorted(_ends(answered.records), _ends(tried.records) + _usual_s(tried.records) / 2, side="right")
    sums = np.concatenate([[0], np.cumsum(_counts(answered))])
    missing = np.cumsum(_counts(tried)) - sums[places]
    lasting = np.maximum(np.minimum.accumulate(missing[::-1])[::-1], 0)
    return failed(tried, kind, np.diff(lasting, prepend=0), among_times=among_times)


def failed(series: Series, kind: str, counts: Counts, *, among_times: bool) -> Failures:
    """Return failures in the middle of a log's records, from the number in each of them."""
    used = counts > 0
    ends = _ends(series.records)
    middles = ends - np.array([record.length_s for record in series.records]) / 2
    until_s = float(ends[used][-1]) if used.any() else -inf
    own = counts[used].astype(np.int64)
    return Failures(series.name, series.operation, kind, middles[used], own, among_times, until_s)


def failures_at(
    name: str, kind: str, found: Iterable[tuple[float, int]], operation: str = "", *, among_times: bool = False
) -> Iterator[Failures]:
    """Yield the failures of one kind, if there are any, from times, s since the epoch, and how many there were at each.

    The other arguments are as in `Failures`.
    """
    failed = [(at_s, count) for at_s, count in found if count > 0]
    if failed:
        at_s, counts = zip(*failed, strict=True)
        yield Failures(
            name, operation, kind, np.array(at_s, dtype=np.float64), np.array(counts, dtype=np.int64), among_times
        )


def totals(failures: Iterable[Failures]) -> dict[str, int]:
    """Return the number of failures of each kind."""
    found: dict[str, int] = {}
    for one in failures:
        if one.total:
            found[one.kind] = found.get(one.kind, 0) + one.total
    return found


def _counts(series: Series) -> Counts:
    decoder = Decoder("ns")  # the finest unit, so that the widest values fit
    return np.array([decoder.merge_used([record], series.name).sum() for record in series.records], dtype=np.int64)


def _ends(records: Sequence[Record]) -> Floats:
    return np.array([record.start_s + record.length_s for record in records])


def _usual_s(records: Sequence[Record]) -> float:
    return float(np.median([record.length_s for record in records]))
