"""Folders of files that people write: definitions, one YAML file per campaign, or files to import, by patterns."""

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from plimsoll.adapters.stores.local_files import is_utf_8, read_text
from plimsoll.domain.errors import NotFound
from plimsoll.domain.limits import LARGEST_BYTES
from plimsoll.domain.wording import meant_or_known


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
        return tuple(sorted(path.stem for path in self._folder.glob("*.yaml") if is_utf_8(path.name)))

    def fingerprint(self) -> frozenset[tuple[str, int, int]]:
        """Return name, size in bytes and last change in ns of each file. The result differs when any has changed."""
        return frozenset(
            (path.name, status.st_size, status.st_mtime_ns)
            for path in self._folder.glob("*.yaml")
            for status in _statuses(path)
        )

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


def _statuses(path: Path) -> Iterator[os.stat_result]:
    """Yield the file's status; empty where the file has been deleted since, or is a broken link."""
    with suppress(OSError):
        yield path.stat()


@dataclass(frozen=True)
class ImportFolder:
    """The folder of an import's description. Nothing outside it is read."""

    root: Path

    def find(self, patterns: tuple[str, ...], *, required: bool) -> tuple[FoundFile, ...]:
        """Return the files of all patterns, sorted.

        Raises NotFound where a pattern matches no file, unless none is required, where the files are too large to be
        read together, and for names that no bundle may have.
        """
        found: dict[Path, None] = {}
        for pattern in patterns:
            paths = sorted(path for path in self._matches(pattern) if path.is_file() and self._is_inside(path))
            if not paths and required:
                mend = "patterns count from the folder of the file that describes the import"
                raise NotFound(f"no file is found by {pattern!r}", where=str(self.root), mend=mend)
            found |= dict.fromkeys(paths)
        self._require_plain_names(found)
        self._require_bounded(found)
        return tuple(self._file(path) for path in found)

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

    def _is_inside(self, path: Path) -> bool:
        """Tell whether the file is inside the folder, since a link may lead out of it."""
        return path.resolve().is_relative_to(self.root.resolve())

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
