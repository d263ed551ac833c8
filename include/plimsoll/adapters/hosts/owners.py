"""Identify processes of this machine through /proc: the present process, and whether others are alive."""

import os
import platform
from functools import cache
from pathlib import Path

from plimsoll.domain.owner import ProcessOwner

_PROC = Path("/proc")
_STATE, _STARTED = 0, 19
"""Places in /proc/<pid>/stat after the program's name: state, and start in clock ticks since the machine's."""


class LocalProcesses:
    """An implementation of the Owners port for processes of this machine and pid namespace."""

    def me(self) -> str:
        """Return the token of this process."""
        pid = os.getpid()
        host, boot, namespace = _here()
        return ProcessOwner(host=host, boot=boot, namespace=namespace, pid=pid, started=_started(pid) or 0).token

    def is_alive(self, owner: str) -> bool | None:
        """Tell whether the process is alive; None for processes elsewhere.

        Another machine may have this one's name, and so may this machine before a restart.
        """
        found = ProcessOwner.parse(owner)
        if found is None or (found.host, found.boot, found.namespace) != _here():
            return None
        return _started(found.pid) == found.started


@cache
def _here() -> tuple[str, str, int]:
    """Return host name, boot id and pid namespace."""
    boot = (_PROC / "sys" / "kernel" / "random" / "boot_id").read_text().strip()
    return platform.node(), boot, (_PROC / "self" / "ns" / "pid").stat().st_ino


def _started(pid: int) -> int | None:
    """Return the start of the process in ticks; None where there is no such process, or it is a zombie."""
    try:
        # The program's name stands in parentheses and may hold anything.
        facts = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if facts[_STATE] in ("Z", "X") else int(facts[_STARTED])
