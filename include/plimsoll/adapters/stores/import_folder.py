"""Find the files to import by patterns in a folder."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from plimsoll.domain.errors import NotFound
from plimsoll.domain.limits import LARGEST_BYTES


@dataclass(frozen=True)
class FoundFile:
    """A local file; `name` is its path from the folder."""

    name: str
    path: Path
    sha256: str


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
