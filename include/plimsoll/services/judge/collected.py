"""The files of an attempt in the store, by host, process and name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from plimsoll.services.store import layout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.domain.result import Manifest, ManifestEntry
    from plimsoll.ports.store import ReadableStore


@dataclass(frozen=True, eq=False)
class CollectedFiles:
    """The files that a manifest lists, which are below `raw/<host>/<process>`, or `raw/<host>` if of no process."""

    store: ReadableStore
    manifest: Manifest

    @property
    def hosts(self) -> Sequence[str]:
        """Return the names of the hosts with files, in the manifest's order."""
        return tuple(dict.fromkeys(PurePosixPath(entry.path).parts[1] for entry in self.manifest.files))

    def of(self, host: str, process: str = "") -> dict[str, ManifestEntry]:
        """Return the files of that process of a host by name; of the host itself where no process is named."""
        folder = str(PurePosixPath(layout.RAW, host, process))
        parts = ((entry, *entry.path.rpartition("/")) for entry in self.manifest.files)
        return {name: entry for entry, parent, _, name in parts if parent == folder}

    def read(self, entry: ManifestEntry) -> bytes:
        """Return the content of a file."""
        return self.store.read(layout.attempt_file(self.manifest.key, entry.path))

    def text(self, entry: ManifestEntry | None) -> str:
        """Return the content of a file as text, with marks in place of bytes that are none.

        Empty where there is no file.
        """
        return self.read(entry).decode(errors="replace") if entry else ""
