"""Java's HdrHistogram, compiled and run as the reference for figures and for speed."""

import hashlib
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from plimsoll.adapters.artefacts import Artefacts
from plimsoll.adapters.artefacts.cache import Cache
from plimsoll.adapters.artefacts.maven import jar_folder, locked_set
from plimsoll.settings import Settings

JDK_ID = "openjdk-11.0.13"
_SOURCE = Path(__file__).parent / "java" / "IntervalPercentiles.java"
_TIMEOUT_S = 120


class JavaInterval(NamedTuple):
    """One interval of one log (or of `all`): counts, and values in the log's own unit."""

    interval: int
    log: str
    total: int
    p50: int
    p90: int
    p99: int
    p99_9: int
    maximum: int


@dataclass(frozen=True)
class JavaReference:
    """The compiled program and its libraries, in Plimsoll's cache."""

    cache: Path

    @classmethod
    def of_settings(cls) -> "JavaReference":
        """Return the program in the cache that Plimsoll itself uses."""
        return cls(Settings().cache)

    def command(self, warmup_s: float, interval_s: float, units_per_ms: int, logs: Sequence[str]) -> list[str]:
        """Return the program's command line; a log is `FILE` or `FILE@TAG`."""
        class_path = f"{self._classes}:{self._library}"
        return [self._java, "-cp", class_path, _SOURCE.stem, f"{warmup_s}", f"{interval_s}", f"{units_per_ms}", *logs]

    def intervals(
        self, warmup_s: float, interval_s: float, units_per_ms: int, logs: Sequence[str]
    ) -> list[JavaInterval]:
        """Run the program. Raises CalledProcessError, with its output, when it fails."""
        argv = self.command(warmup_s, interval_s, units_per_ms, logs)
        return parse(subprocess.run(argv, check=True, capture_output=True, text=True, timeout=_TIMEOUT_S).stdout)

    @cached_property
    def _java(self) -> str:
        return str(self._artefacts.jdk(JDK_ID).java)

    @cached_property
    def _library(self) -> Path:
        return next(self._jars("load-generator").glob("HdrHistogram-*.jar"))

    @cached_property
    def _classes(self) -> Path:
        key = hashlib.sha256(_SOURCE.read_bytes() + str(self._library).encode()).hexdigest()[:12]
        return Cache(self.cache, _print).sealed(f"derived/interval-percentiles-{key}", self._compile)

    @cached_property
    def _artefacts(self) -> Artefacts:
        return Artefacts(self.cache, log=_print)

    def _compile(self, folder: Path) -> None:
        compiler = next(self._jars("ecj").glob("ecj-*.jar"))
        options = ["-11", "-proc:none", "-nowarn", "-cp", str(self._library), "-d", str(folder)]
        subprocess.run([self._java, "-jar", str(compiler), *options, str(_SOURCE)], check=True, timeout=_TIMEOUT_S)

    def _jars(self, name: str) -> Path:
        locked = locked_set(name)
        assert locked is not None, f"there is no lock file for {name}"
        return jar_folder(Cache(self.cache, _print), locked)


def parse(text: str) -> list[JavaInterval]:
    """Return the intervals in the program's output."""
    rows = (line.split(" ") for line in text.splitlines())
    return [JavaInterval(int(interval), log, *map(int, values)) for interval, log, *values in rows]


def _print(text: str) -> None:
    print(text, file=sys.stderr)
