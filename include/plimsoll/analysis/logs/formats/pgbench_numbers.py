"""Whether pgbench's logs have every transaction: clients are numbered from 0 on, and so are each one's transactions."""

from collections import Counter

import numpy as np

from plimsoll.analysis.logs.formats.pgbench_lines import MEND, Lines, RunLines
from plimsoll.domain.errors import LogError

MEND_RUN = f"{MEND}; where a client gave up, pgbench's console says why, and the run is no measurement"
_MANY, _NAMED = 20, 5
"""So many lines for each client, and each has its own; so many clients are named."""
_MOST_STEPS = 1000
"""Different steps between a client's numbers that are kept: a whole log has one."""


class Numbers:
    """The numbers of a run's transactions and clients."""

    def __init__(self) -> None:
        self._lines = 0
        self._steps: Counter[float] = Counter()
        self._first: dict[float, tuple[int, int, int]] = {}
        """By step, where it is first: client, line and number."""

    def add(self, lines: Lines) -> None:
        """Take further lines."""
        self._lines += len(lines.line)
        known = np.flatnonzero(~np.isnan(lines.step))
        steps, first, counts = np.unique(lines.step[known], return_index=True, return_counts=True)
        for step, place, count in zip(steps.tolist(), known[first].tolist(), counts.tolist(), strict=True):
            if step in self._first or len(self._first) < _MOST_STEPS:
                self._steps[step] += count
                found = int(lines.client[place]), int(lines.line[place]), int(lines.number[place])
                self._first[step] = min(self._first.get(step, found), found)

    def require_all(self, run: RunLines) -> None:
        """Raise LogError where numbers do not follow one another, or where a client has no line among so many."""
        usual = _median(self._steps)
        if odd := [found for step, found in self._first.items() if step != usual]:
            client, line, number = min(odd)
            what = f"transaction {number} of client {list(run.clients)[client][1]} does not follow the one before"
            raise LogError(f"{what}: lines are missing, or of several runs", where=run.where(client, line), mend=MEND)
        numbers = {number for _, number in run.clients}
        missing = sorted(set(range(max(numbers) + 1)) - numbers) if self._lines > _MANY * max(numbers) else []
        if missing:
            clients = ", ".join(map(str, missing[:_NAMED]))
            what = f"holds no transaction of client {clients}: the log of a thread is missing, or they gave up at once"
            raise LogError(what, where=run.files[0].name, mend=MEND_RUN)


def _median(counts: Counter[float]) -> float | None:
    """Return the median of numbers, by how often each is there."""
    if not counts:
        return None
    values = np.array(sorted(counts))
    reached = np.cumsum([counts[value] for value in values.tolist()])
    middle = np.searchsorted(reached, [(reached[-1] - 1) // 2, reached[-1] // 2], side="right")
    return float(values[middle].mean())
