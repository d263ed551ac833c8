"""Unpacking a tar archive that somebody else made: inside one folder, as its owner, and within a bound.

The rules are those of the filter `data` (PEP 706), which Python before 3.11.4, such as Debian 12's, does not have. In
addition absolute names, and hard links to symbolic links, are refused.
"""

import errno
import os
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

try:
    from lzma import LZMAError
except ImportError:  # a Python that was built without it opens no such archive
    LZMAError = EOFError  # type: ignore[misc,assignment]

MOST_BYTES = 8 << 30
"""A JDK takes 0.3 GiB."""
MOST_MEMBERS = 100_000
"""Files, folders and links; a JDK has 500. Empty ones take no bytes, but each takes a place on the disk."""
_DAMAGED = (EOFError, zlib.error, LZMAError, KeyError)
_CONTRADICTIONS = (None, errno.ENOTDIR, errno.EISDIR, errno.EEXIST)
"""Errors of an archive that is damaged, or in which a name stands for a file and for a folder; not of the disk."""


def unpack_tar(packed: Path, folder: Path, most_bytes: int = MOST_BYTES) -> None:
    """Unpack into the folder, which is made if it is not there.

    Raises tarfile.TarError for what is no whole archive, for a member that would lie outside of the folder or is
    neither file, folder nor link, and as soon as the files, unpacked, take more than `most_bytes` together or there are
    more than `MOST_MEMBERS`. What came before it stays. Raises OSError where the disk is at fault.
    """
    filtered: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
    with damage_as_tar_error(), tarfile.open(packed) as tar:
        members = _harmless(_bounded(tar, most_bytes), folder.resolve())
        tar.extractall(folder, members, **filtered)  # noqa: S202 (each is checked)


@contextmanager
def damage_as_tar_error() -> Iterator[None]:
    """Turn every error that a damaged archive leads to into tarfile.TarError."""
    try:
        yield
    except _DAMAGED as error:
        raise tarfile.TarError(f"it is damaged: {error}") from error
    except OSError as error:
        if error.errno not in _CONTRADICTIONS:
            raise
        raise tarfile.TarError(f"it is damaged: {error}") from error


def _bounded(members: Iterable[tarfile.TarInfo], most_bytes: int) -> Iterator[tarfile.TarInfo]:
    total = 0
    for number, member in enumerate(members, start=1):
        total += member.size
        if total > most_bytes:
            raise tarfile.TarError(f"its files take more than {most_bytes:,} bytes")
        if number > MOST_MEMBERS:
            raise tarfile.TarError(f"it has more than {MOST_MEMBERS:,} files, folders and links")
        yield member


def _harmless(members: Iterable[tarfile.TarInfo], folder: Path) -> Iterator[tarfile.TarInfo]:
    """Yield the members, each checked when those before it are unpacked: a name may lead through an earlier link."""
    for member in members:
        if not (member.isreg() or member.isdir() or member.issym() or member.islnk()):
            raise tarfile.TarError(f"{member.name!r} is neither file, folder nor link")
        if any(not Path(os.path.realpath(folder / name)).is_relative_to(folder) for name in _names(member)):
            raise tarfile.TarError(f"{member.name!r} would lie outside of the folder or point there")
        if member.islnk() and (folder / member.linkname).is_symlink():
            raise tarfile.TarError(f"{member.name!r} is a hard link to a symbolic link")
        member.mode = _mode(member)
        member.uid, member.gid, member.uname, member.gname = os.geteuid(), os.getegid(), "", ""
        yield member


def _mode(member: tarfile.TarInfo) -> int:
    """Return the rights of an unpacked member: folders can be entered, files have at most their owner's rights, and
    only the owner may write.
    """
    if member.isdir():
        return 0o755
    return member.mode & (0o755 if member.mode & 0o100 else 0o644) | 0o600


def _names(member: tarfile.TarInfo) -> Iterator[str]:
    yield member.name
    if member.issym():
        yield str(Path(member.name).parent / member.linkname)
    elif member.islnk():
        yield member.linkname
