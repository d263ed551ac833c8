"""The connections of this process: one for each host, opened when used and after a loss, kept while in use."""

import math
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import PurePosixPath
from typing import TypeVar

import paramiko

from plimsoll.adapters.hosts.reached import Target
from plimsoll.adapters.providers.ssh.execution import Answer, Feed, execute
from plimsoll.adapters.providers.ssh.login import LOST, close, open_transport, unreachable
from plimsoll.domain.text.errors import Unreachable
from plimsoll.ports.secrets import Secrets

PAUSES_S = (0.5, 2.0, 5.0)
"""The pauses between tries to connect, s."""
TRYING_S = 15.0
"""No further try to connect after that, s: a host that does not even refuse takes ten seconds a try."""
REPEATING_S = 240.0
"""The time after which a command is not begun again, s, or its own limit where longer: its host stalls."""
# sshd allows ten sessions a connection unless told otherwise; one is kept for files.
_SESSIONS = 8
OPEN_S, _TRANSFER_S = 20.0, 60.0
"""The time that a host may take to open a session, and the time that a transfer may stall, s."""

_T = TypeVar("_T")
_IDLE_S = 600.0


class Connection:
    """A connection for several threads. When the link is lost, everything but `execute_once` is repeated."""

    def __init__(self, target: Target, secrets: Secrets, sleep: Callable[[float], None] = time.sleep) -> None:
        self.target = target
        self.delivered: set[PurePosixPath] = set()
        """Bundles that this process has found whole there."""
        self.folders: dict[PurePosixPath, PurePosixPath] = {}
        """The folders on the host that definitions write relative to the user's home."""
        self.delivering = threading.RLock()
        """The lock of the thread that delivers a bundle, with the program that this may need."""
        self.reaches_store = True
        """Whether the host reaches the store; true until the host has denied it to this process."""
        self._secrets, self._sleep = secrets, sleep
        self._opening, self._files = threading.Lock(), threading.Lock()
        self._sessions = threading.BoundedSemaphore(_SESSIONS)
        self._running: set[object] = set()
        self._used_at = time.monotonic()
        self._transport: paramiko.Transport | None = None
        self._sftp: paramiko.SFTPClient | None = None

    def execute(
        self, command: str, *, timeout_s: float, feed: Feed | None = None, repeating_s: float = REPEATING_S
    ) -> Answer:
        """Run a command line with the input that `feed` writes. Repeated from its start when the link is lost.

        `timeout_s` is how long the host may be silent. Raises Unreachable.
        """

        def work(transport: paramiko.Transport) -> Answer:
            with self._used(), closing(_channel(transport, timeout_s)) as channel:
                return execute(channel, command, timeout_s, feed)

        return self._persistently(work, max(timeout_s, repeating_s))

    def execute_once(self, command: str, *, timeout_s: float, feed: Feed | None = None) -> Answer:
        """Run a command line that must not be repeated. Raises EOFError when the link is lost, Unreachable.

        Opening its channel proves that the link is alive; a link that was just cut may otherwise look alive from here.
        """
        with self.session(timeout_s) as channel:
            return execute(channel, command, timeout_s, feed)

    def with_files(self, work: Callable[[paramiko.SFTPClient], _T]) -> _T:
        """Work on files, repeated when the link is lost. Raises Unreachable; OSError for the host's refusals."""
        with self._files, self._used():
            return self._persistently(lambda transport: work(self._shared_sftp(transport)))

    def with_own_files(self, work: Callable[[paramiko.SFTPClient], _T]) -> _T:
        """Work on files over a session of its own, so that a long transfer does not block others."""

        def alone(transport: paramiko.Transport) -> _T:
            with self._used(), closing(_sftp(transport)) as client:
                return work(client)

        return self._persistently(alone)

    @contextmanager
    def session(self, timeout_s: float) -> Iterator[paramiko.Channel]:
        """Open a channel to run a command and talk to it. Raises Unreachable; EOFError or OSError on a lost link."""
        with self._used(), closing(self._persistently(lambda transport: _channel(transport, timeout_s))) as channel:
            yield channel

    def idle_s(self) -> float:
        return 0.0 if self._running else time.monotonic() - self._used_at

    def close(self) -> None:
        """End the connection. The next use opens it again."""
        with self._opening:
            if self._transport is not None:
                close(self._transport)
            self._transport = self._sftp = None

    def abandon(self) -> None:
        """Leave the connection to the parent process after a fork: this process sends nothing more."""
        if self._transport is not None:
            # Closes this process's copy of the socket alone. A shutdown would cut the parent's link, too.
            self._transport.sock.close()

    @contextmanager
    def _used(self) -> Iterator[None]:
        """Take one of the few sessions that may be open at once."""
        token = object()
        with self._sessions:
            self._running.add(token)
            try:
                yield
            finally:
                self._running.discard(token)
                self._used_at = time.monotonic()

    def _persistently(self, work: Callable[[paramiko.Transport], _T], limit_s: float = math.inf) -> _T:
        """Do the work, begun again over new connections when the link is lost within `limit_s`. Raises Unreachable."""
        began = time.monotonic()
        for pause in (*PAUSES_S, None):
            transport: paramiko.Transport | None = None
            try:
                transport = self._open()
                return work(transport)
            except Unreachable:
                if pause is None or time.monotonic() - began > TRYING_S:
                    raise
            except LOST as error:
                if not _is_lost(error, transport):
                    raise
                if not isinstance(error, paramiko.ChannelException):  # only that session was refused
                    self._drop(transport)
                if pause is None or time.monotonic() - began >= limit_s:
                    raise unreachable(f"host {self.target.place}", error) from error
            self._sleep(pause)
        raise AssertionError("the last try returns or raises")

    def _open(self) -> paramiko.Transport:
        with self._opening:
            if self._transport is None or not self._transport.is_active():
                self._transport, self._sftp = None, None
                self._transport = open_transport(self.target, self._secrets.ssh_identity(self.target.connection_id))
            return self._transport

    def _drop(self, transport: paramiko.Transport | None) -> None:
        """Close the connection, unless another thread has already replaced it."""
        with self._opening:
            if transport is not None and transport is self._transport:
                close(transport)
                self._transport = self._sftp = None

    def _shared_sftp(self, transport: paramiko.Transport) -> paramiko.SFTPClient:
        if self._sftp is None:
            self._sftp = _sftp(transport)
        return self._sftp


def _is_lost(error: BaseException, transport: paramiko.Transport | None) -> bool:
    """Tell whether the link broke. Otherwise the host has refused something."""
    if isinstance(error, (paramiko.SSHException, EOFError, TimeoutError, ConnectionError)):
        return True
    return transport is None or not transport.is_active()


def _channel(transport: paramiko.Transport, timeout_s: float) -> paramiko.Channel:
    channel = transport.open_session(timeout=OPEN_S)
    channel.settimeout(timeout_s)
    return channel


def _sftp(transport: paramiko.Transport) -> paramiko.SFTPClient:
    channel = _channel(transport, _TRANSFER_S)
    channel.invoke_subsystem("sftp")
    return paramiko.SFTPClient(channel)


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
                for inherited in self._open.values():
                    inherited.abandon()
                self._process, self._open = os.getpid(), {}
            if target not in self._open:
                self._open[target] = Connection(target, self._secrets)
            others = [(other, connection) for other, connection in self._open.items() if other != target]
            idle = [self._open.pop(other) for other, connection in others if connection.idle_s() > _IDLE_S]
            connection = self._open[target]
        # Not under the lock: `close` waits while another thread opens that connection
        for unused in idle:
            unused.close()
        return connection

    def close(self) -> None:
        """End all connections. The next use opens them again."""
        with self._lock:
            connections, self._open = list(self._open.values()), {}
        for connection in connections:
            connection.close()
