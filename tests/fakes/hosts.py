"""A host that is a folder: files are real, commands and jobs only leave their mark."""

import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path, PurePosixPath

from plimsoll.domain.attempt.load_summary import ClockReading
from plimsoll.domain.hosts.cluster import HostInfo
from plimsoll.domain.hosts.fingerprint import HostFacts
from plimsoll.ports.host import CommandResult, Host, Job, JobStatus

GIB = 2**30


class FolderHost(Host):
    """Implements the Host port on a folder."""

    def __init__(self, folder: Path, info: HostInfo) -> None:
        self.info = info
        self.root = PurePosixPath(folder)
        self._folder = folder
        with suppress(FileExistsError, FileNotFoundError):  # in this moment somebody moves it away
            folder.mkdir(parents=True, exist_ok=True)

    def within(self, folder: PurePosixPath, tags: Mapping[str, str]) -> "FolderHost":
        """Return a folder below its own."""
        return FolderHost(self._folder / folder, self.info)

    def clear(self, folder: PurePosixPath, cluster: str, keep: frozenset[str]) -> Sequence[str]:
        """Remove the folders there but for `keep`."""
        for path in (self._folder / folder).glob("*"):
            if path.name not in keep:
                shutil.rmtree(path)
        return ()

    def run(self, argv: Sequence[str], *, timeout: timedelta, check: bool = True, stdin: str = "") -> CommandResult:
        """Succeed and print nothing."""
        return CommandResult(0, "", "")

    def install(self, bundle: Path) -> PurePosixPath:
        """Return the place where the bundle is already."""
        return PurePosixPath(bundle)

    def write(self, path: PurePosixPath, content: str) -> None:
        """Write a file below the folder."""
        target = self._folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content)

    def read_tail(self, path: PurePosixPath, *, max_bytes: int) -> str:
        """Return the end of a file, empty where there is none."""
        source = self._folder / path
        return source.read_text()[-max_bytes:] if source.exists() else ""

    def files(self, folder: PurePosixPath) -> tuple[PurePosixPath, ...]:
        """Return all files below a folder."""
        return tuple(sorted(PurePosixPath(path) for path in (self._folder / folder).rglob("*") if path.is_file()))

    def fetch(self, path: PurePosixPath, destination: Path) -> None:
        """Copy a file."""
        shutil.copyfile(self._folder / path, destination)

    def start(self, job: Job) -> None:
        """Note that the job was started, unless it was before."""
        mark = self._folder / "jobs" / job.id
        if not mark.exists():
            self.write(PurePosixPath("jobs") / job.id, " ".join(job.argv))

    def status(self, job_id: str) -> JobStatus:
        """Return success of a started job."""
        return JobStatus("exited", 0) if (self._folder / "jobs" / job_id).exists() else JobStatus("missing")

    def stop(self, job_id: str, *, grace: timedelta) -> None:
        """Do nothing, because nothing runs."""

    def free_port(self) -> int:
        """Return some port."""
        return 12345

    def facts(self) -> HostFacts:
        """Return a made-up machine."""
        return HostFacts(
            os="Testix 1",
            kernel="6.1",
            cpu_model="made up",
            cpus=8,
            memory_bytes=64 * GIB,
            page_size_bytes=4096,
            transparent_huge_pages="madvise",
            shared_huge_pages="advise",
            data_disk="Amazon EC2 NVMe Instance Storage, 300 GB",
            data_disk_device="/dev/nvme1n1",
            utc_offset_s=7200,
        )

    def clock(self) -> ClockReading:
        """Return an exact reading."""
        return ClockReading(offset_ms=0.0)
