"""The records of one operation that are judged together, its failures, and a check that records follow one another
without gaps: other logs are no sound measurement.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf

import numpy as np
import numpy.typing as npt

from plimsoll.analysis.logs.hdr.record_line import Record

Floats = npt.NDArray[np.float64]

ODD_LENGTH = 0.5
"""The share by which a record may be longer or shorter than usual: a busy machine ticks late, then catches up."""

SEAM_SHARE, SEAM_MIN_S, SEAM_MAX_S = 0.05, 0.005, 0.050
"""The greatest gap or overlap of two records: 5 % of a record, but 5 ms (two rounded times) to 50 ms."""

_SAME_TIME = "logs of one run cover the same time"


@dataclass(frozen=True)
class Track:
    """The records of one operation in the order written. `operation`: `reads`, `writes`, or the operation's own name.

    `log` is the name of the file that holds the records, where they come from a file. `starts` and `ends` are in s
    since the epoch.
    """

    name: str
    operation: str
    records: tuple[Record, ...]
    log: str = ""

    @cached_property
    def starts(self) -> Floats:
        return np.array([record.start_s for record in self.records])

    @cached_property
    def lengths(self) -> Floats:
        return np.array([record.length_s for record in self.records])

    @cached_property
    def ends(self) -> Floats:
        return self.starts + self.lengths

    @cached_property
    def record_s(self) -> float:
        """Return the usual length of a record; the last may be a stub."""
        values = self.lengths[:-1] if len(self.lengths) > 1 else self.lengths
        return median(values)


def median(values: npt.ArrayLike) -> float:
    """Return the median. `np.median` imports numpy.ma, which takes longer than a small log."""
    ordered = np.sort(values)
    return float((ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2)


@dataclass(frozen=True)
class Failures:
    """Operations that were due and not answered: failed, timed out, skipped, dropped, given up, never sent.

    `kind`: the load generator's own word for it. `at_s`: when they were due, or ended where that is all that is known,
    s since the epoch; `counts`: how many at each of these times. `operation`: as in `Track`. `name`: where they stand.
    `among_times`: the tracks hold them too, timed like answered ones. `until_s`: the end of the time that the last of
    them is told for, s since the epoch. `ends_s`: until when one of those at each time was waited for; None: not told.
    """

    name: str
    operation: str
    kind: str
    at_s: Floats
    counts: npt.NDArray[np.int64]
    among_times: bool = False
    until_s: float = -inf
    ends_s: Floats | None = None

    @property
    def total(self) -> int:
        return int(self.counts.sum())

    def between(self, first_s: float, last_s: float) -> "Failures":
        """Return those of that time, s since the epoch."""
        inside = (self.at_s >= first_s) & (self.at_s <= last_s)
        until_s = self.until_s if inside.all() else -inf
        ends_s = None if self.ends_s is None else self.ends_s[inside]
        return replace(self, at_s=self.at_s[inside], counts=self.counts[inside], until_s=until_s, ends_s=ends_s)


def totals(failures: Iterable[Failures]) -> dict[str, int]:
    by_kind: Counter[str] = Counter()
    for failure in failures:
        if failure.total:
            by_kind[failure.kind] += failure.total
    return dict(by_kind)


def continuity_faults(
    tracks: Sequence[Track], interval_s: float, planned_end_s: float | None = None
) -> tuple[str, ...]:
    """Return all faults that forbid judging the tracks: gaps, overlaps, odd lengths, clock jumps, times that differ.

    Logs that reach `planned_end_s` (since the epoch) may end at different times.
    """
    faults = [fault for track in tracks for fault in _faults(track)]
    first, last = min(tracks, key=lambda track: track.starts[0]), max(tracks, key=lambda track: track.ends[-1])
    for track in tracks:
        late_s = float(track.starts[0] - first.starts[0])
        reaches_end = planned_end_s is not None and track.ends[-1] >= planned_end_s - 0.05 * interval_s
        early_s = 0.0 if reaches_end else float(last.ends[-1] - track.ends[-1])
        if late_s > max(_seam_s(track), 0.05 * interval_s):
            faults.append(f"{track.name}: begins {late_s:.3f} s after {first.name}: {_SAME_TIME}")
        # A log that ends earlier by less gets a remark alone, and ends what is judged: see `continuity_notes`
        if early_s > max(interval_s, 10 * track.record_s):
            faults.append(f"{track.name}: ends {early_s:.3f} s before {last.name}: {_SAME_TIME}")
    return tuple(faults)


def continuity_notes(tracks: Sequence[Track], planned_end_s: float | None = None) -> tuple[str, ...]:
    """Return remarks on logs that end earlier than the others, because the earliest end limits what can be judged.

    `planned_end_s` (since the epoch): the planned end of the run, if known. Nothing after it is judged, so logs that
    reach it may end at different times, as several load hosts do when they wait for their last answers.
    """
    last_s = max(float(track.ends[-1]) for track in tracks)
    if planned_end_s is not None:
        last_s = min(last_s, planned_end_s)
    return tuple(
        f"{track.name}: ends {last_s - track.ends[-1]:.3f} s before the longest log; nothing is judged after it"
        for track in tracks
        if last_s - track.ends[-1] > _seam_s(track)
    )


def _faults(track: Track) -> Iterator[str]:
    lengths, usual_s, seam_s = track.lengths, track.record_s, _seam_s(track)
    too_short = lengths < usual_s * (1 - ODD_LENGTH)
    # The last record may be, if the run ended between two ticks
    too_short[-1] = lengths[-1] < 0
    odd = np.flatnonzero((lengths > usual_s * (1 + ODD_LENGTH)) | too_short)
    steps, seams = np.diff(track.starts), track.starts[1:] - track.ends[:-1]
    back = np.flatnonzero(steps < -seam_s)
    # A record of odd length leaves an odd seam behind it, which is no second fault
    after_odd = np.isin(np.arange(len(seams)), odd)
    gaps = np.flatnonzero((seams > seam_s) & ~after_odd)
    overlaps = np.flatnonzero((seams < -seam_s) & (steps >= -seam_s) & ~after_odd)
    if len(odd):
        defect = f"a record of {lengths[odd[0]]:.3f} s among records of {usual_s:.3f} s"
        yield _fault(track, defect + " (wrong interval length, or a clock jump)", odd)
    if len(back):
        yield _fault(track, f"the clock jumped back {-steps[back[0]]:.3f} s", back + 1)
    if len(gaps):
        defect = f"a gap of {seams[gaps[0]]:.3f} s (records are missing, or the clock jumped forward)"
        yield _fault(track, defect, gaps + 1)
    if len(overlaps):
        yield _fault(track, f"two records overlap by {-seams[overlaps[0]]:.3f} s", overlaps + 1)


def _seam_s(track: Track) -> float:
    return min(max(SEAM_SHARE * track.record_s, SEAM_MIN_S), SEAM_MAX_S)


def _fault(track: Track, defect: str, places: npt.NDArray[np.intp]) -> str:
    more = f", and {len(places) - 1} more of the kind" if len(places) > 1 else ""
    return f"{track.name}, line {track.records[int(places[0])].line}: {defect}{more}"
