"""A load generator on the load hosts of a cluster."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import PurePosixPath
from typing import Literal

from plimsoll.domain.attempt.load_summary import BrokenRule, LoadSummary
from plimsoll.domain.attempt.status import LevelProgress, LoadPhase
from plimsoll.domain.campaign.specs import LoadSpec
from plimsoll.domain.keys.process import GeneratorSecond
from plimsoll.domain.keys.system import LoadGeneratorChoice
from plimsoll.domain.keys.timing import StopRule
from plimsoll.domain.keys.variant import Download
from plimsoll.domain.keys.workload import CQL, Workload
from plimsoll.domain.text.errors import LoadError, Problem
from plimsoll.ports.host import Host
from plimsoll.ports.provider import ExternalDatabase


@dataclass(frozen=True)
class LoadStatus:
    """The state of a load. `complete`: the run went to its planned end; `failed`: `reason` says why it did not."""

    state: Literal["running", "complete", "failed"]
    phase: LoadPhase = "populate"
    achieved_ops_s: float | None = None
    seconds_left: float | None = None
    errors: int | None = None
    """Operations that have failed since this phase or the one before it began; None where that is not known."""
    reason: str = ""
    note: str = ""
    """What the generator does while it has no rate to report: `connecting`."""
    levels: tuple[LevelProgress, ...] = ()
    """How the service levels fare so far; empty where that is not watched."""
    is_ready: bool = False
    """Whether everything before the timed run is done, and the load waits for its start."""
    stopped: BrokenRule | None = None
    """The stop rule that ended the load, or is ending it."""


@dataclass(frozen=True)
class LoadRequest:
    """One cell's load on a list of contact points, or one host's share of it.

    `load_ops_s` is the rate of all load hosts together. `protocol`: the one that clients of the cell's product speak.
    `part` of `parts`: the number of this share, from 1. With several parts, or where the load `waits`, the timed run
    starts when `LoadGenerator.begin` is called, after the caller has waited for the work that populating left. Unless
    it `populates`, an earlier load has left the rows. `database`: that of somebody else, to which the load goes; None:
    one that was deployed for it. `seed`: of whatever the generator draws at random. `own`: the name
    of what only this cell makes in an endpoint.
    """

    job_id: str
    spec: LoadSpec
    load_ops_s: int
    contact_points: Sequence[str]
    expires: timedelta
    part: int = 1
    parts: int = 1
    protocol: str = CQL
    waits: bool = False
    populates: bool = True
    database: ExternalDatabase | None = None
    seed: int = 1
    own: str = ""

    @property
    def own_ops_s(self) -> int:
        """Return this part's share of the rate. All shares add up to it."""
        share, rest = divmod(self.load_ops_s, self.parts)
        return share + (self.part <= rest)


_GRACE = timedelta(seconds=20)
"""The time that a generator gets to end, in which it flushes its logs."""


class LoadGenerator(ABC):
    """A program that runs one workload at one load level as a detached job. What only some can do has an answer here
    that says that this one can't.
    """

    name: str
    summary_files: Sequence[str]
    """Names of the collected files that `summary` reads."""
    progress_file = ""
    """Name of the collected file that `seconds` reads; empty where the generator keeps no account of its own state."""
    failures_file = ""
    """Name of the collected file with the times of failed operations; empty where the generator writes none."""
    can_end_early = False
    """Whether it can end a load once an interval has missed."""
    can_close_loop = False
    """Whether it can send operations in a closed loop."""
    can_go_on = False
    """Whether the generator can run on the rows that an earlier load has left, without populating."""
    can_wait = False
    """Whether it can wait for its start, and so share one load among several load hosts: `begin`."""
    can_sample = False
    """Whether it can write some of a workload's rows elsewhere, so that their size can be measured: `start_sample`."""
    logs_in = False
    """Whether it can load a database of somebody else that speaks CQL: by password and TLS, which no other program
    sees.
    """
    loads_endpoints = False
    """Whether it can load any other database that is there."""
    mend_of_unkept = "use plimsoll-stress, or remove the rule"
    """How people mend a definition with a rule that is `unkept`."""
    keyspace = ""
    """Where the rows of a load are, if it is known."""

    @abstractmethod
    def check(self, spec: LoadSpec) -> Sequence[Problem]:
        """Return problems of such a load with this generator, and its own missing artefacts."""

    def unchecked(self, spec: LoadSpec) -> Sequence[str]:
        """Name what `check` could not test from here, such as statements that are not understood."""
        return ()

    def downloads(self, spec: LoadSpec) -> Sequence[Download]:
        """Return what `prepare` downloads, here already or not. Fetches nothing."""
        return ()

    def prepare(self, spec: LoadSpec) -> None:  # noqa: B027 - some have nothing to prepare
        """Make in advance what loads would otherwise wait for. Idempotent. Raises ArtefactError."""

    def unkept(self, rule: StopRule, choice: LoadGeneratorChoice) -> str:
        """Explain why the generator can't end a load by that rule; empty where it can, though nobody watches it.

        Each of several load hosts holds its own share of the load against the rule. What breaks it on the whole breaks
        it on one of them, as a share of all operations is not above that of every host.
        """
        return "it goes on whatever happens to its operations"

    @abstractmethod
    def limits(self, spec: LoadSpec) -> Sequence[str]:
        """Name what the generator does not do or report for such a load. Without a full stop, for plan and report."""

    def written(self, spec: LoadSpec, loads: Sequence[int]) -> str:
        """Return in words what cells at these loads, ops/s, write into a database of somebody else. Pure."""
        return ""

    def processors(self, load_ops_s: int) -> float | None:
        """Return the least number of the load host's processors for such a load, as measured. None: never measured."""
        return None

    def unready(self, host: Host, spec: LoadSpec) -> str:
        """Explain why the generator can't run on that load host, asked before databases start; empty where it can."""
        return ""

    @abstractmethod
    def start(self, host: Host, request: LoadRequest) -> None:
        """Start the load, or attach to it if it was started before."""

    @abstractmethod
    def status(self, host: Host, job_id: str) -> LoadStatus:
        """Return the state of the load. A failed load is a status and not an exception."""

    def stop(self, host: Host, job_id: str) -> None:
        """Stop the load and let it flush its logs."""
        host.stop(job_id, grace=_GRACE)

    @abstractmethod
    def files(self, host: Host) -> Sequence[PurePosixPath]:
        """Return the paths of histogram logs, CSV, console output and summary."""

    @abstractmethod
    def describe(self, host: Host, spec: LoadSpec) -> str:
        """Return the generator's name, version and runtime, for the fingerprint."""

    @abstractmethod
    def summary(self, files: Mapping[str, str]) -> LoadSummary:
        """Return the summary in the collected `summary_files`, text by name. None: a run without summary. Pure."""

    def seconds(self, text: str) -> Sequence[GeneratorSecond]:
        """Return the generator's own state in each second of the timed run, from the collected progress file. Pure."""
        return ()

    @abstractmethod
    def response_time_logs(self, spec: LoadSpec, names: Iterable[str]) -> Mapping[str, str]:
        """Return the collected files to judge: operation (`reads`, `writes`) → file name. Pure.

        `all` stands for one file with all operations, which names them itself.
        """

    def settles(self, workload: Workload) -> bool:
        """Tell whether the timed run of that workload waits for the work that populating left."""
        return False

    def begin(self, host: Host, job_id: str, start: datetime, local: datetime) -> None:
        """Tell the load on that host, which is ready, when its timed run starts. Repeating the call has no effect.

        `start` is by the clock that the files of all load hosts use, `local` the same instant by this host's own clock.
        Raises LoadError where it can't wait.
        """
        raise LoadError(f"{self.name} can't share a load", where=job_id, mend="write `hosts: 1`")

    def end(self, host: Host, job_id: str, broken: BrokenRule) -> None:
        """End the timed run on that host as its own stop rule would: another host's share has broken that rule.

        Repeating the call has no effect. Raises LoadError where no rule can end it.
        """
        raise LoadError(f"{self.name} can't end a load by a rule", where=job_id, mend=self.mend_of_unkept)

    def with_rows(self, spec: LoadSpec, rows: int) -> LoadSpec:
        """Return the same with a workload that populates so many rows, and asks for these."""
        raise self._no_samples(f"{rows} rows of {spec.workload.name}")

    def start_sample(self, host: Host, request: LoadRequest, keyspace: str) -> None:
        """Write the request's part of the workload's rows into that keyspace, and nothing else.

        Attaches to a job of that id that was started before.
        """
        raise self._no_samples(f"{request.job_id} on {host.info.name}, into {keyspace}")

    def sample_status(self, host: Host, job_id: str) -> LoadStatus:
        """Tell how far that is."""
        raise self._no_samples(f"{job_id} on {host.info.name}")

    def _no_samples(self, where: str) -> LoadError:
        mend = "give the number of rows instead of `data_per_node`"
        return LoadError(f"{self.name} writes no samples of rows", where=where, mend=mend)
