"""The processes that listen somewhere on this machine. Part of the sampler: Python 3.9, its standard library only."""

import os
import socket
import sys
from contextlib import suppress

from plimsoll.adapters.hosts.sampler.counters import text_of

MARK = "@"
"""Begins `@PORT,ADDRESS,...`, which stands for a database that others run."""
_LISTENS = "0A"
_NOT_PROGRAMS = ("docker-proxy", "rootlessport")  # they listen for a process that they only hand connections to


def listening(database: str, proc: str = "/proc") -> "tuple[bool, set[str]]":
    """Tell whether anything listens on this machine at `@PORT,ADDRESS,...`, and return the processes that do so.

    Of other users' processes only root can tell which they are.
    """
    port, *names = database[1:].split(",")
    wanted = {address for name in names for address in _local(name)}
    inodes = {
        f"socket:[{fields[9]}]"
        for table in ("tcp", "tcp6")
        for fields in (line.split() for line in text_of(f"{proc}/net/{table}").splitlines()[1:])
        if fields[3] == _LISTENS and _is_at(fields[1], int(port), wanted)
    }
    pids = {pid for pid in os.listdir(proc) if pid.isdigit()} if inodes else set()  # noqa: PTH208
    return bool(inodes), {pid for pid in pids if inodes & _open(proc, pid) and _name(proc, pid) not in _NOT_PROGRAMS}


def _local(name: str) -> "set[bytes]":
    """Return the addresses of that name that are this machine's own, as the kernel keeps them."""
    found: set[bytes] = set()
    try:
        told = socket.getaddrinfo(name, 0, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return found
    for family, _, _, _, where in told:
        with socket.socket(family, socket.SOCK_STREAM) as one:
            try:
                one.bind((where[0], 0))
            except OSError:
                continue
        found.add(socket.inet_pton(family, str(where[0])))
    return found


def _is_at(place: str, port: int, wanted: "set[bytes]") -> bool:
    """Tell whether a place of the kernel's tables, `0100007F:2352`, is one of the addresses, or all of them."""
    address, _, number = place.partition(":")
    raw = bytes.fromhex(address)
    if sys.byteorder == "little":
        raw = b"".join(raw[n : n + 4][::-1] for n in range(0, len(raw), 4))
    mapped = bytes(10) + b"\xff\xff"
    raw = raw[12:] if raw.startswith(mapped) else raw
    return bool(wanted) and int(number, 16) == port and (raw in wanted or not any(raw))


def _open(proc: str, pid: str) -> "set[str]":
    """Return what the process has open; nothing where that can't be read."""
    try:
        entries = os.listdir(f"{proc}/{pid}/fd")  # noqa: PTH208
    except OSError:  # it has ended, or is another user's
        return set()
    found = set()
    for entry in entries:
        with suppress(OSError):  # closed meanwhile
            found.add(os.readlink(f"{proc}/{pid}/fd/{entry}"))  # noqa: PTH115
    return found


def _name(proc: str, pid: str) -> str:
    return text_of(f"{proc}/{pid}/comm").strip()
