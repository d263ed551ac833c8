"""Free TCP ports on loopback."""

import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager

LOOPBACK = "127.0.0.1"


@contextmanager
def reserved(preferred: int | None) -> Iterator[int]:
    """The preferred port when it is free, so that bookmarks stay valid, else any free one.

    Inside the block this process has bound the port, but does not listen on it. So the kernel gives it to nobody who
    asks for any port, while a server, which sets SO_REUSEADDR, can listen on it. Connections in TIME_WAIT don't make a
    port busy.
    """
    with closing(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            holder.bind((LOOPBACK, preferred or 0))
        except OSError:
            holder.bind((LOOPBACK, 0))
        port: int = holder.getsockname()[1]
        yield port
