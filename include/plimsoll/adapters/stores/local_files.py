"""Files in folders of this machine that others see whole or not at all, and that a loss of power leaves whole. Those
that people write are read up to a size limit.

A file's content is on the disk before the file gets its name. Without that, the name of a record, or of a log whose
hosts are gone, may outlive its content. On ext4 on a virtual disk it added 0.3 ms to a record, and nothing that could
be measured to a log of 50 MB, which the system writes to the disk soon in any case.

Folders of files that people write: definitions, one YAML file per campaign, or files to import, by patterns.
"""

import hashlib
import os
import re
import shutil
import uuid
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from plimsoll.domain.keys.host_bounds import LARGEST_BYTES
from plimsoll.domain.text.errors import DefinitionError, NotFound, Problem
from plimsoll.domain.text.wording import meant_or_known

_UNFINISHED = ".part"
_LEFT = re.compile(r"(\.[0-9a-f]{32}|(^|/)tmp[a-z0-9_]{8})\.part$")
"""The names that `put_whole` and `create_whole` give, and older ones. What people named `….part` is none."""
_MOST_BYTES = 1 << 20
# UTF-16 text without a mark begins with a NUL beside an ASCII character
_UTF_16 = re.compile(rb"\xff\xfe|\xfe\xff|\0[ -~]|[ -~]\0")


def put_whole(place: Path, write: Callable[[str], None]) -> None:
    """Have a temporary file written, then give it its name, in place of a file with that name."""
    unfinished = _beside(place)
    try:
        write(str(unfinished))
        _sync(unfinished)
        unfinished.replace(place)
    finally:
        unfinished.unlink(missing_ok=True)
    _sync_names(place.parent)


def create_whole(place: Path, data: bytes) -> bool:
    """Create by a hard link, which fails where the name is taken and never shows a half-written file."""
    unfinished = _beside(place)
    try:
        unfinished.write_bytes(data)
        _sync(unfinished)
        os.link(unfinished, place)
    except FileExistsError:
        return False
    finally:
        unfinished.unlink(missing_ok=True)
    _sync_names(place.parent)
    return True


def _beside(place: Path) -> Path:
    """Return a name in the file's folder, which is made, that no other file has."""
    place.parent.mkdir(parents=True, exist_ok=True)
    return Path(f"{place}.{uuid.uuid4().hex}{_UNFINISHED}")


def remove(place: Path) -> None:
    """Remove a file, or a folder with all that is in it, as far as it is there."""
    if place.is_dir():
        # Python 3.11 lacks `onexc`, which is to replace `onerror`
        shutil.rmtree(place, onerror=_unless_missing)
    else:
        with suppress(FileNotFoundError, NotADirectoryError):
            place.unlink()


def is_unfinished(path: str) -> bool:
    """Tell whether it is the name of a temporary file."""
    return path.endswith(_UNFINISHED)


def is_own_unfinished(path: str) -> bool:
    """Tell whether it is the name of a temporary file that this module made."""
    return _LEFT.search(path) is not None


def is_utf_8(name: str) -> bool:
    """Tell whether the name, as this machine's file system gave it, is text that can be stored and sent."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sync_names(folder: Path) -> None:
    with suppress(OSError):  # not every file system can do that for a folder; then the name alone may be lost
        _sync(folder)


def _unless_missing(_: object, __: str, fault: tuple[Any, BaseException, Any]) -> None:
    if not isinstance(fault[1], FileNotFoundError):
        raise fault[1]


def read_text(path: Path) -> str:
    """Return the text of a file. Raises DefinitionError where it can't be read, is larger than 1 MiB or no UTF-8."""
    data = b""
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1).removeprefix(BOM_UTF8)
        if _UTF_16.match(data):
            mend = "save the file as UTF-8: `iconv -f utf-16 -t utf-8`"
            raise DefinitionError([Problem("the whole file", "is UTF-16 text", mend)], where=str(path))
        if len(data) <= _MOST_BYTES:
            return data.decode()
        problem = Problem("the whole file", f"is larger than {_MOST_BYTES >> 20} MiB", "is this the right file?")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        what = f"is not UTF-8 text: the byte 0x{data[error.start]:02x} stands here"
        mend = "save the file as UTF-8: `iconv -f latin1 -t utf-8` turns Latin-1 into it"
        problem = Problem(f"line {line}", what, mend)
    except IsADirectoryError:
        problem = Problem("the whole file", "is a folder", "give the YAML file in it")
    except OSError as error:
        problem = Problem("the whole file", f"can't be read: {error.strerror}", "check its path and its rights")
    raise DefinitionError([problem], where=str(path))


@dataclass(frozen=True)
class FoundFile:
    """A local file; `name` is its path from the folder."""

    name: str
    path: Path
    sha256: str


class DefinitionFolder:
    """The folder of definition files, each found by the definition's name."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def names(self) -> tuple[str, ...]:
        """Return names of all definitions in the folder, sorted. No name is one that is not UTF-8."""
        files = (path for path in self._folder.glob("*.yaml") if is_utf_8(path.name) and not path.is_dir())
        return tuple(sorted(path.stem for path in files))

    def fingerprint(self) -> frozenset[tuple[str, int, int]]:
        """Return name, size in bytes and last change in ns of each file. The result differs when any has changed."""
        files = set[tuple[str, int, int]]()
        for path in self._folder.glob("*.yaml"):
            with suppress(OSError):  # deleted since, or a broken link
                status = path.stat()
                files.add((path.name, status.st_size, status.st_mtime_ns))
        return frozenset(files)

    def find(self, name_or_path: str) -> Path:
        """Return the file with that name, or the file at that path. Raises NotFound with the names that exist."""
        own = Path(name_or_path)
        for path in (self._folder / f"{name_or_path}.yaml", own):
            if path.is_file():
                return path
        raise self._missing(name_or_path, own)

    def read(self, name_or_path: str) -> tuple[str, str]:
        """Return the file's path and text. Raises DefinitionError where it can't be read as text."""
        path = self.find(name_or_path)
        return str(path), read_text(path)

    def _missing(self, name_or_path: str, own: Path) -> NotFound:
        """Return the error for a name or a path; what ends in `.yaml` or is not one word is a path."""
        is_path = own.suffix in (".yaml", ".yml") or own.name != name_or_path or own.is_dir()
        what = f"there is no {'file' if is_path else 'definition'} {own.name!r}"
        if not name_or_path:
            what = "no definition was named"
        elif own.is_dir():
            what = f"{name_or_path!r} is a folder, not a definition"
        lead = "give one of these names, or the path of a YAML file"
        return NotFound(
            what,
            where=str(own.parent.absolute() if name_or_path and is_path else self._folder),
            mend=meant_or_known(own.stem, self.names(), lead=lead) or f"{lead}; the folder has none",
        )


@dataclass(frozen=True)
class ImportFolder:
    """The folder of an import's description. Nothing outside it is read."""

    root: Path

    def find(self, patterns: tuple[str, ...], *, required: bool) -> tuple[FoundFile, ...]:
        """Return the files of all patterns, sorted.

        Raises NotFound where a pattern matches no file, unless none is required, where the files are too large to be
        read together, and for names that no bundle may have.
        """
        paths: dict[Path, None] = {}
        root = self.root.resolve()
        for pattern in patterns:
            files = filter(Path.is_file, self._matches(pattern))
            inside = sorted(path for path in files if path.resolve().is_relative_to(root))  # a link may lead out of it
            if not inside and required:
                mend = "patterns count from the folder of the file that describes the import"
                raise NotFound(f"no file is found by {pattern!r}", where=str(self.root), mend=mend)
            paths |= dict.fromkeys(inside)
        self._require_plain_names(paths)
        self._require_bounded(paths)
        return tuple(self._file(path) for path in paths)

    def _matches(self, pattern: str) -> Sequence[Path]:
        parts = PurePosixPath(pattern).parts
        if not parts or ".." in parts or PurePosixPath(pattern).is_absolute():
            mend = "give a path or a pattern below the folder of the file that describes the import"
            raise NotFound(f"{pattern!r} leads out of the folder", where=str(self.root), mend=mend)
        try:
            return list(self.root.glob(pattern))
        except ValueError as error:
            what = f"{pattern!r} is no pattern ({error})"
            raise NotFound(what, where=str(self.root), mend="write `**/` for folders of any depth") from error

    def _require_plain_names(self, paths: Iterable[Path]) -> None:
        for name in (path.relative_to(self.root).as_posix() for path in paths):
            if not name.isprintable() or "\\" in name:
                what = f"the name {name!r} has control characters, backslashes or bytes that are not UTF-8"
                raise NotFound(what, where=str(self.root), mend="rename the file")

    def _require_bounded(self, paths: Iterable[Path]) -> None:
        """Limit the total size, since the files of one run are read together."""
        if sum(path.stat().st_size for path in paths) > LARGEST_BYTES:
            what = f"the files of one run hold more than {LARGEST_BYTES >> 20:,} MiB together"
            raise NotFound(what, where=str(self.root), mend="give the files of each run alone, or fewer of them")

    def _file(self, path: Path) -> FoundFile:
        with path.open("rb") as stream:
            checksum = hashlib.file_digest(stream, "sha256").hexdigest()
        return FoundFile(path.relative_to(self.root).as_posix(), path, checksum)
