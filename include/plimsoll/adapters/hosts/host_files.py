"""Bounds on what is taken from a host, whose software may be anybody's, and advice for its system's errors. Folders of
this machine that hold programs are refused where another user could change them.
"""

import os
import stat
from collections.abc import Iterable
from pathlib import Path, PurePath, PurePosixPath
from typing import IO

from plimsoll.adapters.hosts.onhost import guard
from plimsoll.domain.text.errors import HostError
from plimsoll.domain.text.units import format_size
from plimsoll.ports.host import MOST_FILE_BYTES, MOST_FILES

_BLOCK = 1 << 18
_FULL = ("No space left", "Disk quota", "File too large")
_FORBIDDEN = ("Permission denied", "Operation not permitted", "Read-only file system")


def few_files(paths: Iterable[PurePosixPath], where: str) -> tuple[PurePosixPath, ...]:
    """Return the paths, sorted. Raises HostError where there are too many; `where` names the host."""
    files = tuple(sorted(paths))
    if len(files) > MOST_FILES:
        mend = "see what writes so many files there, and remove them"
        raise HostError(f"there are more than {MOST_FILES:,} files below one folder", where=where, mend=mend)
    return files


def require_file(mode: int | None, size: int | None) -> None:
    """Raise OSError unless that is a file of bounded size: a pipe, for example, would never end.

    A file may be large without taking any disk.
    """
    if not stat.S_ISREG(mode or 0):
        raise OSError("it is no file")
    _require_size(size or 0)


def copy_bounded(source: IO[bytes], target: IO[bytes]) -> None:
    """Copy to the end of the source. Raises OSError once it is too large, for it may grow meanwhile."""
    size = 0
    while block := source.read(_BLOCK):
        size += len(block)
        _require_size(size)
        target.write(block)


def _require_size(size: int) -> None:
    if size > MOST_FILE_BYTES:
        largest = format_size(MOST_FILE_BYTES)
        raise OSError(f"it is larger than {largest}, the most that is taken of one file")


def mend_of(refusal: str, path: PurePath) -> str:
    """Return the advice for that error at that path on the host."""
    if any(words in refusal for words in _FULL):
        return f"free disk space on the host below {path}, then run the cell again"
    if any(words in refusal for words in _FORBIDDEN):
        return f"give the user who works there the right to write to {path} on the host, or name another folder"
    return "mend the reason given"


def require_guarded(folder: Path) -> None:
    """Raise OSError if a user besides this one and root could change the folder's content, or replace the folder.

    A folder on the way that is missing is made later, by this user. Links that nobody else could change are followed.
    """
    for part in [*reversed(folder.parents), folder]:
        try:
            state = part.lstat()
        except FileNotFoundError:
            return
        if not stat.S_ISLNK(state.st_mode):
            guard.require_safe(part, state)
        elif state.st_uid in (0, os.geteuid()):
            require_guarded(part.resolve())
        else:
            raise PermissionError(f"the link {part} belongs to user {state.st_uid}")
