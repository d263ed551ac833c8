"""A load generator on the load host of a cluster."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import PurePosixPath
from typing import Literal, Protocol, runtime_checkable

from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import Problem
from plimsoll.domain.happening import GeneratorSecond
from plimsoll.domain.load_summary import LoadSummary
from plimsoll.domain.progress import LoadPhase
from plimsoll.ports.host import Host


@dataclass(frozen=True)
class LoadStatus:
    """How far the load is. `state` complete means: the run is whole; failed: `reason` says why it is not."""

    state: Literal["running", "complete", "failed"]
    phase: LoadPhase = "populate"
    achieved_ops_s: float | None = None
    seconds_left: float | None = None
    errors: int | None = None
    """Operations that have failed since the phase began, or the one before it; None where that is not known."""
    reason: str = ""
    note: str = ""
    """What it does while it has no rate to tell: `connecting`."""
    is_ready: bool = False
    """Whether all is done that comes before the timed run, and it waits to be told when to start."""


@dataclass(frozen=True)
class LoadRequest:
    """One cell's load against a list of contact points; of several load hosts, the share of one.

    `load_ops_s` is the rate of all load hosts together. `part` of `parts`: which of them it is, from 1. Where there are
    several, and where it `waits`, the timed run starts when `SplitLoadGenerator.begin` says: whoever says it has waited
    for what populating left to do.
    """

    job_id: str
    definition: Definition
    load_ops_s: int
    contact_points: Sequence[str]
    expires: timedelta
    part: int = 1
    parts: int = 1
    waits: bool = False


class LoadGenerator(Protocol):
    """Runs one workload at one load level as a detached job."""

    name: str
    summary_files: Sequence[str]
    """Names of the collected files that `summary` reads."""
    progress_file: str
    """Name of the collected file that `seconds` reads."""

    def check(self, definition: Definition) -> Sequence[Problem]:
        """What of the definition's workload the generator can't do, and missing artefacts."""

    def limits(self, definition: Definition) -> Sequence[str]:
        """What it does not do or tell of such a load, in sentences without a full stop: shown with plan and report."""

    def processors(self, load_ops_s: int) -> float | None:
        """How many processors of the load host such a load takes at least, as was measured; None: it never was."""

    def unready(self, host: Host) -> str:
        """Why it can't run on that load host, asked before the database is started; empty where it can."""

    def start(self, host: Host, request: LoadRequest) -> None:
        """Start the load, or attach to it if it was started before."""

    def status(self, host: Host, job_id: str) -> LoadStatus:
        """How far it is; never raises for a load that failed."""

    def stop(self, host: Host, job_id: str) -> None:
        """End the load and let it flush its logs."""

    def files(self, host: Host) -> Sequence[PurePosixPath]:
        """Histogram logs, CSV, console, summary."""

    def describe(self, host: Host) -> str:
        """Name, version and what it runs on, for the fingerprint."""

    def summary(self, files: Mapping[str, str]) -> LoadSummary:
        """What the collected ones of `summary_files` say, text by name; of none, that the run left none. Pure."""

    def seconds(self, text: str) -> Sequence[GeneratorSecond]:
        """The generator's own state, second by second of the timed run, as the collected progress file says. Pure."""

    def response_time_logs(self, names: Iterable[str]) -> Mapping[str, str]:
        """Of collected file names, those that are judged: operation (`reads`, `writes`) → name. Pure.

        `all`: one file for all operations, which names them itself.
        """


@runtime_checkable
class SplitLoadGenerator(LoadGenerator, Protocol):
    """A load generator that can share one load among several load hosts, which start together."""

    def begin(self, host: Host, job_id: str, start: datetime, local: datetime) -> None:
        """Tell the load on that host, which is ready, when its timed run starts. Told again, it does nothing else.

        `start` is by the clock that all load hosts' files go by, `local` the same instant by this host's own clock.
        """
