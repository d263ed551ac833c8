"""What is the same of every host, however it is reached: how a job is described to its supervisor there, how the facts
that `onhost.readings` read are interpreted, and what the program on hosts does.
"""

import json
import posixpath
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Mapping
from datetime import timedelta
from pathlib import Path, PurePosixPath
from typing import Any

from plimsoll.adapters.hosts.host_files import mend_of
from plimsoll.adapters.hosts.onhost.control import KILL_TIMEOUT_S
from plimsoll.domain.hosts.cluster import HostInfo
from plimsoll.domain.hosts.fingerprint import HostFacts
from plimsoll.domain.text.errors import HostError
from plimsoll.ports.host import MOST_INPUT_BYTES, CommandResult, Host, Job, JobStatus

FOLDER = "jobs"
"""The folder of a host's jobs, below the host's root."""

INHERITED = ("PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR")
"""The variables that commands and jobs get of their user's environment. All others stay out: JAVA_TOOL_OPTIONS must not
change what a JVM measures, and no job may see a secret of the user who started it.
"""

PYTHON = ("python3", "-I", "-S", "-B")
"""Isolated Python: it reads neither the user's packages nor PYTHON* variables, and leaves no compiled files."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def console_path(root: PurePosixPath, job_id: str) -> PurePosixPath:
    """Return the file with what that job prints, on the host with that root."""
    return root / FOLDER / f"{job_id}.log"


def process_of(host: Host, job_id: str) -> int | None:
    """Return the process id of that job's program, which leads a process group; None where no record names it."""
    try:
        return int(json.loads(host.read_tail(host.root / FOLDER / f"{job_id}.job", max_bytes=1 << 20))["child"])
    except (ValueError, KeyError, TypeError):
        return None


def order(job: Job, root: PurePosixPath, tags: Collection[str], niceness: int, where: str) -> dict[str, Any]:
    """Return the supervisor's input. The job can't set the variables named in `tags`.

    Raises HostError for a job that can't be started; `where` names the host in the message.
    """
    require_id(job.id, where)
    if job.expires <= timedelta(0):
        mend = "run the cell again"
        raise HostError(f"job {job.id} has no time left: its cluster has expired", where=where, mend=mend)
    if len(job.stdin.encode()) > MOST_INPUT_BYTES:
        what = f"job {job.id} would get more than {MOST_INPUT_BYTES >> 10} KiB on its standard input"
        raise HostError(what, where=where, mend="give it less, such as fewer certificates of authorities")
    folder = root / FOLDER
    return {
        "id": job.id,
        "argv": list(job.argv),
        "env": {name: value for name, value in job.env.items() if name not in tags},
        "cwd": str(root if job.cwd is None else root / job.cwd),
        "expires_s": job.expires.total_seconds(),
        "owns": None if job.owns is None else str(job.owns),
        "record": str(folder / f"{job.id}.job"),
        "exit": str(folder / f"{job.id}.exit"),
        "log": str(console_path(root, job.id)),
        "niceness": niceness,
        "stdin": job.stdin,
    }


def require_id(job_id: str, where: str) -> None:
    """Raise HostError for a text that can't be the id of a job, because the id becomes part of file names."""
    if _ID.fullmatch(job_id) is None:
        mend = "use letters, digits, hyphens, dots, underscores"
        raise HostError(f"{job_id!r} is not a job's id", where=where, mend=mend)


_KIB, _GB = 1024, 1e9


def host_facts(readings: Mapping[str, Any], provider: Mapping[str, str]) -> HostFacts:
    """Return a host's hardware and system. `provider` adds its own. `cpus`: processors usable by processes."""
    memory = _meminfo(readings["meminfo"])
    return HostFacts(
        os=_of("PRETTY_NAME", readings["os_release"], "=").strip('"') or readings["system"],
        kernel=readings["kernel"],
        # Processors of other makes than x86 name themselves elsewhere or not at all.
        cpu_model=_of("model name", readings["cpuinfo"], ":") or readings["machine"],
        cpus=readings["cpus"],
        memory_bytes=memory["MemTotal"],
        page_size_bytes=readings["page_size"],
        transparent_huge_pages=_huge_pages(readings["huge_pages"]),
        shared_huge_pages=_huge_pages(readings["shared_huge_pages"]),
        swap_bytes=memory.get("SwapTotal", 0),
        utc_offset_s=readings["utc_offset_s"],
        data_disk=_disk(readings["data_disk"]),
        data_disk_device=readings["data_disk"]["device"],
        provider=dict(provider),
    )


def memory_bytes(readings: Mapping[str, Any]) -> int:
    """Return the memory that processes on the host may use: the machine's, or a control group's lower limit, bytes."""
    # Without a limit, version 2 of control groups says `max`, and version 1 a number beyond any memory
    limits = (readings["memory_limit"].strip(), readings["memory_limit_v1"].strip())
    return min([_meminfo(readings["meminfo"])["MemTotal"], *(int(limit) for limit in limits if limit.isdigit())])


def _meminfo(text: str) -> dict[str, int]:
    """Return every line `Name: n kB`, in bytes."""
    pairs = (line.split(":") for line in text.splitlines())
    return {name: int(value.split()[0]) * _KIB for name, value in pairs}


def _disk(disk: Mapping[str, Any]) -> str:
    """Name the disk, with its size as makers of disks count it: `2 × Amazon EC2 NVMe Instance Storage, 3800 GB`."""
    models = Counter(disk["models"])
    named = " and ".join(name if count == 1 else f"{count} × {name}" for name, count in models.items())
    return f"{named}, {disk['bytes'] / _GB:.0f} GB"


def _of(name: str, text: str, separator: str) -> str:
    """Return the first value of that name among the lines; empty where there is none."""
    pairs = (line.partition(separator) for line in text.splitlines())
    return next((value.strip() for key, _, value in pairs if key.strip() == name), "")


def _huge_pages(text: str) -> str:
    """Return the selected word of `always [madvise] never`."""
    chosen = (word.strip("[]") for word in text.split() if word.startswith("["))
    return next(chosen, "unknown") if text else "unavailable"


class BaseHost(Host, ABC):
    """A base of implementations of the Host port. `where` names the host in errors.

    `tags` are environment variables of everything that is started there.
    """

    def __init__(self, info: HostInfo, root: PurePosixPath, where: str, tags: Mapping[str, str]) -> None:
        self.info, self.root = info, root
        self._where, self._tags = where, dict(tags)

    @abstractmethod
    def _call(self, command: str, allowed_s: float = 0.0, **request: Any) -> Any:
        """Return the answer of the program on hosts, which may take so long. Raises HostError."""

    def status(self, job_id: str) -> JobStatus:
        require_id(job_id, self._where)
        return JobStatus(*self._call("status", folder=str(self.root / FOLDER), id=job_id))

    def stop(self, job_id: str, *, grace: timedelta) -> None:
        require_id(job_id, self._where)
        grace_s = grace.total_seconds()
        # Beyond its grace `control.stop` sends two more signals, and waits so long after each
        allowed_s = grace_s + 2 * KILL_TIMEOUT_S
        if not self._call("stop", allowed_s, folder=str(self.root / FOLDER), id=job_id, grace_s=grace_s):
            raise self._error(f"job {job_id} is still running after SIGKILL", "look for a process in state D (`ps`)")

    def free_port(self) -> int:
        return int(self._call("free-port", address=self.info.address))

    def facts(self) -> HostFacts:
        return host_facts(self._call("readings", folder=str(self.root)), self.info.facts)

    def _require_folder(self, bundle: Path) -> None:
        if not bundle.is_dir():
            raise self._error(f"there is no folder {bundle} to install", "prepare the artefacts again: `make setup`")

    def _below_root(self, path: PurePosixPath) -> PurePosixPath:
        # By its text alone, because the path may be another machine's
        absolute = PurePosixPath(posixpath.normpath(self.root / path))
        if not absolute.is_relative_to(self.root):
            raise self._error(f"{path} is not below the host's folder", "write to a path below the host's root")
        return absolute

    def _require_success(self, program: str, result: CommandResult) -> None:
        if result.exit_code != 0:
            reason = (result.stderr or result.stdout).strip()
            what = f"`{program}` ended with exit code {result.exit_code}: {reason}"
            raise self._error(what, mend_of(reason, self.root))

    def _no_program(self, program: str) -> HostError:
        return self._error(f"there is no program `{program}`", "install it, or put it on the PATH")

    def _too_slow(self, program: str, allowed: timedelta) -> HostError:
        return self._error(f"`{program}` did not end within {allowed.total_seconds():g} s", "see what it waits for")

    def _not_started(self, job_id: str, reason: str) -> HostError:
        return self._error(f"job {job_id} did not start: {reason.strip()}", mend_of(reason, self.root))

    def _error(self, what: str, how: str) -> HostError:
        return HostError(what, where=self._where, mend=how)
