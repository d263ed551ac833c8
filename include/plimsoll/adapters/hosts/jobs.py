"""Describe a job to the supervisor on its host. Pure."""

import json
import re
from collections.abc import Collection, Mapping
from datetime import timedelta
from pathlib import PurePath, PurePosixPath

from plimsoll.adapters.hosts.host_files import mend_of
from plimsoll.domain.text.errors import HostError
from plimsoll.ports.host import MOST_INPUT_BYTES, Host, Job

FOLDER = "jobs"
"""The folder of a host's jobs, below the host's root."""

INHERITED = ("PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR")
"""The variables that commands and jobs get of their user's environment. All others stay out: JAVA_TOOL_OPTIONS must not
change what a JVM measures, and no job may see a secret of the user who started it.
"""

_LONGEST_RECORD = 1 << 20
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def console_path(root: PurePosixPath, job_id: str) -> PurePosixPath:
    """Return the file with what that job prints, on the host with that root."""
    return root / FOLDER / f"{job_id}.log"


def process_of(host: Host, job_id: str) -> int | None:
    """Return the process id of that job's program, which leads a process group; None where no record names it."""
    try:
        return int(json.loads(host.read_tail(host.root / FOLDER / f"{job_id}.job", max_bytes=_LONGEST_RECORD))["child"])
    except (ValueError, KeyError, TypeError):
        return None


def order(job: Job, root: PurePosixPath, tags: Collection[str], niceness: int, where: str) -> Mapping[str, object]:
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


def not_started(job_id: str, reason: str, root: PurePath, where: str) -> HostError:
    what, mend = f"job {job_id} did not start: {reason.strip()}", mend_of(reason, root)
    return HostError(what, where=where, mend=mend)


def resists(job_id: str, where: str) -> HostError:
    """Return the error that the job did not end even by SIGKILL."""
    mend = "look for a process in state D (`ps`)"
    return HostError(f"job {job_id} is still running after SIGKILL", where=where, mend=mend)
