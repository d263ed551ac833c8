"""Logs that somebody else's processes write, followed while a cell runs, by a program that any host with Python 3 can
run, as a user that may read them.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from inspect import getsource
from pathlib import PurePosixPath

from plimsoll.adapters.hosts.base import PYTHON, console_path
from plimsoll.adapters.hosts.following import follow
from plimsoll.domain.text.wording import shortened
from plimsoll.ports.host import Host, Job

FOLDER = PurePosixPath("logs")
"""The folder below a host's root in which what was taken lies."""
GC_LOG = follow.GC_LOG
_JOB, _PROGRAM = "follow", "follow.py"


def start_following(host: Host, logs: Mapping[str, str], expires: timedelta) -> None:
    """Follow these logs, name → path, from now on, or leave the program that does. Raises HostError."""
    if logs:
        program = host.root / _PROGRAM
        host.write(program, getsource(follow))
        named = (f"{name}={path}" for name, path in logs.items())
        argv = (*PYTHON, str(program), str(host.root / FOLDER), *named)
        host.start(Job(id=_JOB, argv=argv, expires=expires))


def why_ended(host: Host) -> str:
    """Tell why logs are not followed any more; empty where they are, or none is. Raises HostError."""
    if host.status(_JOB).state != "exited":
        return ""
    lines = host.read_tail(console_path(host.root, _JOB), max_bytes=2000).strip().splitlines()
    return shortened(lines[-1]) if lines else "it was ended"


def stop_following(host: Host) -> None:
    """End it, so that what was taken is whole. Raises HostError."""
    host.stop(_JOB, grace=timedelta(seconds=1))


def check_arguments(folder: str, user: str, paths: Sequence[str]) -> tuple[str, ...]:
    """Return the program's text and the arguments with which it says what would keep it from following these logs."""
    return (getsource(follow), "check", folder, user, *paths)
