"""What every format gives: a run's measurements, as far as its files hold them, with everything to know about them."""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Protocol

from plimsoll.analysis.layout import Unit
from plimsoll.analysis.operations import Track
from plimsoll.analysis.unpacking import GZIP, unpacked

_HEAD_BYTES = 1 << 16


@dataclass(frozen=True)
class RunFile:
    """A file as it lies on disk, plain or gz; `name` is for messages, and for formats that say something in it."""

    name: str
    data: bytes

    @cached_property
    def head(self) -> str:
        """The beginning of its text, enough to tell its format by."""
        try:
            plain = (
                zlib.decompressobj(wbits=31).decompress(self.data, _HEAD_BYTES)
                if self.data.startswith(GZIP)
                else self.data[:_HEAD_BYTES]
            )
        except zlib.error:  # whoever reads the file says so
            plain = b""
        return plain.decode(errors="replace")

    @cached_property
    def text(self) -> str:
        """All of its text. LogError when a gz is damaged."""
        return unpacked(self.data, self.name)[0].decode(errors="replace")


@dataclass(frozen=True)
class Asked:
    """What the user says of the files.

    `unit` of histograms' values; `kinds`: names of operations that are reads or writes; `tags`: of logs with tags,
    those to judge, all where none is named.
    """

    unit: Unit | None = None
    kinds: Mapping[str, str] = field(default_factory=dict)
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sample:
    """Figures of one operation over a stretch of time: `values_ms` by percentile, in ms; 100 is the maximum."""

    start_s: float
    length_s: float
    operation: str
    count: int
    values_ms: Mapping[float, float]


@dataclass(frozen=True)
class WholeRun:
    """Figures of one operation over a whole run, warm-up included; `values_ms` by percentile, in ms."""

    operation: str
    count: int
    values_ms: Mapping[float, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Reading:
    """A run as its files give it.

    `tracks`: histograms over time, values in `unit`: everything can be judged. `samples`: percentiles over time: what
    they decide is judged. `whole_run`: figures without time. `obstacles` say why files can't be judged, `notes` name
    each trap of the format that these files hold. `errors` are failed operations of the whole run by kind, None where
    the files don't tell; `attempted_ops_s` and `started_at` likewise.
    """

    title: str
    tracks: tuple[Track, ...] = ()
    unit: Unit = "us"
    samples: tuple[Sample, ...] = ()
    whole_run: tuple[WholeRun, ...] = ()
    obstacles: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    errors: Mapping[str, int] | None = None
    attempted_ops_s: float | None = None
    started_at: datetime | None = None


class Format(Protocol):
    """What one tool writes: how to know it by its content, and how to read it. Pure."""

    name: str
    """For `--format`."""

    title: str
    """For people."""

    def recognises(self, file: RunFile) -> bool:
        """Whether the file is of this format, by its content."""

    def read(self, files: Sequence[RunFile], asked: Asked) -> Reading:
        """The files of one run. LogError on what can't be read."""
