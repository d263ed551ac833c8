"""Files of a host over SFTP, written atomically.

Measure how far a host's clock is ahead of the controller's, by round trips over an open connection.

The method is that of NTP (RFC 5905, section 8). The controller records when it asks (t1) and when the answer arrives
(t4); the host records when it receives the question (t2) and when it answers (t3). The offset is ((t2 - t1) + (t3 -
t4)) / 2. Its error is at most half of the time on the way, (t4 - t1) - (t3 - t2). Of several round trips the quickest
one is used.
"""

import os
import stat
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import wraps
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

import paramiko

from plimsoll.adapters.hosts.host_files import copy_bounded, require_file
from plimsoll.domain.attempt.load_summary import ClockReading
from plimsoll.ports.host import MOST_FILE_BYTES

# As much as paramiko asks for by one request. Up to this size a file is read without a thread.
_BLOCK = 1 << 15
_ASKS_AHEAD = "_prefetch_thread"
_AT_ONCE = 64  # as many requests as OpenSSH's own client has on their way
_PATIENCE_S = 5.0


def write_whole(sftp: paramiko.SFTPClient, path: PurePosixPath, content: bytes) -> None:
    """Write a file with its folders, for this user alone. Readers see all of the old or the new. Raises OSError."""
    make_folders(sftp, path.parent)
    unfinished = str(path.with_name(f".{path.name}.{uuid.uuid4().hex}.part"))
    try:
        with sftp.open(unfinished, "wb") as file:
            # paramiko's `open` takes no mode, so the file is made private before anything is in it
            file.chmod(0o600)
            file.write(content)
        # SFTP's own `rename` fails where there is a file of that name
        sftp.posix_rename(unfinished, str(path))
    except OSError:
        with suppress(OSError):
            sftp.remove(unfinished)
        raise


def make_folders(sftp: paramiko.SFTPClient, folder: PurePosixPath) -> None:
    """Make the folder and its parents. Raises OSError."""
    try:
        sftp.stat(str(folder))
    except FileNotFoundError:
        make_folders(sftp, folder.parent)
        try:
            sftp.mkdir(str(folder), mode=0o700)
        except OSError:  # SFTP does not say whether someone else was quicker
            sftp.stat(str(folder))


@contextmanager
def blocks_asked_for() -> Iterator[None]:
    """Wait at the end for the threads in which paramiko asks for a file's blocks ahead, for some seconds at most.

    Where such a thread is slow, paramiko reads on without it, and would close the channel under it.
    """
    before = set(threading.enumerate())
    try:
        yield
    finally:
        for thread in set(threading.enumerate()) - before:
            # Those of other transfers are seen too, also while they are being started: then they can't be waited for.
            if _ASKS_AHEAD in thread.name and thread.is_alive():
                thread.join(_PATIENCE_S)


def read_tail(sftp: paramiko.SFTPClient, path: PurePosixPath, max_bytes: int) -> bytes:
    """Return the last bytes of a file; empty where there is no file. Raises OSError."""
    try:
        name = os.fsencode(path)  # it need not be UTF-8
        state = sftp.stat(name)
        size = state.st_size if stat.S_ISREG(state.st_mode or 0) else None
        if size is None:
            return b""
        with blocks_asked_for(), sftp.open(name, "rb") as file:
            file.seek(max(0, size - max_bytes))
            if min(size, max_bytes) > _BLOCK:
                prefetch(file, size)
            return file.read(max_bytes)
    except FileNotFoundError:
        return b""


def fetch(sftp: paramiko.SFTPClient, path: PurePosixPath, destination: Path) -> None:
    """Copy a file to this machine, as far as it is written now. Raises OSError."""
    unfinished = destination.with_name(f".{destination.name}.part")
    name = os.fsencode(path)  # it need not be UTF-8
    try:
        state = sftp.stat(name)
        require_file(state.st_mode, state.st_size)  # before it is opened: the opening of a pipe would not end
        with blocks_asked_for(), sftp.open(name, "rb") as file, unfinished.open("wb") as own:
            if (size := file.stat().st_size or 0) > _BLOCK:
                # One byte more than is allowed, by which `copy_bounded` notices a file that is too large
                prefetch(file, min(size, MOST_FILE_BYTES + 1))
            copy_bounded(cast("IO[bytes]", file), own)
        unfinished.replace(destination)
    finally:
        unfinished.unlink(missing_ok=True)


def prefetch(file: Any, size: int) -> None:
    """Have paramiko ask for the blocks of an open file: one request after the other would take a round trip each.

    It asks in a thread. If the connection is lost meanwhile, who reads the file gets the error, and the thread ends
    quietly: nobody could catch what it raises.
    """
    original = getattr(file, _ASKS_AHEAD)

    # Python names a thread after its function, and by that name `blocks_asked_for` finds it
    @wraps(original)
    def quietly(*arguments: Any) -> None:
        with suppress(OSError):
            original(*arguments)

    setattr(file, _ASKS_AHEAD, quietly)
    file.prefetch(size, _AT_ONCE)


ROUNDS = 9
_LONGEST = 100
"""The greatest length of an answer, bytes: two times in ns."""
SCRIPT = """\
import sys, time
for _ in sys.stdin.buffer:
    got = time.time_ns()
    print(got, time.time_ns(), flush=True)
"""


@dataclass(frozen=True)
class RoundTrip:
    """Four times in ns since the epoch: asked and answered (controller's clock), received and sent (host's clock)."""

    asked: int
    got: int
    sent: int
    answered: int

    @property
    def on_the_way_ns(self) -> int:
        """Return the time on the way there and back, without the host's own time."""
        return (self.answered - self.asked) - (self.sent - self.got)

    @property
    def offset_ns(self) -> float:
        """Return the host's clock less the controller's."""
        return ((self.got - self.asked) + (self.sent - self.answered)) / 2


def reading(trips: Sequence[RoundTrip]) -> ClockReading:
    """Return the offset of the quickest round trip, with its greatest possible error. Pure."""
    quickest = min(trips, key=lambda trip: trip.on_the_way_ns)
    # Whoever steps the controller's clock in between may make it negative.
    error_ms = max(0.0, quickest.on_the_way_ns / 2 / 1e6)
    return ClockReading(offset_ms=quickest.offset_ns / 1e6, error_ms=error_ms)


def round_trips(channel: paramiko.Channel) -> list[RoundTrip]:
    """Ask the script on the channel. Raises EOFError or OSError when the link is lost, ValueError for other answers."""
    trips = []
    with channel.makefile("rb") as answers:
        for _ in range(ROUNDS):
            asked = time.time_ns()
            channel.sendall(b"\n")
            line = answers.readline(_LONGEST)
            answered = time.time_ns()
            got, sent = (int(word) for word in line.split())
            trips.append(RoundTrip(asked, got, sent, answered))
    return trips
