"""Processes. Those of this machine, through /proc: the present one, whether others are alive, and the tags of those of
a cluster, which are environment variables: child processes inherit them, and others can read them.

And commands of a definition, on a host: their programs, looked for before any of them runs; the time limit that their
host itself keeps, whatever becomes of whoever asked for it; and secrets, given by standard input to a program that puts
them into the command's environment and into files in memory.
"""

import json
import os
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from inspect import getsource
from pathlib import Path, PurePath

from plimsoll.adapters.hosts.base import PYTHON
from plimsoll.adapters.hosts.onhost import giving, supervisor
from plimsoll.adapters.hosts.onhost.cleaning import CLUSTER, ENVIRONMENT, WORK
from plimsoll.domain.hosts.cluster import Cluster, ClusterId, HostInfo
from plimsoll.domain.hosts.owner import ProcessOwner
from plimsoll.ports.host import Host
from plimsoll.ports.secrets import CommandSecrets

SUBNET = "PLIMSOLL_SUBNET"
_ADDRESS, _OWNER, _HOST = "PLIMSOLL_ADDRESS", "PLIMSOLL_OWNER", "PLIMSOLL_HOST"
_HOST_NAME = re.compile(r"[a-z0-9-]+")
_SINCE, _EXPIRES = "PLIMSOLL_CLUSTER_SINCE", "PLIMSOLL_EXPIRES"


@dataclass(frozen=True)
class ProcessTags:
    """The content of a process' tags. Only the cluster is always known."""

    cluster_id: ClusterId
    owner: str = ""
    host: str = ""
    address: str = ""
    since: datetime | None = None
    expires: datetime | None = None


class LocalProcesses:
    """An implementation of the Owners port for processes of this machine and pid namespace."""

    def me(self) -> str:
        pid = os.getpid()
        host, boot, namespace = _here()
        return ProcessOwner(host=host, boot=boot, namespace=namespace, pid=pid, started=_started(pid) or 0).token

    def is_alive(self, owner: str) -> bool | None:
        """Tell whether the process is alive; None for processes elsewhere.

        Another machine may have this one's name, and so may this machine before a restart.
        """
        process = ProcessOwner.parse(owner)
        if process is None or (process.host, process.boot, process.namespace) != _here():
            return None
        return _started(process.pid) == process.started


@cache
def _here() -> tuple[str, str, int]:
    """Return host name, boot id and pid namespace."""
    return platform.node(), supervisor.boot_id(), Path("/proc/self/ns/pid").stat().st_ino


def _started(pid: int) -> int | None:
    """Return the start of the process in ticks; None where there is no such process, or it is a zombie."""
    try:
        facts = supervisor.stat(pid)
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if facts[0] in ("Z", "X") else int(facts[19])


def process_tags_of(cluster: Cluster, info: HostInfo, work: PurePath, environment: str = "") -> dict[str, str]:
    """Return the environment variables that tag every process of that host in that environment."""
    return {
        **({ENVIRONMENT: environment} if environment else {}),
        CLUSTER: str(cluster.id),
        _OWNER: cluster.owner,
        WORK: str(work),
        _HOST: info.name,
        _ADDRESS: info.address,
        SUBNET: info.address.rpartition(".")[0],
        _SINCE: cluster.created_at.isoformat(),
        _EXPIRES: cluster.expires_at.isoformat(),
    }


def read_process_tags(environment: Mapping[str, str], work: PurePath) -> ProcessTags | None:
    """Return the tags in a process' environment; None for a process of no cluster of that work folder.

    Everything but the cluster is optional, so that processes of any version of Plimsoll are found.
    """
    if environment.get(WORK) != str(work):
        return None
    try:
        cluster_id = ClusterId.parse(environment.get(CLUSTER, ""))
    except ValueError:  # somebody else's variable of that name
        return None
    tags = {name: environment.get(name, "") for name in (_OWNER, _HOST, _ADDRESS)}
    host = tags[_HOST] if _HOST_NAME.fullmatch(tags[_HOST]) else ""
    since, expires = tagged_time(environment.get(_SINCE, "")), tagged_time(environment.get(_EXPIRES, ""))
    return ProcessTags(cluster_id, tags[_OWNER], host, tags[_ADDRESS], since, expires)


def tagged_time(text: str) -> datetime | None:
    """Return the time; None for what no version of Plimsoll writes, such as a time without a zone."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time if time.tzinfo else None


_LOOK = 'for program; do command -v "$program" >/dev/null || printf "%s\\n" "$program"; done'


def missing(host: Host, programs: Iterable[str]) -> Sequence[str]:
    """Return those that are neither on the host's PATH nor at their path. Raises HostError.

    Programs below the host's own folder are left out, as an earlier command may make them, and paths that depend on the
    folder in which they run.
    """
    sought = [
        program
        for program in dict.fromkeys(programs)
        if program and (program.startswith("/") or "/" not in program) and not program.startswith(f"{host.root}/")
    ]
    if not sought:
        return ()
    return host.run(("/bin/sh", "-c", _LOOK, "sh", *sought), timeout=timedelta(seconds=20)).stdout.splitlines()


def given(argv: Sequence[str], secrets: CommandSecrets) -> tuple[Sequence[str], str]:
    """Return the command with which a host starts that one, and its standard input; as it is where nothing is given."""
    if not (secrets.env or secrets.files):
        return argv, ""
    stdin = json.dumps({"env": dict(secrets.env), "files": dict(secrets.files)})
    return (*PYTHON, "-c", getsource(giving), *argv), stdin


KILLING_S = 10
"""The time after which a command is killed that was asked to end, s."""
ENDED, KILLED, NOT_FOUND = 124, 137, 127
"""The exit codes of `timeout` where the command ended once it was asked to, where it had to be killed, and where there
is no such program; a shell has the last one, too.
"""


def within(seconds: float) -> tuple[str, ...]:
    """Return the words before a command that is asked to end after that time, s, and killed if it does not."""
    return ("timeout", f"--kill-after={KILLING_S}", f"{seconds:g}")
