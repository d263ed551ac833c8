"""Check logs of single operations: those of one client follow one another, and all clients run from begin to end.

Operations of several clients are added up second by second, so whatever is odd about one of them would not show there.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

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


class ClientOperations(NamedTuple):
    """Some operations, each client's together and in the order written.

    `client`: its place among all. `due_s`, `begun_s`, `ended_s`: s since the epoch; `due_s` is before `begun_s` where
    an operation waited for its turn. `lines`: their lines in the client's log.
    """

    client: Places
    due_s: Floats
    begun_s: Floats
    ended_s: Floats
    lines: Places


class Clients:
    """The operations of all clients of a run, taken some at a time: what is kept grows with the clients alone."""

    def __init__(self) -> None:
        self.first_due_s, self.last_begun_s = np.inf, -np.inf
        self._first_begun_s, self._last_due_s, self._rows = np.inf, -np.inf, 0
        nothing: Floats = np.zeros(0)
        self._begins = self._ends = self._counts = self._due_before_s = nothing
        self._back: tuple[int, float, int] | None = None
        """The first step back of the first client that has one: client, s, line."""
        self._busy = ClientOperations(np.zeros(0, dtype=np.int64), nothing, nothing, nothing, np.zeros(0, np.int64))
        """Times in which operations were due or under way, each by its first operation: quiet seconds divide them."""

    def add(self, found: ClientOperations) -> None:
        """Take further operations, later ones of each client."""
        self._grow(int(found.client.max()) + 1)
        self.first_due_s = min(self.first_due_s, float(found.due_s.min()))
        self.last_begun_s = max(self.last_begun_s, float(found.begun_s.max()))
        self._first_begun_s = min(self._first_begun_s, float(found.begun_s.min()))
        self._last_due_s = max(self._last_due_s, float(found.due_s.max()))
        self._rows += len(found.client)
        self._look_back(found)
        first = np.flatnonzero(np.diff(found.client, prepend=-1))
        clients = found.client[first]
        self._begins[clients] = np.where(self._counts[clients] > 0, self._begins[clients], found.begun_s[first])
        self._ends[clients] = np.maximum(self._ends[clients], np.maximum.reduceat(found.ended_s, first))
        self._counts[clients] += np.diff(first, append=len(found.client))
        self._busy = _busy(ClientOperations._make(map(np.concatenate, zip(self._busy, found, strict=True))))

    def faults(self, names: Sequence[str]) -> Iterator[str]:
        """Yield what forbids judging them: a clock that jumped, operations that are missing, a client that was away.

        `names`: those of the clients, by their places.
        """
        if self._back is not None:
            client, back_s, line = self._back
            what = f"begins {back_s:.3f} s before the line before it of the same client"
            yield f"{names[client]}, line {line}: {what} (the clock jumped back, or lines are of several runs)"
            return
        yield from self._gaps(names)
        for name, (begin_s, end_s, quiet_s) in zip(names, self._lives(), strict=True):
            if begin_s - self._first_begun_s > quiet_s:
                yield f"{name}: begins {begin_s - self._first_begun_s:.3f} s after the first client"
            if self.last_begun_s - end_s > max(quiet_s, _EARLY_S):
                what = f"ends {self.last_begun_s - end_s:.3f} s before others begin their last operation"
                yield f"{name}: {what} (it gave up, or its lines are missing)"

    @property
    def last_end_s(self) -> float:
        """Return the end of the last operation to end."""
        return float(self._ends.max())

    def common_end_s(self) -> float | None:
        """Return the end of the first client that ended early; None where all ended together: until `last_begun_s`."""
        early = [end_s for _, end_s, quiet_s in self._lives() if self.last_begun_s - end_s > quiet_s]
        return min(early, default=None)

    def _grow(self, clients: int) -> None:
        more = max(0, clients - len(self._begins))
        self._begins, self._counts = (np.append(one, np.zeros(more)) for one in (self._begins, self._counts))
        self._ends, self._due_before_s = (
            np.append(one, np.full(more, -np.inf)) for one in (self._ends, self._due_before_s)
        )

    def _look_back(self, found: ClientOperations) -> None:
        first = np.flatnonzero(np.diff(found.client, prepend=-1))
        before_s = np.append(-np.inf, found.due_s[:-1])
        before_s[first] = self._due_before_s[found.client[first]]
        self._due_before_s[found.client[first]] = found.due_s[np.append(first[1:], len(found.client)) - 1]
        back_s = before_s - found.due_s
        if len(back := np.flatnonzero(back_s > SEAM_MAX_S)):
            place = int(back[0])
            told = int(found.client[place]), float(back_s[place]), int(found.lines[place])
            if self._back is None or told[0] < self._back[0]:
                self._back = told

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
            what = f"no client has an operation for {gaps.max():.3f} s before it"
            place = int(gaps.argmax()) + 1
            where = f"{names[self._busy.client[place]]}, line {self._busy.lines[place]}"
            yield f"{where}: {what} (lines are missing, or the clock jumped forward)"


def _busy(operations: ClientOperations) -> ClientOperations:
    """Return the first operation of each time in which some are due or under way, with the last end of that time."""
    order = np.lexsort((operations.client, operations.due_s))
    due = ClientOperations._make(column[order] for column in operations)
    ends = np.maximum.accumulate(due.ended_s)
    last = np.append(np.flatnonzero(due.due_s[1:] - ends[:-1] > _QUIET_S), len(ends) - 1)
    first = np.append(0, last[:-1] + 1)
    return ClientOperations._make(column[first] for column in due)._replace(ended_s=ends[last])
