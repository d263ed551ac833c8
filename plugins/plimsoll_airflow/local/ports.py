"""Free TCP ports on loopback."""

import socket
from contextlib import closing

LOOPBACK = "127.0.0.1"


def is_free(port: int) -> bool:
    """Whether a server could listen on this loopback port now.

    SO_REUSEADDR is set as servers set it, so connections in TIME_WAIT don't make a port busy.
    """
    with closing(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
        return True


def any_free() -> int:
    """A free loopback port that the kernel chooses."""
    with closing(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port


def pick(preferred: int | None) -> int:
    """The preferred port when it is free, so that bookmarks stay valid, else any free one."""
    return preferred if preferred and is_free(preferred) else any_free()
