"""What every format's reader returns: the measurements of a run, as far as its files hold them, and remarks on them."""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Protocol

from plimsoll.analysis.logs.formats.selection import LeftOut
from plimsoll.analysis.logs.hdr.histogram_layout import Unit
from plimsoll.analysis.logs.operations import Failures, Track
from plimsoll.analysis.logs.unpacking import GZIP, in_utf8, unpacked
from plimsoll.domain.errors import LogError

_HEAD_BYTES = 1 << 16


@dataclass(frozen=True)
class RunFile:
    """A file on disk, plain or gz; `name` is for messages, and for formats whose file names have a meaning."""

    name: str
    data: bytes

    @cached_property
    def head(self) -> str:
        """Return the beginning of the file's text, long enough to tell its format."""
        try:
            plain = (
                zlib.decompressobj(wbits=31).decompress(self.data, _HEAD_BYTES)
                if self.data.startswith(GZIP)
                else self.data[:_HEAD_BYTES]
            )
        except zlib.error:  # whoever reads the file says so
            plain = b""
        return in_utf8(plain).decode(errors="replace")

    @cached_property
    def text(self) -> str:
        """Return the whole text of the file. Raises LogError when a gz is damaged."""
        return unpacked(self.data, self.name)[0].decode(errors="replace")


def cut_line_note(name: str, line: int) -> str:
    """Return the remark on a file's last line that is cut short, and so left out."""
    return f"{name}, line {line}: the last line is cut short (was its writer killed?); the lines before it count"


def only_one(files: Sequence[RunFile], what: str) -> RunFile:
    """Return the one file of a tool that writes a file for each run; `what`: what several are called.

    Raises LogError where there are several.
    """
    if len(files) > 1:
        where = ", ".join(file.name for file in files)
        raise LogError(f"are several {what}, each of a run of its own", where=where, mend="judge them one by one")
    return files[0]


@dataclass(frozen=True)
class ReadOptions:
    """The user's statements about the files.

    `unit`: the unit of the histograms' values. `kinds`: names of operations that are reads or writes. `tags`: the tags
    to judge in logs with tags; all of them where it is empty. `columns`: what the columns of a log of operations hold.
    """

    unit: Unit | None = None
    kinds: Mapping[str, str] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Sample:
    """The figures of one operation over a stretch of time: `values_ms` by percentile, in ms; 100 is the maximum.

    `operation`: `reads`, `writes` or the operation's own name; `series`: the tool's name of what was measured, by which
    samples of several operations of one kind are told apart. `off_ms`: how far a value may be from the true one, as its
    writer rounds.
    """

    start_s: float
    length_s: float
    operation: str
    count: int
    values_ms: Mapping[float, float]
    series: str = ""
    off_ms: Mapping[float, float] = field(default_factory=dict)


@dataclass(frozen=True)
class WholeRun:
    """The figures of one operation over a whole run, warm-up included: `values_ms` by percentile, in ms."""

    operation: str
    count: int
    values_ms: Mapping[float, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Reading:
    """The content of one run's files.

    `tracks`: histograms over time, with values in `unit`, and `unit_why` says why that unit is taken; any service level
    can be judged by them. `left_out`: records that are not judged, such as a worse measure of the same operations.
    `samples`: percentiles over time; a service level can be judged as far as they decide it. `whole_run`: figures
    without time.
    `obstacles` say why files can't be judged; `notes` name each pitfall of the format that these files contain.
    `errors`: operations of the whole run that were not answered, by kind, None where the files don't tell; the same
    holds for `attempted_ops_s` and `started_at`. `failures`: those of them whose times are known. `own_lag_p99_ms`: how
    late the load generator began what was due and could begin, 99th percentile; None where the files don't tell.
    """

    title: str
    tracks: tuple[Track, ...] = ()
    unit: Unit = "us"
    unit_why: str = ""
    left_out: tuple[LeftOut, ...] = ()
    samples: tuple[Sample, ...] = ()
    whole_run: tuple[WholeRun, ...] = ()
    obstacles: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    errors: Mapping[str, int] | None = None
    failures: tuple[Failures, ...] = ()
    attempted_ops_s: float | None = None
    own_lag_p99_ms: float | None = None
    started_at: datetime | None = None


class Format(Protocol):
    """The output of one tool: how to recognise its content, and how to read it. Pure."""

    name: str
    """The format's name for `--format`."""

    title: str
    """The format's name for people."""

    def recognises(self, file: RunFile) -> bool:
        """Tell whether the file's content is of this format."""

    def read(self, files: Sequence[RunFile], options: ReadOptions) -> Reading:
        """Read the files of one run. Raises LogError on content that can't be read."""
