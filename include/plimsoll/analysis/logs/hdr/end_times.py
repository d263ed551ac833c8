"""Interval logs whose second column holds end times instead of lengths.

hdrhistogram-go wrote them until 1.1.2, and so did scylla-bench with it; HdrHistogram_c writes them by `hdr_log_write`.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from plimsoll.analysis.logs.hdr.record_line import Record

_FEWEST = 3
_MISFIT = 0.05
"""The share of the time between two records by which an end may lie beside the next record's start."""
_MOST_MISFITS = 0.1
"""Share of the records whose end is not the next one's start, because records are missing."""


def with_lengths(records: Sequence[Record], base_s: float) -> tuple[Record, ...] | None:
    """Return the records with lengths, where their second column holds end times; None where it holds lengths.

    `base_s`: what was added to the starts that the lines give. Ends are told by the next record of the tag, which
    begins there; of a length this can't be true, except where a record begins at 0.
    """
    tags: dict[str, list[Record]] = {}
    for record in records:
        tags.setdefault(record.tag, []).append(record)
    judged = [one for one in tags.values() if len(one) >= _FEWEST]
    if not judged or not all(_ends(one, base_s) for one in judged):
        return None
    return tuple(record._replace(length_s=record.length_s - (record.start_s - base_s)) for record in records)


def _ends(records: Iterable[Record], base_s: float) -> bool:
    starts, seconds = np.array([(one.start_s - base_s, one.length_s) for one in records]).T
    steps = np.diff(starts)
    fitting = np.abs(seconds[:-1] - starts[1:]) <= _MISFIT * np.abs(steps)
    as_lengths = np.abs(seconds[:-1] - steps) <= _MISFIT * np.abs(steps)
    return bool(fitting.mean() >= 1 - _MOST_MISFITS and not as_lengths.all())
