"""Programs given in a definition as an archive with its checksum: the controller downloads, verifies, unpacks them.

An archive that somebody else made is unpacked inside one folder, as its owner, and within a bound. The rules are those
of the filter `data` (PEP 706), which Python before 3.11.4, such as Debian 12's, does not have. In addition absolute
names, and hard links to symbolic links, are refused.
"""

import errno
import hashlib
import os
import tarfile
import time
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from botocore.exceptions import BotoCoreError, ClientError
from tenacity import (
    Retrying,
    retry_if_exception,
    retry_if_exception_type,
    stop_after_attempt,
    stop_after_delay,
    wait_incrementing,
)

from plimsoll.adapters.artefacts.cache import Cache, is_sound
from plimsoll.adapters.artefacts.web import ARCHIVES, S3, is_refused, require_authorities, untrusted, web_blocks
from plimsoll.domain.keys.variant import Archive, is_inside
from plimsoll.domain.text.errors import ArtefactError
from plimsoll.ports.artefacts import MOST_FETCH_S

try:
    from lzma import LZMAError
except ImportError:  # a Python that was built without it opens no such archive
    LZMAError = EOFError  # type: ignore[misc,assignment]

MOST_BYTES = 4 << 30
"""The greatest size of an archive, bytes; large JDKs have a tenth of it, ScyllaDB a quarter."""
MOST_S = MOST_FETCH_S
"""The longest time for fetching an archive, with all tries, s."""
_TIMEOUT_S = 30
# Of S3. The bounds are looked at after each block, and after each piece that arrives from another server.
_BLOCK = 1 << 16
_MEND = "check the definition's `archive` and the way to it, then run it again"
MOST_UNPACKED_BYTES = 8 << 30
"""A JDK takes 0.3 GiB."""
MOST_MEMBERS = 100_000
"""Files, folders and links; a JDK has 500. Empty ones take no bytes, but each takes a place on the disk."""
# tarfile raises KeyError for a hard link to a member that the archive lacks
_DAMAGED = (EOFError, zlib.error, LZMAError, KeyError)
# None: decompressors raise OSError without a number
_CONTRADICTIONS = (None, errno.ENOTDIR, errno.EISDIR, errno.EEXIST)
"""Errors of an archive that is damaged, or in which a name stands for a file and for a folder; not of the disk."""


@dataclass(frozen=True)
class Archives:
    """A downloader of archives. `s3` makes a boto3 client, at each download from `s3://bucket/key`."""

    s3: Callable[[], Any] | None = None

    def unpack(self, archive: Archive, folder: Path, scratch: Path) -> None:
        """Download the archive, verify its checksum and unpack it into the folder. Raises ArtefactError."""
        require_authorities(archive.url, _authorities(archive.url))
        packed = scratch / "archive"
        if self._persistently(archive, packed) != archive.sha256:
            mend = "correct `archive.sha256` in the definition, or find out why another file lies there"
            # Its sha256 stays untold: who can only write definitions must not learn what else this machine can reach.
            what = f"its sha256 is not {archive.sha256}, which the definition says"
            raise ArtefactError(what, where=archive.url, mend=mend)
        try:
            unpack_tar(packed, folder)
        except tarfile.TarError as error:
            raise ArtefactError(f"it can't be unpacked: {error}", where=archive.url, mend=_MEND) from error
        packed.unlink()

    def _persistently(self, archive: Archive, packed: Path) -> str:
        """Return the sha256 of what came. Failures of the way or the server are tried again, other errors are not."""
        import httpx

        failures = (httpx.HTTPError, BotoCoreError, ClientError)
        persistent = Retrying(
            retry=retry_if_exception_type(failures) & retry_if_exception(lambda error: not is_refused(error)),
            stop=stop_after_attempt(3) | stop_after_delay(MOST_S),
            wait=wait_incrementing(1, 1),
            reraise=True,
        )
        try:
            # One deadline for all tries
            return persistent(self._download, archive.url, packed, time.monotonic() + MOST_S)
        except failures as error:
            if is_refused(error):
                raise untrusted(archive.url, _authorities(archive.url), error) from error
            raise ArtefactError(f"it can't be fetched: {error}", where=archive.url, mend=_MEND) from error

    def _download(self, url: str, packed: Path, deadline: float) -> str:
        """Download into the file, and return the sha256 of what arrived. ArtefactError for what never ends."""
        digest = hashlib.sha256()
        with packed.open("wb") as file, closing(self._blocks(url)) as blocks:
            for block in blocks:
                digest.update(block)
                file.write(block)
                _require_bounds(url, file.tell(), deadline)
        return digest.hexdigest()

    def _blocks(self, url: str) -> Generator[bytes]:
        parts = urlsplit(url)
        if parts.scheme != "s3":
            yield from web_blocks(url, _TIMEOUT_S)
        elif self.s3 is None:
            raise ArtefactError("there is no access to S3 here", where=url, mend="give it at an https:// address")
        else:
            with closing(self.s3().get_object(Bucket=parts.netloc, Key=parts.path.lstrip("/"))["Body"]) as body:
                yield from body.iter_chunks(_BLOCK)


def unpacked(cache: Cache, archive: Archive, program: str, archives: Archives, *, thorough: bool = False) -> Path:
    """Return its folder with `program`, such as `bin/java`; downloaded if necessary. Raises ArtefactError."""

    def build(content: Path) -> None:
        cache.log(f"fetching {archive.url}")
        archives.unpack(archive, content, content.parent)
        _home_in(content, program, archive.url)

    entry = _entry(archive)
    folder = cache.sealed(entry, build, thorough=thorough or not cache.was_read(entry))
    return _home_in(folder, program, archive.url)


def is_there(cache: Cache, archive: Archive) -> bool:
    """Tell whether the archive can be used without downloading anything."""
    entry = _entry(archive)
    return is_sound(cache.root / entry, thorough=not cache.was_read(entry))


def _entry(archive: Archive) -> str:
    """Return the cache entry of an archive, whatever its name in a definition, apart from those of lock files."""
    return f"archives/{archive.sha256}"


def _home_in(folder: Path, program: str, url: str) -> Path:
    """Return the folder nearest to the top of an unpacked archive that has the program. Raises ArtefactError."""
    if not is_inside(program):
        mend = "name the program by its path from the archive's folder, without `..` and `**`"
        raise ArtefactError(f"{program!r} is no path in it", where=url, mend=mend)
    path = min(folder.glob(f"**/{program}"), key=lambda path: (len(path.parts), path), default=None)
    if path is None:
        raise ArtefactError(f"there is no {program} in it", where=url, mend=_MEND)
    return path.parents[len(PurePosixPath(program).parts) - 1]


def _authorities(url: str) -> str:
    """Return the variable that names the authorities which the downloader from there trusts."""
    return S3 if urlsplit(url).scheme == "s3" else ARCHIVES


def _require_bounds(url: str, size: int, deadline: float) -> None:
    if size > MOST_BYTES:
        raise ArtefactError(f"it is larger than {MOST_BYTES} bytes, the most an archive may be", where=url, mend=_MEND)
    if time.monotonic() >= deadline:
        what = f"it takes longer than the {MOST_S:g} s that fetching one may take: {size} bytes have arrived"
        raise ArtefactError(what, where=url, mend=_MEND)


def unpack_tar(packed: Path, folder: Path, most_bytes: int = MOST_UNPACKED_BYTES) -> None:
    """Unpack into the folder, which is made if it is not there.

    Raises tarfile.TarError for what is no whole archive, for a member that would lie outside of the folder or is
    neither file, folder nor link, and as soon as the files, unpacked, take more than `most_bytes` together or there are
    more than `MOST_MEMBERS`. What came before it stays. Raises OSError where the disk is at fault.
    """
    filtered: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
    with _damage_as_tar_error(), tarfile.open(packed) as tar:
        members = _harmless(_bounded(tar, most_bytes), folder.resolve())
        tar.extractall(folder, members, **filtered)  # noqa: S202 (each is checked)


@contextmanager
def _damage_as_tar_error() -> Iterator[None]:
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
        if any(not Path(os.path.realpath(folder / name)).is_relative_to(folder) for name in _places_of(member)):
            raise tarfile.TarError(f"{member.name!r} would lie outside of the folder or point there")
        if member.islnk() and (folder / member.linkname).is_symlink():
            raise tarfile.TarError(f"{member.name!r} is a hard link to a symbolic link")
        # Folders can be entered, files have at most their owner's rights, and only the owner may write
        of_owner = 0o755 if member.mode & 0o100 else 0o644
        member.mode = 0o755 if member.isdir() else member.mode & of_owner | 0o600
        member.uid, member.gid, member.uname, member.gname = os.geteuid(), os.getegid(), "", ""
        yield member


def _places_of(member: tarfile.TarInfo) -> Iterator[str]:
    yield member.name
    if member.issym():
        yield str(Path(member.name).parent / member.linkname)
    elif member.islnk():
        yield member.linkname
