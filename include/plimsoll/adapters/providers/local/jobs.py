"""Detached jobs in one folder of this machine: start or attach, query, end."""

import json
import subprocess
import sys
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path, PurePosixPath
from typing import cast

from plimsoll.adapters.hosts.jobs import FOLDER, not_started, order, require_id, resists
from plimsoll.adapters.hosts.onhost import control, supervisor
from plimsoll.domain.errors import HostError
from plimsoll.ports.host import Job, JobStatus

_START_TIMEOUT_S = 60


class Jobs:
    """The jobs of one host. `where` names the host in errors; `niceness` is the scheduling priority of its jobs."""

    def __init__(self, root: Path, where: str, niceness: int = 0) -> None:
        self._root, self._folder = root, root / FOLDER
        self._where, self._niceness = where, niceness

    def start(self, job: Job, *, env: Mapping[str, str], tags: Mapping[str, str]) -> None:
        """Start the job, or do nothing where it was started before.

        Its environment is `env`, its own variables, and `tags`, in rising precedence.
        """
        require_id(job.id, self._where)
        if (self._folder / f"{job.id}.job").exists():
            return
        told = dict(order(job, PurePosixPath(self._root), tags, self._niceness, self._where))
        control.make_folders(told)
        self._launch(told, {**env, **tags})

    def status(self, job_id: str) -> JobStatus:
        """Return the state of a job."""
        require_id(job_id, self._where)
        return JobStatus(*control.status(self._folder, job_id))

    def stop(self, job_id: str, grace: timedelta) -> None:
        """Ask a job to end, then kill it. An ended or no job is no error. Raises HostError if it survives SIGKILL."""
        require_id(job_id, self._where)
        if not control.stop(self._folder, job_id, grace.total_seconds()):
            raise resists(job_id, self._where)

    def _launch(self, told: Mapping[str, object], env: Mapping[str, str]) -> None:
        job_id = cast(str, told["id"])
        try:
            launched = subprocess.run(
                # Isolated: neither the user's packages nor PYTHON* variables get into it. A process of its own
                # because it forks, which a process of several threads must not.
                [sys.executable, "-I", "-S", supervisor.__file__],
                input=json.dumps(told),
                env=dict(env),
                start_new_session=True,
                capture_output=True,
                text=True,
                timeout=_START_TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            what = f"job {job_id} did not start within {_START_TIMEOUT_S} s"
            mend = "see what else this machine does, then run the cell again"
            raise HostError(what, where=self._where, mend=mend) from error
        if launched.returncode != 0:
            raise not_started(job_id, launched.stderr, self._root, self._where)
