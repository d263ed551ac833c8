"""TCP ports on loopback: one that is free, and whose program listens on one."""

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

LOOPBACK = "127.0.0.1"
_LISTENS = "0A"
"""Linux's code of the state LISTEN in `/proc/net/tcp`."""


@contextmanager
def reserved(preferred: int | None) -> Iterator[int]:
    """Reserve the preferred port when it is free, so that bookmarks stay valid, else any free one.

    Inside the block this process has bound the port, but does not listen on it. So the kernel gives it to nobody who
    asks for any port, while a server, which sets SO_REUSEADDR, can listen on it. So can another user's: `is_ours` tells
    them apart. Connections in TIME_WAIT don't make a port busy.
    """
    with closing(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            holder.bind((LOOPBACK, preferred or 0))
        except OSError:
            holder.bind((LOOPBACK, 0))
        port: int = holder.getsockname()[1]
        yield port


def is_ours(port: int, sockets: Path = Path("/proc/net/tcp")) -> bool:
    """Tell whether a program of this process's user listens on exactly that port of the loopback address.

    Then no other user's program can listen there as well. `sockets` is the kernel's table of TCP sockets (proc(5)).
    """
    address = f"{int.from_bytes(socket.inet_aton(LOOPBACK), sys.byteorder):08X}:{port:04X}"
    rows = (line.split() for line in sockets.read_text().splitlines()[1:])
    return any((row[1], row[3], int(row[7])) == (address, _LISTENS, os.geteuid()) for row in rows)
