"""The lines of pgbench's logs of transactions, as numbers, a chunk at a time: each pass over them reads them anew.

Logs have every transaction if clients are numbered from 0 on, and so are each one's transactions.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from plimsoll.analysis.logs.formats.reading import RunFile, cut_line_note
from plimsoll.analysis.logs.hdr.histograms import Ints
from plimsoll.analysis.logs.operations import Floats
from plimsoll.analysis.logs.unpacking import unpacked
from plimsoll.domain.text.errors import LogError

if TYPE_CHECKING:
    import pandas as pd

FAILED = ("skipped", "failed", "serialization", "deadlock", "other")
LINE = re.compile(rf"\d+ \d+ (\d+|{'|'.join(FAILED)}) \d+ \d{{9,11}} \d{{1,6}}( \d+){{0,2}}\r?(\n|$)")
_COLUMNS = ("client", "number", "took", "script", "second", "microsecond", "lag", "tries")
_CHUNK = 1 << 15
"""Lines that are in memory at once."""
MEND = "give the whole logs of all threads of one run (`--log`), without `--sampling-rate`"
MEND_RUN = f"{MEND}; where a client gave up, pgbench's console says why, and the run is no measurement"
_MANY, _NAMED = 20, 5
"""So many lines for each client, and each has its own; so many clients are named."""

Flags = npt.NDArray[np.bool_]


class Lines(NamedTuple):
    """Some lines, each client's together and in the order written.

    `client`: its place among those of the run. `step`: how far `number` is from that of the client's line before, whose
    end is `before_s`; both are NaN of its first line. `us`: NaN where the transaction failed, and then `kind` is the
    place in `FAILED`, else -1. `at_s`: its end. `lag` and `tries` are NaN where the log has no such column.
    """

    client: Ints
    line: Ints
    number: Ints
    step: Floats
    script: Ints
    us: Floats
    kind: Ints
    at_s: Floats
    before_s: Floats
    lag: Floats
    tries: Floats

    @property
    def is_answered(self) -> Flags:
        return self.kind < 0

    def at(self, places: Ints | Flags) -> "Lines":
        return Lines._make(column[places] for column in self)

    def then(self, others: "Lines") -> "Lines":
        """Return these lines and later ones, each client's together."""
        merged = Lines._make(map(np.concatenate, zip(self, others, strict=True)))
        return merged.at(np.argsort(merged.client, kind="stable"))


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


@dataclass
class RunLines:
    """The logs of all threads of a run. `clients`: file and number of each client, known once all lines were read."""

    files: Sequence[RunFile]
    clients: dict[tuple[int, int], int] = field(default_factory=dict, init=False)
    notes: list[str] = field(default_factory=list, init=False)
    _whole: list[bytes] = field(init=False)

    def __post_init__(self) -> None:
        """Unpack the logs. Raises LogError on one without a whole line; a cut line is left out and noted."""
        self._whole = [_whole_lines(file, self.notes) for file in self.files]

    def chunks(self) -> Iterator[Lines]:
        """Yield all lines. Raises LogError on one that pgbench does not write."""
        import pandas as pd  # late: no other format needs it

        ends, numbers = Before(), Before()
        for index, (file, data) in enumerate(zip(self.files, self._whole, strict=True)):
            for chunk in pd.read_csv(BytesIO(data), sep=" ", names=_COLUMNS, index_col=False, chunksize=_CHUNK):
                read = _lines(chunk, file.name)
                client = self._places(index, read.client)
                lines = read._replace(client=client).at(np.argsort(client, kind="stable"))
                yield lines._replace(
                    step=lines.number - numbers.replaced(lines.client, lines.number.astype(np.float64)),
                    before_s=ends.replaced(lines.client, lines.at_s),
                )

    def names(self) -> list[str]:
        """Return a name for people of each client, by its file and number."""
        return [f"{self.files[file].name}, client {client}" for file, client in self.clients]

    def where(self, client: int, line: int) -> str:
        """Return for people where a client's line is."""
        file, _ = list(self.clients)[client]
        return f"{self.files[file].name}, line {line}"

    def refuse_twins(self) -> None:
        """Raise LogError where a log is given twice, or with a part of itself."""
        for index, (file, log) in enumerate(zip(self.files, self._whole, strict=True)):
            for other, twin in zip(self.files[:index], self._whole[:index], strict=True):
                if log.startswith(twin) or twin.startswith(log):
                    what = f"holds the same transactions as {other.name}"
                    raise LogError(what, where=file.name, mend="give each log once")

    def _places(self, file: int, numbers: Ints) -> Ints:
        clients, first, inverse = np.unique(numbers, return_index=True, return_inverse=True)
        for number in clients[np.argsort(first)].tolist():
            self.clients.setdefault((file, number), len(self.clients))
        return np.array([self.clients[file, number] for number in clients.tolist()], dtype=np.int64)[inverse]


def _whole_lines(file: RunFile, notes: list[str]) -> bytes:
    data, _ = unpacked(file.data, file.name)
    whole = data[: data.rfind(b"\n") + 1]
    if not whole.strip():
        raise LogError("holds no transaction", where=file.name, mend=MEND)
    if len(whole) < len(data):
        notes.append(cut_line_note(file.name, whole.count(b"\n") + 1))
    return whole


def _lines(table: "pd.DataFrame", name: str) -> Lines:
    """Return the lines as numbers, in the order written and with the clients' own numbers, without what depends on
    lines before. Raises LogError on a damaged one.
    """
    us, kind = _outcomes(table["took"])
    damaged = (table[list(_COLUMNS[:6])].isna().any(axis=1) | (np.isnan(us) & (kind < 0))).to_numpy()
    if damaged.any():
        where = f"{name}, line {table.index[int(damaged.argmax())] + 1}"
        raise LogError("is no line of pgbench's", where=where, mend=MEND)
    at_s = (table["second"] + table["microsecond"] / 1e6).to_numpy(dtype=np.float64)
    client, number, script = (table[column].to_numpy(dtype=np.int64) for column in ("client", "number", "script"))
    lag, tries = (table[column].to_numpy(dtype=np.float64) for column in ("lag", "tries"))
    line = table.index.to_numpy(dtype=np.int64) + 1
    return Lines(client, line, number, at_s, script, us, kind, at_s, at_s, lag, tries)


def _outcomes(took: "pd.Series[str]") -> tuple[Floats, Ints]:
    """Return the times in µs and the kinds of failures. Most chunks have numbers alone."""
    import pandas as pd

    us: Floats
    kind: Ints
    if pd.api.types.is_integer_dtype(took):
        us, kind = took.to_numpy(dtype=np.float64), np.full(len(took), -1)
    else:
        words = took.astype(str)
        us = pd.to_numeric(words, errors="coerce").to_numpy(dtype=np.float64)
        kind = pd.Index(FAILED).get_indexer(pd.Index(words)).astype(np.int64)
    return us, kind


class Numbers:
    """The numbers of a run's transactions and clients."""

    def __init__(self) -> None:
        self._lines = 0
        self._steps: Counter[float] = Counter()
        self._first: dict[float, tuple[int, int, int]] = {}
        """By step, where it is first: client, line and number."""

    def add(self, lines: Lines) -> None:
        self._lines += len(lines.line)
        known = np.flatnonzero(~np.isnan(lines.step))
        steps, first, counts = np.unique(lines.step[known], return_index=True, return_counts=True)
        for step, index, count in zip(steps.tolist(), known[first].tolist(), counts.tolist(), strict=True):
            if step in self._first or len(self._first) < 1000:  # a whole log has one
                self._steps[step] += count
                seen = int(lines.client[index]), int(lines.line[index]), int(lines.number[index])
                self._first[step] = min(self._first.get(step, seen), seen)

    def require_all(self, run: RunLines) -> None:
        """Raise LogError where numbers do not follow one another, or where a client has no line among so many."""
        usual = _median(self._steps)
        if odd := [seen for step, seen in self._first.items() if step != usual]:
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
