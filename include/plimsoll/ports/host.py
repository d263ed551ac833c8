"""A host of a cluster: run commands, keep files, hold detached jobs; samples of it while a cell runs, and a short
check.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path, PurePosixPath
from typing import Literal, Protocol, TypeVar

from plimsoll.domain.attempt.load_summary import ClockReading
from plimsoll.domain.hosts.cluster import HostInfo
from plimsoll.domain.hosts.fingerprint import HostFacts
from plimsoll.domain.keys.host_bounds import HostActivity, HostFigures
from plimsoll.ports.store import StoredFile, UploadTicket

_S = TypeVar("_S")
_T = TypeVar("_T")
MOST_OUTPUT_BYTES = 64 << 20
"""The greatest size of each of a command's two outputs. A node's answers have some 100 KB."""
MOST_FILE_BYTES = 1 << 30
"""The greatest size of a file. The log of 150 minutes has some 100 MB."""
MOST_FILES = 10_000
MOST_INPUT_BYTES = 1 << 16
"""The greatest size of a job's standard input: what a pipe holds while nobody reads it."""


@dataclass(frozen=True)
class CommandResult:
    """A finished command."""

    exit_code: int
    stdout: str
    stderr: str


@dataclass(frozen=True)
class Job:
    """A detached process with a deterministic id. It is started once, and anybody who knows the id can find it again.

    `stdout` and `stderr` go to `jobs/<id>.log` below the host's root. At `expires` the job is ended, whatever happens
    to its owner. `owns` is a folder that no other job may own while this one runs, such as a database's data; starting
    a second such job is refused. `stdin` is what the program reads from its standard input, at most `MOST_INPUT_BYTES`:
    the place for secrets, as no file, command line or environment has it.
    """

    id: str
    argv: Sequence[str]
    expires: timedelta
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: PurePosixPath | None = None
    owns: PurePosixPath | None = None
    stdin: str = field(default="", repr=False)


@dataclass(frozen=True)
class JobStatus:
    """The state of a job. `exit_code` is set only if `state` is `exited`, not if the job was killed from outside."""

    state: Literal["missing", "running", "exited"]
    exit_code: int | None = None


STORED, TAKEN = "stored", "taken"


class Host(Protocol):
    """One host. Every method has a timeout of its own, and raises HostError with the host's name."""

    info: HostInfo
    root: PurePosixPath
    """The host's own folder: all of Plimsoll's files on it lie below."""

    def run(self, argv: Sequence[str], *, timeout: timedelta, check: bool = True, stdin: str = "") -> CommandResult:
        """Run a command to its end. `stdin` as of a Job.

        Raises HostError on a non-zero exit code unless `check` is false, and for output beyond `MOST_OUTPUT_BYTES`.
        """

    def install(self, bundle: Path) -> PurePosixPath:
        """Make a local folder of artefacts available on the host, and return its path there. Idempotent."""

    def write(self, path: PurePosixPath, content: str) -> None:
        """Write a whole text file and its parent folders."""

    def read_tail(self, path: PurePosixPath, *, max_bytes: int) -> str:
        """Return the last bytes of a text file; empty where there is none."""

    def files(self, folder: PurePosixPath) -> tuple[PurePosixPath, ...]:
        """Return all files below a folder, sorted; empty without the folder. HostError for more than `MOST_FILES`."""

    def fetch(self, path: PurePosixPath, destination: Path) -> None:
        """Copy a file from the host to the controller. HostError for more than `MOST_FILE_BYTES`."""

    def start(self, job: Job) -> None:
        """Start the job. Does nothing if a job with that id was started before, even if that one has ended."""

    def status(self, job_id: str) -> JobStatus:
        """Return the state of a job."""

    def stop(self, job_id: str, *, grace: timedelta) -> None:
        """Ask the job to end, and kill it after `grace`. A job that has ended or does not exist is no error."""

    def free_port(self) -> int:
        """Return a TCP port on which nothing listens."""

    def facts(self) -> HostFacts:
        """Return hardware and operating system, as the host reports them."""

    def clock(self) -> ClockReading:
        """Return the difference between the host's clock and the controller's, with its uncertainty."""

    def measure(self, paths: Sequence[PurePosixPath]) -> Mapping[PurePosixPath, StoredFile] | None:
        """Return size and sha256 of each file as far as it is written now; None where the host can't upload files.

        Unreadable files, and files of more than `MOST_FILE_BYTES`, are left out.
        """
        return None

    def upload(self, tickets: Mapping[PurePosixPath, UploadTicket]) -> Mapping[PurePosixPath, str]:
        """Upload each file directly to a store with its ticket, as many bytes as were measured.

        The result for each file is `STORED`, `TAKEN` where the store had a file with that key, or the reason why it
        failed.
        """
        return {}


class HostSampler(Protocol):
    """A detached job that writes a line of figures about its host every second."""

    def start(
        self,
        host: Host,
        expires: timedelta,
        environments: frozenset[str] = frozenset(),
        database: Sequence[str] = (),
    ) -> None:
        """Start sampling that host, or leave the sampler that runs.

        `environments` are the attempt's own on kept hosts: the cluster's other processes count as other programs. Empty
        where the whole cluster is the attempt's. `database`: port and addresses of one that somebody else runs, which
        counts as the attempt's where it runs on that host.
        """

    def look(self, host: Host, environments: frozenset[str] = frozenset()) -> HostActivity | None:
        """Measure what the host is busy with now, over some seconds, besides these environments. None: unknown."""

    def files(self, host: Host) -> Sequence[PurePosixPath]:
        """Return the paths of the files with the samples."""


class HostCanary(Protocol):
    """A check of CPU, disk and network of a cluster's hosts within seconds, before anything else runs there."""

    def examine(self, hosts: Sequence[Host]) -> Sequence[HostFigures]:
        """Return the figures of each host, in the order given. Raises HostError where a host can't be measured."""


def at_once(hosts: Sequence[_S], work: Callable[[_S], _T]) -> list[_T]:
    """Call the function for all hosts at the same time. The first error is raised after all calls have ended."""
    # A host that does not answer must not hold up others, however many they are; a pool of 0 workers is refused
    with ThreadPoolExecutor(max(1, len(hosts))) as pool:
        return list(pool.map(work, hosts))
