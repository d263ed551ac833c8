"""Files of a host over SFTP, written atomically."""

import os
import stat
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

import paramiko

from plimsoll.adapters.hosts.host_files import copy_bounded, require_file
from plimsoll.ports.host import MOST_FILE_BYTES

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
            file.chmod(0o600)
            file.write(content)
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
        found = sftp.stat(_name(path))
        size = found.st_size if stat.S_ISREG(found.st_mode or 0) else None
        if size is None:
            return b""
        with blocks_asked_for(), sftp.open(_name(path), "rb") as file:
            file.seek(max(0, size - max_bytes))
            if min(size, max_bytes) > _BLOCK:
                prefetch(file, size)
            return file.read(max_bytes)
    except FileNotFoundError:
        return b""


def fetch(sftp: paramiko.SFTPClient, path: PurePosixPath, destination: Path) -> None:
    """Copy a file to this machine, as far as it is written now. Raises OSError."""
    unfinished = destination.with_name(f".{destination.name}.part")
    try:
        require_file(sftp.stat(_name(path)))  # before it is opened: the opening of a pipe would not end
        with blocks_asked_for(), sftp.open(_name(path), "rb") as file, unfinished.open("wb") as own:
            if (size := file.stat().st_size or 0) > _BLOCK:
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
    theirs = getattr(file, _ASKS_AHEAD)

    @wraps(theirs)
    def quietly(*arguments: Any) -> None:
        with suppress(OSError):
            theirs(*arguments)

    setattr(file, _ASKS_AHEAD, quietly)
    file.prefetch(size, _AT_ONCE)


def _name(path: PurePosixPath) -> bytes:
    """Return the file's name, including names that are not UTF-8."""
    return os.fsencode(str(path))
