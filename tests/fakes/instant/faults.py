"""Cells that are told to fail."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from plimsoll.ports.host import Host

INSTANT = "instant"
"""The name under which definitions ask for everything instant."""


@dataclass(frozen=True)
class Faults:
    """Cells that are to fail: a file each, naming the phase (`provision`, `deploy`, `down`, `load`, `destroy`).

    `slow` lets the cell succeed, and miss its service level. `load once` heals the cell when it has failed.
    """

    folder: Path

    def plant(self, cell_id: str, phase: str) -> None:
        """Let that phase of that cell fail from now on."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / cell_id).write_text(phase)

    def heal(self, cell_id: str) -> None:
        """Let the cell succeed from now on."""
        (self.folder / cell_id).unlink(missing_ok=True)

    @contextmanager
    def planted(self, cell_id: str, phase: str) -> Iterator[None]:
        """Let that phase of that cell fail inside the block. Others share the cell's id: it is healed in any case."""
        self.plant(cell_id, phase)
        try:
            yield
        finally:
            self.heal(cell_id)

    def hits(self, cell_id: str, phase: str) -> bool:
        """Tell whether that phase of that cell is to fail."""
        file = self.folder / cell_id
        return file.is_file() and file.read_text() == phase


def cell_of(host: Host) -> str:
    """Return the host's cell; empty where the host is more than a folder of the instant provider."""
    if "~" in host.root.parent.parent.name:  # hosts that are kept: the folder is that of the attempt
        return host.root.name.removesuffix("-data").rpartition("-")[0]
    return host.root.parent.name.partition("~")[2].partition("~")[0]
