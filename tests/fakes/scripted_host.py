"""A folder that plays a host whose jobs and commands do what a test says."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path

from tests.fakes.hosts import FolderHost

from plimsoll.domain.hosts.cluster import HostInfo
from plimsoll.domain.text.errors import HostError
from plimsoll.ports.host import CommandResult, Job, JobStatus

Command = Callable[[Sequence[str]], CommandResult]


def silent(_: Sequence[str]) -> CommandResult:
    """Return a command that succeeds and prints nothing."""
    return CommandResult(0, "", "")


def _idle(_: Job) -> None:
    """Do nothing yet, as a job."""


class ScriptedHost(FolderHost):
    """Started jobs run until a test sets `statuses`; `on_start` is what a job does at once; `command` answers `run`."""

    def __init__(self, folder: Path, info: HostInfo) -> None:
        super().__init__(folder, info)
        self.jobs: dict[str, Job] = {}
        self.statuses: dict[str, JobStatus] = {}
        self.stopped: list[str] = []
        self.commands: list[Sequence[str]] = []
        self.command: Command = silent
        self.on_start: Callable[[Job], None] = _idle

    def run(self, argv: Sequence[str], *, timeout: timedelta, check: bool = True, stdin: str = "") -> CommandResult:
        """Return the result of `command`."""
        self.commands.append(argv)
        result = self.command(argv)
        if check and result.exit_code != 0:
            raise HostError(f"exit code {result.exit_code}: {result.stderr}", where=self.info.name)
        return result

    def start(self, job: Job) -> None:
        """Start the job once for each id."""
        if job.id not in self.jobs:
            self.jobs[job.id] = job
            self.statuses[job.id] = JobStatus("running")
            self.on_start(job)

    def status(self, job_id: str) -> JobStatus:
        """Return the status that a test set."""
        return self.statuses.get(job_id, JobStatus("missing"))

    def stop(self, job_id: str, *, grace: timedelta) -> None:
        """Note the call."""
        self.stopped.append(job_id)
