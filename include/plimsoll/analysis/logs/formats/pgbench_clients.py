"""What the clients of pgbench did: when their transactions were due, by a schedule (`--rate`) or as soon as the client
was free, and whether each went on from the run's start to its end.

Transactions of several clients are added up second by second, so whatever is odd about one would not show there.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from plimsoll.analysis.logs.formats.pgbench_lines import FAILED, Before, Flags, Lines
from plimsoll.analysis.logs.hdr.histograms import Ints
from plimsoll.analysis.logs.operations import SEAM_MAX_S, Floats

_QUIET_PERIODS, _QUIET_S = 20, 1.0
"""A client may be quiet for twenty times the usual step between two operations, its own or that of all clients, and for
a second at least: arrivals at random (Poisson) leave a longer gap once in 5 · 10⁸ times.
"""
_FEW, _RARELY = 5, 0.1
"""Of a real run's lags 0.1 % were below this; of numbers of tries 35 %, of transactions in each other's way."""
_NO_WAIT_S = 0.001


class Due(NamedTuple):
    """Some lines, with when their transactions were due and began, s since the epoch."""

    lines: Lines
    due_s: Floats
    begun_s: Floats

    def at(self, places: Ints | Flags) -> "Due":
        return Due(self.lines.at(places), self.due_s[places], self.begun_s[places])


class LagSigns:
    """What tells a lag behind a schedule from a number of tries, which stands in the same column."""

    def __init__(self) -> None:
        self.has_seventh = self._is_certain = self._lacks_some = self._is_early = False
        self._answered = self._small = self._waits = self._short = 0

    def add(self, lines: Lines) -> None:
        answered, has_lag = lines.is_answered, ~np.isnan(lines.lag)
        self.has_seventh |= bool(has_lag.any())
        # Only what has a schedule is skipped; and only behind a lag a number of tries is the eighth column
        self._is_certain |= bool((lines.kind == FAILED.index("skipped")).any() or not np.isnan(lines.tries).all())
        # A lag is 0 where nothing was answered, while a number of tries is not
        self._lacks_some |= bool(not has_lag.all() or (lines.lag[~answered] > 0).any())
        self._answered += int(answered.sum())
        self._small += int((lines.lag[answered] < _FEW).sum())
        waits_s = lines.at_s - lines.us / 1e6 - lines.before_s
        self._waits += int((~np.isnan(waits_s)).sum())
        self._short += int((waits_s < _NO_WAIT_S).sum())
        self._is_early |= bool((waits_s < -_NO_WAIT_S).any())

    @property
    def shows_lag(self) -> bool:
        """Tell whether the transactions have a scheduled start, from which their times then count.

        A number of tries is often a small one. Only a transaction with a schedule is skipped, or starts before its
        client's last one ended. Where none was late, clients waited for their turn.
        """
        if self._is_certain:
            return True
        if self._lacks_some or not self._answered or self._small > _RARELY * self._answered:
            return False
        return self._is_early or not self._short > self._waits / 2


def due(chunks: Iterable[Lines], *, has_lag: bool) -> Iterator[Due]:
    """Yield all lines with when their transactions were due.

    Without a schedule, that is when they began: what was not answered as soon as the one before had ended.
    """
    if has_lag:
        yield from _by_schedule(chunks)
        return
    for lines in chunks:
        free_s = np.where(np.isnan(lines.before_s), lines.at_s, lines.before_s)
        yield _due(lines, np.where(lines.is_answered, lines.at_s - lines.us / 1e6, free_s), np.zeros(len(free_s)))


def _by_schedule(chunks: Iterable[Lines]) -> Iterator[Due]:
    """Yield the lines once it is known when they were due.

    A client takes the times of a schedule in their order. So those that were not answered were due between the ones
    before and after them, and are spread evenly there. What follows a client's last answer waits for its next one.
    """
    held = fresh = None
    for lines in chunks:
        fresh = lines if fresh is None else fresh.then(lines)
        if held is None or len(fresh.client) >= len(held.client):  # so that a long wait is not looked at too often
            held, fresh = fresh if held is None else held.then(fresh), None
            waiting = _waiting(held)
            settled, held = _between_answers(held, ~waiting), held.at(waiting)
            if len(settled.due_s):
                yield settled
    rest = held if fresh is None else fresh if held is None else held.then(fresh)
    if rest is not None:
        yield _between_answers(rest, np.ones(len(rest.client), dtype=np.bool_))


def _waiting(lines: Lines) -> Flags:
    """Return which lines are their clients' last answers so far, or stand after them."""
    begins = np.diff(lines.client, prepend=-1) != 0
    begin = np.maximum.accumulate(np.where(begins, np.arange(len(begins)), 0))
    last = np.where(lines.is_answered, np.arange(len(begins)), begin)
    ends = np.append(np.flatnonzero(begins)[1:], len(begins)) - 1
    newest = np.maximum.accumulate(last)[ends]
    return np.arange(len(begins)) >= np.repeat(newest, np.diff(ends, prepend=-1))


def _between_answers(lines: Lines, wanted: Flags) -> Due:
    """Return the wanted lines; those before and after a client's lines are of others."""
    due_s = np.where(lines.is_answered, lines.at_s - lines.us / 1e6, lines.at_s)
    is_last = np.diff(lines.client, append=-1) != 0
    known = lines.is_answered | np.isnan(lines.before_s) | is_last
    places = np.arange(len(due_s))
    # What was skipped had been due by then, even if the next transaction was due much later
    due_s = np.minimum(lines.at_s, np.interp(places, places[known], due_s[known]))
    return _due(lines.at(wanted), due_s[wanted], np.nan_to_num(lines.lag[wanted]) / 1e6)


def _due(lines: Lines, due_s: Floats, lag_s: Floats) -> Due:
    """Return the lines with when their transactions began; those that failed began once their client was free."""
    # `fmax` passes over NaN: a client's first transaction has none before it
    return Due(lines, due_s, np.where(lines.is_answered, due_s + lag_s, np.fmax(due_s, lines.before_s)))


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
        self._busy: Due | None = None
        """Times in which transactions were due or under way, each by its first one: quiet seconds divide them."""

    def add(self, part: Due) -> None:
        """Take further transactions, later ones of each client."""
        lines = part.lines
        new = np.zeros(max(0, int(lines.client.max()) + 1 - len(self._begins)))
        self._begins, self._counts = np.append(self._begins, new), np.append(self._counts, new)
        self._ends = np.append(self._ends, new - np.inf)
        self.first_due_s = min(self.first_due_s, float(part.due_s.min()))
        self.last_begun_s = max(self.last_begun_s, float(part.begun_s.max()))
        self._first_begun_s = min(self._first_begun_s, float(part.begun_s.min()))
        self._last_due_s = max(self._last_due_s, float(part.due_s.max()))
        self._rows += len(lines.client)
        first = np.flatnonzero(np.diff(lines.client, prepend=-1))
        clients = lines.client[first]
        self._look_back(part)
        self._begins[clients] = np.where(self._counts[clients] > 0, self._begins[clients], part.begun_s[first])
        self._ends[clients] = np.maximum(self._ends[clients], np.maximum.reduceat(lines.at_s, first))
        self._counts[clients] += np.diff(first, append=len(lines.client))
        self._busy = _busy([self._busy, part] if self._busy else [part])

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

    def _look_back(self, part: Due) -> None:
        """Keep the first step back in time."""
        back_s = self._due_before.replaced(part.lines.client, part.due_s) - part.due_s
        if len(back := np.flatnonzero(back_s > SEAM_MAX_S)):
            index = int(back[0])
            step_back = int(part.lines.client[index]), float(back_s[index]), int(part.lines.line[index])
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
        if self._busy is None:
            return
        busy, due_s = self._busy.lines, self._busy.due_s
        gaps = due_s[1:] - busy.at_s[:-1]
        usual_s = (self._last_due_s - self.first_due_s) / max(1, self._rows - 1)
        if len(gaps) and gaps.max() > max(_QUIET_S, _QUIET_PERIODS * usual_s):
            defect = f"no client has an operation for {gaps.max():.3f} s before it"
            index = int(gaps.argmax()) + 1
            where = f"{names[busy.client[index]]}, line {busy.line[index]}"
            yield f"{where}: {defect} (lines are missing, or the clock jumped forward)"


def _busy(parts: Sequence[Due]) -> Due:
    """Return the first transaction of each time in which some are due or under way, with the last end of that time."""
    lines = Lines._make(map(np.concatenate, zip(*(part.lines for part in parts), strict=True)))
    due_s = np.concatenate([part.due_s for part in parts])
    begun_s = np.concatenate([part.begun_s for part in parts])
    due = Due(lines, due_s, begun_s).at(np.lexsort((lines.client, due_s)))
    ends = np.maximum.accumulate(due.lines.at_s)
    last = np.append(np.flatnonzero(due.due_s[1:] - ends[:-1] > _QUIET_S), len(ends) - 1)
    busy = due.at(np.append(0, last[:-1] + 1))
    return busy._replace(lines=busy.lines._replace(at_s=ends[last]))
