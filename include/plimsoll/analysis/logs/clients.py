"""Check logs of single operations: those of one client follow one another, and all clients run from begin to end.

Operations of several clients are added up second by second, so whatever is odd about one of them would not show there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from plimsoll.analysis.logs.continuity import SEAM_MAX_S
from plimsoll.analysis.logs.operations import Floats

Places = npt.NDArray[np.int64]

_QUIET_PERIODS, _QUIET_S = 20, 1.0
"""A client may be quiet for twenty times the usual step between two operations, its own or that of all clients, and for
a second at least: arrivals at random (Poisson) leave a longer gap once in 5 · 10⁸ times.
"""
_EARLY_S = 10.0
"""A client that ends earlier than this before the others has left them with another load; nothing later is judged."""


@dataclass(frozen=True)
class ClientOperations:
    """The operations of all clients of a run, each client's in the order written.

    `client`: places in `names`. `due_s`, `begun_s`, `ended_s`: s since the epoch; `due_s` is before `begun_s` where an
    operation waited for its turn. `lines`: their lines in the client's log.
    """

    names: Sequence[str]
    client: Places
    due_s: Floats
    begun_s: Floats
    ended_s: Floats
    lines: Places

    def faults(self) -> Iterator[str]:
        """Yield what forbids judging them: a clock that jumped, operations that are missing, a client that was away."""
        order = np.argsort(self.client, kind="stable")
        same = np.flatnonzero(self.client[order][1:] == self.client[order][:-1]) + 1
        back_s = self.due_s[order][same - 1] - self.due_s[order][same]
        if len(back := np.flatnonzero(back_s > SEAM_MAX_S)):
            what = f"begins {back_s[back[0]]:.3f} s before the line before it of the same client"
            yield f"{self._at(order[same[back[0]]])}: {what} (the clock jumped back, or lines are of several runs)"
            return
        yield from self._gaps()
        first_s = min(self.begun_s)
        for client, (begin_s, end_s, quiet_s) in enumerate(self._lives()):
            if begin_s - first_s > quiet_s:
                yield f"{self.names[client]}: begins {begin_s - first_s:.3f} s after the first client"
            if self.last_begun_s - end_s > max(quiet_s, _EARLY_S):
                what = f"ends {self.last_begun_s - end_s:.3f} s before others begin their last operation"
                yield f"{self.names[client]}: {what} (it gave up, or its lines are missing)"

    def common_end_s(self) -> float | None:
        """Return the end of the first client that ended early; None where all ended together."""
        early = [end_s for _, end_s, quiet_s in self._lives() if self.last_begun_s - end_s > quiet_s]
        return min(early, default=None)

    @property
    def last_begun_s(self) -> float:
        """Return the time until which clients began operations: all are there until then."""
        return float(self.begun_s.max())

    def _lives(self) -> list[tuple[float, float, float]]:
        """Return each client's first begin and last end, and how long it may be quiet, s."""
        order = np.argsort(self.client, kind="stable")
        first = np.flatnonzero(np.diff(self.client[order], prepend=-1))
        counts = np.diff(first, append=len(order))
        begins, ends = self.begun_s[order][first], np.maximum.reduceat(self.ended_s[order], first)
        usual_s = (ends.max() - begins.min()) * len(first) / len(order)
        quiet = np.maximum(_QUIET_S, _QUIET_PERIODS * np.maximum(usual_s, (ends - begins) / np.maximum(counts - 1, 1)))
        return list(zip(begins.tolist(), ends.tolist(), quiet.tolist(), strict=True))

    def _gaps(self) -> Iterator[str]:
        """Yield the longest time in which no operation was due or under way, if it is too long for chance."""
        order = np.argsort(self.due_s, kind="stable")
        gaps = self.due_s[order][1:] - np.maximum.accumulate(self.ended_s[order])[:-1]
        usual_s = (self.due_s.max() - self.due_s.min()) / max(1, len(gaps))
        if len(gaps) and gaps.max() > max(_QUIET_S, _QUIET_PERIODS * usual_s):
            what = f"no client has an operation for {gaps.max():.3f} s before it"
            yield f"{self._at(order[gaps.argmax() + 1])}: {what} (lines are missing, or the clock jumped forward)"

    def _at(self, place: int) -> str:
        return f"{self.names[self.client[place]]}, line {self.lines[place]}"
