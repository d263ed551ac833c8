"""Check that the records of a log follow one another without gaps; other logs are no sound measurement."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from plimsoll.analysis.logs.operations import Floats, Track

ODD_LENGTH = 0.5
"""The share by which a record may be longer or shorter than the usual one: a busy machine ticks late, then
catches up.
"""

SEAM_SHARE, SEAM_MIN_S, SEAM_MAX_S = 0.05, 0.005, 0.050
"""The greatest gap or overlap of two records: 5 % of a record, but 5 ms (two rounded times) to 50 ms."""

_EARLY_END_RECORDS = 10


def continuity_faults(tracks: Sequence[Track], interval_s: float) -> tuple[str, ...]:
    """Return all faults that forbid judging the tracks: gaps, overlaps, odd lengths, clock jumps, different times
    covered.
    """
    alone = [fault for track in tracks for fault in _faults(track)]
    return (*alone, *_faults_together(tracks, interval_s))


def continuity_notes(tracks: Sequence[Track], planned_end_s: float | None = None) -> tuple[str, ...]:
    """Return remarks on logs that end earlier than the others, because the earliest end limits what can be judged.

    `planned_end_s` (since the epoch): the planned end of the run, if known. Nothing after it is judged, so logs that
    reach it may end at different times, as several load hosts do when they wait for their last answers.
    """
    last_s = max(float(track.ends[-1]) for track in tracks)
    if planned_end_s is not None:
        last_s = min(last_s, planned_end_s)
    early = [track for track in tracks if last_s - track.ends[-1] > _seam_s(track)]
    return tuple(
        f"{track.name}: ends {last_s - track.ends[-1]:.3f} s before the longest log; nothing is judged after it"
        for track in early
    )


def _faults(track: Track) -> Iterator[str]:
    usual_s, seam_s = track.record_s, _seam_s(track)
    odd = _odd_lengths(track)
    steps, seams = np.diff(track.starts), track.starts[1:] - track.ends[:-1]
    back = np.flatnonzero(steps < -seam_s)
    after_odd = np.isin(np.arange(len(seams)), odd)
    gaps = np.flatnonzero((seams > seam_s) & ~after_odd)
    overlaps = np.flatnonzero((seams < -seam_s) & (steps >= -seam_s) & ~after_odd)
    if len(odd):
        what = f"a record of {track.lengths[odd[0]]:.3f} s among records of {usual_s:.3f} s"
        yield _fault(track, what + " (wrong interval length, or a clock jump)", odd)
    if len(back):
        yield _fault(track, f"the clock jumped back {-steps[back[0]]:.3f} s", back + 1)
    if len(gaps):
        what = f"a gap of {seams[gaps[0]]:.3f} s (records are missing, or the clock jumped forward)"
        yield _fault(track, what, gaps + 1)
    if len(overlaps):
        yield _fault(track, f"two records overlap by {-seams[overlaps[0]]:.3f} s", overlaps + 1)


def _seam_s(track: Track) -> float:
    return min(max(SEAM_SHARE * track.record_s, SEAM_MIN_S), SEAM_MAX_S)


def _odd_lengths(track: Track) -> npt.NDArray[np.intp]:
    """Return records that are too short or too long.

    The last record may be short if the run ended between two ticks.
    """
    lengths: Floats = track.lengths
    too_long = lengths > track.record_s * (1 + ODD_LENGTH)
    too_short = lengths < track.record_s * (1 - ODD_LENGTH)
    too_short[-1] = lengths[-1] < 0
    return np.flatnonzero(too_long | too_short)


def _fault(track: Track, what: str, places: npt.NDArray[np.intp]) -> str:
    more = f", and {len(places) - 1} more of the kind" if len(places) > 1 else ""
    return f"{track.name}, line {track.records[int(places[0])].line}: {what}{more}"


def _faults_together(tracks: Sequence[Track], interval_s: float) -> Iterator[str]:
    first, last = min(tracks, key=lambda track: track.starts[0]), max(tracks, key=lambda track: track.ends[-1])
    for track in tracks:
        late_s = float(track.starts[0] - first.starts[0])
        early_s = float(last.ends[-1] - track.ends[-1])
        if late_s > max(_seam_s(track), 0.05 * interval_s):
            yield f"{track.name}: begins {late_s:.3f} s after {first.name}: logs of one run cover the same time"
        if early_s > max(interval_s, _EARLY_END_RECORDS * track.record_s):
            yield f"{track.name}: ends {early_s:.3f} s before {last.name}: logs of one run cover the same time"
