"""Detached jobs of one folder: start or attach, ask, end. The files in the folder are the whole truth.

`<id>.job` says which process holds the job, `<id>.exit` its exit code, `<id>.log` what it printed.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

from plimsoll.adapters.local import supervisor
from plimsoll.domain.errors import HostError
from plimsoll.ports.host import Job, JobStatus

_START_TIMEOUT_S = 60
_KILL_TIMEOUT_S = 5.0
_POLL_S = 0.05
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class Jobs:
    """The jobs of one host. `where` names the host in errors; `niceness` is how much its jobs give way to others."""

    def __init__(self, folder: Path, where: str, niceness: int = 0) -> None:
        self._folder, self._where, self._niceness = folder, where, niceness

    def start(self, job: Job, *, env: Mapping[str, str], cwd: Path) -> None:
        """Start the job, or do nothing where it was started before. `env` is its whole environment."""
        if self._record(job.id).exists():
            return
        if job.expires <= timedelta(0):
            raise self._error(f"job {job.id} has no time left: its cluster has expired", "run the cell again")
        for folder in (self._folder, cwd, *([] if job.owns is None else [Path(job.owns).parent])):
            folder.mkdir(parents=True, exist_ok=True)
        self._launch(job, env, cwd)

    def status(self, job_id: str) -> JobStatus:
        """What became of a job."""
        record = self._record(job_id)
        if not record.exists():
            return JobStatus("missing")
        # The exit code comes before the process goes: whoever finds no process looks for the code after that.
        running = _is_alive(record)
        code = self._exit_code(job_id)
        return JobStatus("running") if running and code is None else JobStatus("exited", code)

    def stop(self, job_id: str, grace: timedelta) -> None:
        """End a job: asked first, then made. Ended or missing is no error; HostError when it resists even SIGKILL."""
        for number, seconds in (
            (signal.SIGTERM, grace.total_seconds()),
            (supervisor.KILL_NOW, _KILL_TIMEOUT_S),
            (signal.SIGKILL, _KILL_TIMEOUT_S),
        ):
            if self._signalled(job_id, number, seconds):
                return
        raise self._error(f"job {job_id} is still running after SIGKILL", "look for a process in state D (`ps`)")

    def _launch(self, job: Job, env: Mapping[str, str], cwd: Path) -> None:
        try:
            launched = subprocess.run(
                # Isolated: neither the user's packages nor PYTHON* variables get into it.
                [sys.executable, "-I", "-S", supervisor.__file__],
                input=json.dumps(self._order(job)),
                env=dict(env),
                cwd=cwd,
                start_new_session=True,
                capture_output=True,
                text=True,
                timeout=_START_TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            what = f"job {job.id} did not start within {_START_TIMEOUT_S} s"
            raise self._error(what, "see what else this machine does, then run the cell again") from error
        if launched.returncode != 0:
            raise self._error(f"job {job.id} did not start: {launched.stderr.strip()}", "mend the reason given")

    def _signalled(self, job_id: str, number: int, seconds: float) -> bool:
        """Send the signal; whether the job has ended within that time."""
        deadline = time.monotonic() + seconds
        if self.status(job_id).state == "running":
            _send(self._record(job_id), number)
        while (ended := self.status(job_id).state != "running") is False and time.monotonic() < deadline:
            time.sleep(_POLL_S)
        return ended

    def _order(self, job: Job) -> dict[str, object]:
        return {
            "id": job.id,
            "argv": list(job.argv),
            "expires_s": job.expires.total_seconds(),
            "owns": None if job.owns is None else str(job.owns),
            "record": str(self._record(job.id)),
            "exit": str(self._file(job.id, "exit")),
            "log": str(self._file(job.id, "log")),
            "niceness": self._niceness,
        }

    def _exit_code(self, job_id: str) -> int | None:
        path = self._file(job_id, "exit")
        return int(path.read_text(encoding="ascii")) if path.exists() else None

    def _record(self, job_id: str) -> Path:
        return self._file(job_id, "job")

    def _file(self, job_id: str, suffix: str) -> Path:
        if _ID.fullmatch(job_id) is None:
            raise self._error(f"{job_id!r} is not a job's id", "use letters, digits, hyphens, dots, underscores")
        return self._folder / f"{job_id}.{suffix}"

    def _error(self, what: str, mend: str) -> HostError:
        return HostError(what, where=self._where, mend=mend)


def _is_alive(record: Path) -> bool:
    """Whether the very process that the record names still runs: same boot, same start, not a zombie."""
    known = json.loads(record.read_text(encoding="utf-8"))
    if known["boot"] != supervisor.boot_id():
        return False
    try:
        fields = supervisor.stat(known["pid"])
    except (FileNotFoundError, ProcessLookupError):
        return False
    return fields[0] != "Z" and int(fields[19]) == known["start"]


def _send(record: Path, number: int) -> None:
    """Through a handle on the process, so that a process id used again is never hit."""
    try:
        handle = os.pidfd_open(json.loads(record.read_text(encoding="utf-8"))["pid"])
    except ProcessLookupError:
        return
    try:
        if _is_alive(record):
            signal.pidfd_send_signal(handle, number)
    except ProcessLookupError:
        return
    finally:
        os.close(handle)
