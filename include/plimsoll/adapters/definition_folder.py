"""Definition files: one YAML file a campaign, in one folder."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from plimsoll.adapters.text_files import read_text
from plimsoll.domain.errors import NotFound
from plimsoll.domain.spelling import meant_or_known


class DefinitionFolder:
    """The folder of definitions, by name."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def names(self) -> tuple[str, ...]:
        """Names of all definitions in the folder, sorted."""
        return tuple(sorted(path.stem for path in self._folder.glob("*.yaml")))

    def fingerprint(self) -> frozenset[tuple[str, int, int]]:
        """Name, size in bytes and time of the last change in ns of each file: differs when any of them has changed."""
        return frozenset(
            (path.name, status.st_size, status.st_mtime_ns)
            for path in self._folder.glob("*.yaml")
            for status in _statuses(path)
        )

    def find(self, name_or_path: str) -> Path:
        """The file of a name, or the file itself where a path is given; NotFound lists the names there are."""
        own = Path(name_or_path)
        for path in (self._folder / f"{name_or_path}.yaml", own):
            if path.is_file():
                return path
        known = self.names()
        lead = "give one of these names, or the path of a YAML file"
        raise NotFound(
            f"{name_or_path!r} is a folder, not a definition"
            if own.is_dir()
            else f"there is no definition {own.name!r}",
            where=str(own.parent if own.name != name_or_path else self._folder),
            mend=meant_or_known(own.stem, known, lead=lead) or f"{lead}; the folder has none",
        )

    def read(self, name_or_path: str) -> tuple[str, str]:
        """The file's place and its text. DefinitionError where it can't be read as text."""
        path = self.find(name_or_path)
        return str(path), read_text(path)


def _statuses(path: Path) -> Iterator[os.stat_result]:
    """The file's status; none where it has gone since the folder was listed, or leads nowhere."""
    with suppress(OSError):
        yield path.stat()
