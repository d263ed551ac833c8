"""Loopback subnets: every local cluster has one of its own, so that clusters live side by side on equal ports.

Reservations are files in one folder of the machine, shared by all work folders and users: `127.20.7` → the folder
of the cluster that holds it. A reservation whose folder is gone is void.
"""

import hashlib
import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock

_LOCK_TIMEOUT_S = 30.0
_FIRST, _LAST = 16, 250
_PORTS = (7000, 9042)


class Subnets:
    """The subnets of this machine. `registry` is the folder of reservations."""

    def __init__(self, registry: Path | None = None) -> None:
        self._registry = registry or Path(tempfile.gettempdir()) / "plimsoll-subnets"

    def reserve(self, folder: Path) -> str | None:
        """A free subnet such as `127.20.7`, held until `folder` is gone; None when all are taken. OSError."""
        self._registry.mkdir(parents=True, exist_ok=True)
        if self._registry.stat().st_uid == os.getuid():
            self._registry.chmod(0o1777)
        with FileLock(self._registry / ".lock", timeout=_LOCK_TIMEOUT_S, mode=0o666):
            taken = self._taken()
            subnet = next((one for one in _candidates(folder) if one not in taken and _is_silent(one)), None)
            if subnet is not None:
                (self._registry / subnet).write_text(str(folder), encoding="utf-8")
            return subnet

    def _taken(self) -> set[str]:
        taken = set()
        for reservation in self._registry.glob("127.*"):
            if Path(reservation.read_text(encoding="utf-8")).is_dir():
                taken.add(reservation.name)
            elif reservation.stat().st_uid in (os.getuid(), 0) or os.getuid() == 0:
                reservation.unlink()
        return taken


def _candidates(folder: Path) -> Iterator[str]:
    """All subnets, from one that follows from the folder on: two at once rarely ask for the same."""
    size = _LAST - _FIRST
    start = int.from_bytes(hashlib.sha256(str(folder).encode()).digest()[:4])
    for number in range(start, start + size * size):
        high, low = divmod(number % (size * size), size)
        yield f"127.{_FIRST + high}.{_FIRST + low}"


def _is_silent(subnet: str) -> bool:
    """Whether nobody listens where a cluster would, someone on all addresses (0.0.0.0) included."""
    return all(_can_bind(f"{subnet}.1", port) for port in _PORTS)


def _can_bind(address: str, port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError:
            return False
        return True
