"""Unpacking a tar archive that somebody else made: inside one folder, as its owner, and within a bound.

The rules are those of the filter `data` (PEP 706). Python before 3.11.4, such as Debian 12's, has no filters.
"""

import os
import tarfile
from collections.abc import Iterator
from pathlib import Path

MOST_BYTES = 8 << 30
"""A JDK takes 0.3 GiB."""
_MODE = 0o755


def unpack_tar(packed: Path, folder: Path, most_bytes: int = MOST_BYTES) -> None:
    """Unpack into the folder, which is made if it is not there.

    Raises tarfile.TarError, EOFError or zlib.error for what is no whole archive, and tarfile.TarError for a member that
    would lie outside of the folder or is neither file, folder nor link, and as soon as the members, unpacked, take
    more than `most_bytes` together. What came before it stays.
    """
    with tarfile.open(packed) as tar:
        members = _bounded(tar, most_bytes)
        if hasattr(tarfile, "data_filter"):
            tar.extractall(folder, members, filter="data")
        else:
            tar.extractall(folder, _harmless(members, folder.resolve()))  # noqa: S202 (each is checked)


def _bounded(members: Iterator[tarfile.TarInfo] | tarfile.TarFile, most_bytes: int) -> Iterator[tarfile.TarInfo]:
    total = 0
    for member in members:
        total += member.size
        if total > most_bytes:
            raise tarfile.TarError(f"its files take more than {most_bytes:,} bytes")
        yield member


def _harmless(members: Iterator[tarfile.TarInfo], folder: Path) -> Iterator[tarfile.TarInfo]:
    """The members, each checked when those before it are unpacked: a name may lead through an earlier link."""
    for member in members:
        if not (member.isreg() or member.isdir() or member.issym() or member.islnk()):
            raise tarfile.TarError(f"{member.name!r} is neither file, folder nor link")
        outside = [name for name in _names(member) if not _real(folder / name).is_relative_to(folder)]
        if outside:
            raise tarfile.TarError(f"{member.name!r} would lie outside of the folder or point there")
        member.mode = member.mode & _MODE | 0o600
        member.uid, member.gid, member.uname, member.gname = os.geteuid(), os.getegid(), "", ""
        yield member


def _names(member: tarfile.TarInfo) -> Iterator[str]:
    yield member.name
    if member.issym():
        yield str(Path(member.name).parent / member.linkname)
    elif member.islnk():
        yield member.linkname


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
