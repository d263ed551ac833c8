"""A lock on a folder, for one process at a time. The folder is removed when nobody needs it."""

import fcntl
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from plimsoll.domain.errors import ProviderError

PATIENCE_S = 60.0
"""The time to wait for another process that holds the lock, s."""
_POLL_S = 0.01
_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Hold the folder's lock. The folder is made if missing, and removed afterwards if empty.

    The kernel releases the lock of a process that dies. Raises ProviderError after a minute of waiting, and where
    another user could change what lies in the folder.
    """
    handle = _hold(folder, time.monotonic() + PATIENCE_S)
    try:
        yield
    finally:
        with suppress(OSError):
            folder.rmdir()
        os.close(handle)


def _hold(folder: Path, deadline: float) -> int:
    while time.monotonic() < deadline:
        handle = _open(folder)
        if handle is not None and _is_held(handle, folder):
            return handle
        if handle is not None:
            os.close(handle)
        time.sleep(_POLL_S)
    mend = f"see which process holds it (`fuser {folder}`) and whether it hangs"
    raise ProviderError(f"another process has held it for {PATIENCE_S:g} s", where=str(folder), mend=mend)


def _open(folder: Path) -> int | None:
    """Open the folder; None where the last holder removed it after it was made.

    Raises ProviderError for what another user has put in its place, in a folder where everybody may write.
    """
    try:
        with suppress(FileExistsError):
            folder.mkdir(parents=True, mode=0o700)
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _foreign(folder, f"it can't be used: {error.strerror}") from error
    found = os.fstat(handle)
    if found.st_uid != os.geteuid() or found.st_mode & _OTHERS_MAY_WRITE:
        os.close(handle)
        raise _foreign(folder, f"it belongs to user {found.st_uid}, or others may write to it")
    return handle


def _foreign(folder: Path, what: str) -> ProviderError:
    return ProviderError(what, where=str(folder), mend="have it removed, or set TMPDIR to a folder of your own")


def _is_held(handle: int, folder: Path) -> bool:
    """Tell whether the locked folder still has that name, since the last holder may have removed it."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(handle), folder.stat())
    except (BlockingIOError, FileNotFoundError):
        return False
