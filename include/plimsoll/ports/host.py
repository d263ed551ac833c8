"""A host of a cluster: run commands, keep files, hold detached jobs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path, PurePosixPath
from typing import Literal, Protocol, runtime_checkable

from plimsoll.domain.clocks import ClockReading
from plimsoll.domain.cluster import HostInfo
from plimsoll.domain.fingerprint import HostFacts
from plimsoll.ports.store import StoredFile, UploadTicket


@dataclass(frozen=True)
class CommandResult:
    """A finished command."""

    exit_code: int
    stdout: str
    stderr: str


@dataclass(frozen=True)
class Job:
    """A detached process with a deterministic id: started once, found again by anyone who knows the id.

    `stdout` and `stderr` go to `jobs/<id>.log` below the host's root. `expires` ends it whatever happens to its owner.
    `owns` is a folder that no other job may own while this one runs, such as a database's data: a second is refused.
    """

    id: str
    argv: Sequence[str]
    expires: timedelta
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: PurePosixPath | None = None
    owns: PurePosixPath | None = None


@dataclass(frozen=True)
class JobStatus:
    """`exit_code` is None unless `state` is `exited`; None there too where the job was killed from outside."""

    state: Literal["missing", "running", "exited"]
    exit_code: int | None = None


class Host(Protocol):
    """One host. Every method raises HostError with the host's name, and has a timeout of its own."""

    info: HostInfo
    root: PurePosixPath
    """The host's own folder: everything Plimsoll leaves there lies below it."""

    def run(self, argv: Sequence[str], *, timeout: timedelta, check: bool = True) -> CommandResult:
        """Run to the end; HostError on a non-zero exit unless `check` is false."""

    def install(self, bundle: Path) -> PurePosixPath:
        """Make a local folder of artefacts available on the host; returns where it lies there. Idempotent."""

    def write(self, path: PurePosixPath, content: str) -> None:
        """Write a text file whole, with its folders."""

    def read_tail(self, path: PurePosixPath, *, max_bytes: int) -> str:
        """The last bytes of a text file; empty where there is none."""

    def files(self, folder: PurePosixPath) -> tuple[PurePosixPath, ...]:
        """All files below a folder, sorted; none where there is no folder."""

    def fetch(self, path: PurePosixPath, destination: Path) -> None:
        """Copy a file from the host to the controller."""

    def start(self, job: Job) -> None:
        """Start the job, or do nothing if a job of that id was started before, even if it has ended."""

    def status(self, job_id: str) -> JobStatus:
        """What became of a job."""

    def stop(self, job_id: str, *, grace: timedelta) -> None:
        """Ask the job to end, after `grace` make it. Ended or missing is no error."""

    def free_port(self) -> int:
        """A TCP port that nobody listens on."""

    def facts(self) -> HostFacts:
        """Hardware and system as the host reports them."""

    def clock(self) -> ClockReading:
        """How the host's clock differs from the controller's, and how exactly that is known."""


SENT, TAKEN = "stored", "taken"


@runtime_checkable
class SendingHost(Host, Protocol):
    """A host that can bring its files to a store itself."""

    def measure(self, paths: Sequence[PurePosixPath]) -> Mapping[PurePosixPath, StoredFile]:
        """Size and sha256 of each as far as it is written by now; what can't be read is left out."""

    def send(self, tickets: Mapping[PurePosixPath, UploadTicket]) -> Mapping[PurePosixPath, str]:
        """Store each by its ticket, as many bytes as were measured.

        `SENT`, `TAKEN` where the store had one of that key, or why not, of each.
        """
