"""Check that the records of a log follow one another without gaps, and in logs of single operations those of each
client; other logs are no sound measurement.

Operations of several clients are added up second by second, so whatever is odd about one of them would not show there.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from plimsoll.analysis.logs.hdr.histogram_layout import Ints
from plimsoll.analysis.logs.operations import Floats, Track

ODD_LENGTH = 0.5
"""The share by which a record may be longer or shorter than usual: a busy machine ticks late, then catches up."""

SEAM_SHARE, SEAM_MIN_S, SEAM_MAX_S = 0.05, 0.005, 0.050
"""The greatest gap or overlap of two records: 5 % of a record, but 5 ms (two rounded times) to 50 ms."""

_SAME_TIME = "logs of one run cover the same time"

_QUIET_PERIODS, _QUIET_S = 20, 1.0
"""A client may be quiet for twenty times the usual step between two operations, its own or that of all clients, and for
a second at least: arrivals at random (Poisson) leave a longer gap once in 5 · 10⁸ times.
"""


class ClientOperations(NamedTuple):
    """Some operations, each client's together and in the order written.

    `client`: its place among all. `due_s`, `begun_s`, `ended_s`: s since the epoch; `due_s` is before `begun_s` where
    an operation waited for its turn. `lines`: their lines in the client's log.
    """

    client: Ints
    due_s: Floats
    begun_s: Floats
    ended_s: Floats
    lines: Ints


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


class Before:
    """The figure of each client's line before, from chunk to chunk."""

    def __init__(self) -> None:
        self._last: Floats = np.zeros(0)

    def replaced(self, client: Ints, figures: Floats) -> Floats:
        """Return for each figure the one before it of the same client; NaN for a client's first.

        `client`: the client of each figure. The figures of one client stand together, in order.
        """
        more = int(client.max()) + 1 - len(self._last)
        self._last = np.concatenate([self._last, np.full(max(0, more), np.nan)])
        begins = np.flatnonzero(np.diff(client, prepend=-1))
        before = np.concatenate([[np.nan], figures[:-1]])
        before[begins] = self._last[client[begins]]
        ends = np.append(begins[1:], len(client)) - 1
        self._last[client[ends]] = figures[ends]
        return before


class Clients:
    """The operations of all clients of a run, taken some at a time: what is kept grows with the clients alone."""

    def __init__(self) -> None:
        self.first_due_s, self.last_begun_s = np.inf, -np.inf
        self._first_begun_s, self._last_due_s, self._rows = np.inf, -np.inf, 0
        nothing: Floats = np.zeros(0)
        self._begins = self._ends = self._counts = nothing
        self._due_before = Before()
        self._back: tuple[int, float, int] | None = None
        """The first step back of the first client that has one: client, s, line."""
        self._busy = ClientOperations(np.zeros(0, dtype=np.int64), nothing, nothing, nothing, np.zeros(0, np.int64))
        """Times in which operations were due or under way, each by its first operation: quiet seconds divide them."""

    def add(self, operations: ClientOperations) -> None:
        """Take further operations, later ones of each client."""
        new = np.zeros(max(0, int(operations.client.max()) + 1 - len(self._begins)))
        self._begins, self._counts = np.append(self._begins, new), np.append(self._counts, new)
        self._ends = np.append(self._ends, new - np.inf)
        self.first_due_s = min(self.first_due_s, float(operations.due_s.min()))
        self.last_begun_s = max(self.last_begun_s, float(operations.begun_s.max()))
        self._first_begun_s = min(self._first_begun_s, float(operations.begun_s.min()))
        self._last_due_s = max(self._last_due_s, float(operations.due_s.max()))
        self._rows += len(operations.client)
        first = np.flatnonzero(np.diff(operations.client, prepend=-1))
        clients = operations.client[first]
        self._look_back(operations)
        self._begins[clients] = np.where(self._counts[clients] > 0, self._begins[clients], operations.begun_s[first])
        self._ends[clients] = np.maximum(self._ends[clients], np.maximum.reduceat(operations.ended_s, first))
        self._counts[clients] += np.diff(first, append=len(operations.client))
        self._busy = _busy(ClientOperations._make(map(np.concatenate, zip(self._busy, operations, strict=True))))

    def faults(self, names: Sequence[str]) -> Iterator[str]:
        """Yield what forbids judging them: a clock that jumped, operations that are missing, a client that was away.

        `names`: those of the clients, by their places.
        """
        if self._back is not None:
            # Where the time goes back, neither gaps nor ends say anything
            client, back_s, line = self._back
            defect = f"begins {back_s:.3f} s before the line before it of the same client"
            yield f"{names[client]}, line {line}: {defect} (the clock jumped back, or lines are of several runs)"
            return
        yield from self._gaps(names)
        for name, (begin_s, end_s, quiet_s) in zip(names, self._lives(), strict=True):
            if begin_s - self._first_begun_s > quiet_s:
                yield f"{name}: begins {begin_s - self._first_begun_s:.3f} s after the first client"
            # It has left the others with another load; where it ends a little early, nothing later is judged
            if self.last_begun_s - end_s > max(quiet_s, 10.0):
                defect = f"ends {self.last_begun_s - end_s:.3f} s before others begin their last operation"
                yield f"{name}: {defect} (it gave up, or its lines are missing)"

    @property
    def last_end_s(self) -> float:
        return float(self._ends.max())

    def common_end_s(self) -> float | None:
        """Return the end of the first client that ended early; None where all ended together: until `last_begun_s`."""
        early = [end_s for _, end_s, quiet_s in self._lives() if self.last_begun_s - end_s > quiet_s]
        return min(early, default=None)

    def _look_back(self, operations: ClientOperations) -> None:
        """Keep the first step back in time."""
        back_s = self._due_before.replaced(operations.client, operations.due_s) - operations.due_s
        if len(back := np.flatnonzero(back_s > SEAM_MAX_S)):
            index = int(back[0])
            step_back = int(operations.client[index]), float(back_s[index]), int(operations.lines[index])
            if self._back is None or step_back[0] < self._back[0]:
                self._back = step_back

    def _lives(self) -> list[tuple[float, float, float]]:
        """Return each client's first begin and last end, and how long it may be quiet, s."""
        begins, ends = self._begins, self._ends
        usual_s = (ends.max() - begins.min()) * len(begins) / self._rows
        own_s = (ends - begins) / np.maximum(self._counts - 1, 1)
        quiet = np.maximum(_QUIET_S, _QUIET_PERIODS * np.maximum(usual_s, own_s))
        return list(zip(begins.tolist(), ends.tolist(), quiet.tolist(), strict=True))

    def _gaps(self, names: Sequence[str]) -> Iterator[str]:
        """Yield the longest time in which no operation was due or under way, if it is too long for chance."""
        gaps = self._busy.due_s[1:] - self._busy.ended_s[:-1]
        usual_s = (self._last_due_s - self.first_due_s) / max(1, self._rows - 1)
        if len(gaps) and gaps.max() > max(_QUIET_S, _QUIET_PERIODS * usual_s):
            defect = f"no client has an operation for {gaps.max():.3f} s before it"
            index = int(gaps.argmax()) + 1
            where = f"{names[self._busy.client[index]]}, line {self._busy.lines[index]}"
            yield f"{where}: {defect} (lines are missing, or the clock jumped forward)"


def _busy(operations: ClientOperations) -> ClientOperations:
    """Return the first operation of each time in which some are due or under way, with the last end of that time."""
    order = np.lexsort((operations.client, operations.due_s))
    due = ClientOperations._make(column[order] for column in operations)
    ends = np.maximum.accumulate(due.ended_s)
    last = np.append(np.flatnonzero(due.due_s[1:] - ends[:-1] > _QUIET_S), len(ends) - 1)
    first = np.append(0, last[:-1] + 1)
    return ClientOperations._make(column[first] for column in due)._replace(ended_s=ends[last])
