"""Files of a host over SFTP, written atomically."""

import os
import stat
import uuid
from contextlib import suppress
from pathlib import Path, PurePosixPath

import paramiko

_BLOCK = 1 << 15


def write_whole(sftp: paramiko.SFTPClient, path: PurePosixPath, content: bytes) -> None:
    """Write a file with its folders. Readers see the old content or the new, never a part. Raises OSError."""
    make_folders(sftp, path.parent)
    unfinished = str(path.with_name(f".{path.name}.{uuid.uuid4().hex}.part"))
    try:
        with sftp.open(unfinished, "wb") as file:
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
            sftp.mkdir(str(folder))
        except OSError:  # SFTP does not say whether someone else was quicker
            sftp.stat(str(folder))


def read_tail(sftp: paramiko.SFTPClient, path: PurePosixPath, max_bytes: int) -> bytes:
    """The last bytes of a file; empty where there is no file. Raises OSError."""
    try:
        size = _size(sftp, path)
        if size is None:
            return b""
        with sftp.open(_name(path), "rb") as file:
            file.seek(max(0, size - max_bytes))
            if min(size, max_bytes) > _BLOCK:
                file.prefetch(size)  # one request after the other would take a round trip each
            return file.read(max_bytes)
    except FileNotFoundError:
        return b""


def fetch(sftp: paramiko.SFTPClient, path: PurePosixPath, destination: Path) -> None:
    """Copy a file to this machine, as far as it is written now. Raises OSError."""
    unfinished = destination.with_name(f".{destination.name}.part")
    try:
        sftp.get(_name(path), str(unfinished), max_concurrent_prefetch_requests=64)
        unfinished.replace(destination)
    finally:
        unfinished.unlink(missing_ok=True)


def _size(sftp: paramiko.SFTPClient, path: PurePosixPath) -> int | None:
    """The size of a file; None for anything else."""
    found = sftp.stat(_name(path))
    return found.st_size if stat.S_ISREG(found.st_mode or 0) else None


def _name(path: PurePosixPath) -> bytes:
    """The file's name, including names that are not UTF-8."""
    return os.fsencode(str(path))
