"""Definition files: one YAML file per campaign, all in one folder."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from plimsoll.adapters.stores.local_files import is_utf_8
from plimsoll.adapters.stores.text_files import read_text
from plimsoll.domain.errors import NotFound
from plimsoll.domain.spelling import meant_or_known


class DefinitionFolder:
    """The folder of definition files, each found by the definition's name."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def names(self) -> tuple[str, ...]:
        """Return names of all definitions in the folder, sorted. No name is one that is not UTF-8."""
        return tuple(sorted(path.stem for path in self._folder.glob("*.yaml") if is_utf_8(path.name)))

    def fingerprint(self) -> frozenset[tuple[str, int, int]]:
        """Return name, size in bytes and last change in ns of each file. The result differs when any file has
        changed.
        """
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
