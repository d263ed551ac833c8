"""The connections of this process: one for each host, kept while it is in use."""

import os
import threading

from plimsoll.adapters.providers.ssh.connection import Connection
from plimsoll.adapters.providers.ssh.target import Target
from plimsoll.ports.secrets import Secrets

_IDLE_S = 600.0


class Connections:
    """A pool for several threads. A forked process starts with an empty pool, since it can't share a connection."""

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._open: dict[Target, Connection] = {}

    def to(self, target: Target) -> Connection:
        """Return the connection to that host, opened on first use. Connections unused for ten minutes are closed."""
        with self._lock:
            if self._process != os.getpid():
                self._forget()
            if target not in self._open:
                self._open[target] = Connection(target, self._secrets)
            idle = [known for known, one in self._open.items() if one.idle_s() > _IDLE_S and known != target]
            closing = [self._open.pop(known) for known in idle]
            connection = self._open[target]
        for one in closing:
            one.close()
        return connection

    def _forget(self) -> None:
        for one in self._open.values():
            one.abandon()
        self._process, self._open = os.getpid(), {}

    def close(self) -> None:
        """End all connections. The next use opens them again."""
        with self._lock:
            closing, self._open = list(self._open.values()), {}
        for one in closing:
            one.close()
