"""Programs and their libraries, taken from the archive of a product's release.

An archive that somebody else made is unpacked inside one folder, as its owner, and within a bound. The rules are those
of the filter `data` (PEP 706), which Python before 3.11.4, such as Debian 12's, does not have. In addition absolute
names, and hard links to symbolic links, are refused.
"""

import errno
import hashlib
import os
import shutil
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from plimsoll.adapters.artefacts.cache import Cache, is_sound
from plimsoll.adapters.artefacts.locks import LockedJar, locked_set
from plimsoll.adapters.artefacts.maven import fetch
from plimsoll.domain.text.errors import ArtefactError
from plimsoll.ports.artefacts import ReleaseProgram

# A part of the entry's name: with another number programs are taken from the same archives again
_RECIPE = "1"
_MOST_BYTES = 200_000_000


def release_jars(cache: Cache, program: ReleaseProgram, *, thorough: bool = False) -> Path:
    """Return the folder with every jar of the program. Downloads what is missing. Raises ArtefactError."""
    return cache.sealed(_entry(program), lambda folder: _fill(cache, program, folder), thorough=thorough)


def release(program: ReleaseProgram) -> str:
    """Return the release that the program belongs to: `4.0-alpha2`."""
    return _archive(program).coordinates.split(":")[2]


def size_bytes(program: ReleaseProgram) -> int:
    """Return the size of what is downloaded, bytes."""
    return sum(jar.size_bytes for jar in (_archive(program), *_newer(program)))


def is_there(cache: Cache, program: ReleaseProgram) -> bool:
    """Tell whether the program is in the cache, complete."""
    return is_sound(cache.root / _entry(program))


def _archive(program: ReleaseProgram) -> LockedJar:
    locked = locked_set(program.lock)
    assert locked is not None, "its lock file lies in the repository"
    return locked.jars[0]


def _entry(program: ReleaseProgram) -> str:
    checksums = " ".join([_RECIPE, _archive(program).sha256, *(jar.sha256 for jar in _newer(program))])
    digest = hashlib.sha256(checksums.encode()).hexdigest()[:8]
    return f"derived/{program.lock}-{release(program)}-{digest}"


def _newer(program: ReleaseProgram) -> tuple[LockedJar, ...]:
    """Return the libraries of Plimsoll's own load generator that replace the release's."""
    locked = locked_set("load-generator")
    return tuple(jar for jar in (locked.jars if locked else ()) if jar.name.startswith(program.replaced))


def _fill(cache: Cache, program: ReleaseProgram, folder: Path) -> None:
    archive = _archive(program)
    cache.log(f"fetching {archive.name}: {archive.size_bytes / 1_000_000:.0f} MB")
    for wanted, file in fetch([archive, *_newer(program)], folder.parent / "download"):
        if wanted == archive:
            try:
                with damage_as_tar_error(), tarfile.open(file) as tar:
                    _take_jars(tar, program, folder)
            except tarfile.TarError as error:
                mend = "remove it from the cache, then try again"
                raise ArtefactError(f"it can't be unpacked: {error}", where=archive.name, mend=mend) from error
        else:
            shutil.copyfile(file, folder / wanted.name)


def _take_jars(tar: tarfile.TarFile, program: ReleaseProgram, folder: Path) -> None:
    """Copy the program's jars into one folder. Nothing else of the release is needed."""
    size = 0
    for member in tar:
        path = PurePosixPath(member.name)
        is_jar = member.isfile() and path.suffix == ".jar" and "/".join(path.parts[1:-1]) in program.folders
        content = tar.extractfile(member) if is_jar else None
        if content is None or path.name.startswith(program.replaced):
            continue
        size += member.size
        if size > _MOST_BYTES:
            raise ArtefactError("it holds more than a release does", where=str(tar.name), mend="check the lock file")
        (folder / path.name).write_bytes(content.read())


try:
    from lzma import LZMAError
except ImportError:  # a Python that was built without it opens no such archive
    LZMAError = EOFError  # type: ignore[misc,assignment]

MOST_BYTES = 8 << 30
"""A JDK takes 0.3 GiB."""
MOST_MEMBERS = 100_000
"""Files, folders and links; a JDK has 500. Empty ones take no bytes, but each takes a place on the disk."""
# tarfile raises KeyError for a hard link to a member that the archive lacks
_DAMAGED = (EOFError, zlib.error, LZMAError, KeyError)
# None: decompressors raise OSError without a number
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
    except (*_DAMAGED, OSError) as error:
        if isinstance(error, OSError) and error.errno not in _CONTRADICTIONS:
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
        # Folders can be entered, files have at most their owner's rights, and only the owner may write
        of_owner = 0o755 if member.mode & 0o100 else 0o644
        member.mode = 0o755 if member.isdir() else member.mode & of_owner | 0o600
        member.uid, member.gid, member.uname, member.gname = os.geteuid(), os.getegid(), "", ""
        yield member


def _names(member: tarfile.TarInfo) -> Iterator[str]:
    yield member.name
    if member.issym():
        yield str(Path(member.name).parent / member.linkname)
    elif member.islnk():
        yield member.linkname
