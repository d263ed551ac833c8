"""A queue between processes that goes on when any of them is killed."""

import pickle
import select
import socket
from typing import Any

_LONGEST_BYTES = 1 << 20
"""More than the kernel lets a packet be."""


class PacketQueue:
    """As multiprocessing.SimpleQueue, made before its readers and writers are forked, but without a lock.

    A reader of SimpleQueue holds a lock while it waits for a message. If it is killed, the lock is never given back,
    and all other readers wait for ever. Here each message is one packet of a Unix socket (`SOCK_SEQPACKET`, unix(7)):
    the kernel writes it whole, and gives it to one reader.
    """

    def __init__(self) -> None:
        self._reader, self._writer = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

    def put(self, message: object) -> None:
        """Add a message. Waits while the kernel's buffer is full. Raises OSError for one that is larger than it."""
        self._writer.sendall(pickle.dumps(message))

    def get(self) -> Any:
        """Wait for a message, and take it. Raises EOFError when all writers have ended."""
        packet = self._reader.recv(_LONGEST_BYTES)
        if not packet:
            raise EOFError
        return pickle.loads(packet)  # noqa: S301 - only these processes hold an end of the socket

    def empty(self) -> bool:
        """Whether no message waits."""
        waiting = select.poll()
        waiting.register(self._reader, select.POLLIN)
        return not waiting.poll(0)

    def close(self) -> None:
        """Close this process' ends."""
        self._reader.close()
        self._writer.close()
