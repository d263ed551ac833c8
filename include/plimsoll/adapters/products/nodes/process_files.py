"""The paths of a process's files on its host, as far as all products have them."""

from dataclasses import dataclass
from pathlib import PurePosixPath

from plimsoll.adapters.hosts.jobs import console_path


@dataclass(frozen=True)
class ProcessFiles:
    """The paths of one process, `name`, below its host's root."""

    root: PurePosixPath
    name: str

    @property
    def home(self) -> PurePosixPath:
        """Return the folder of the process, and its working directory. Heap dumps are written here."""
        return self.root / self.name

    @property
    def data(self) -> PurePosixPath:
        """Return the folder of everything that the process stores. No second one may use it."""
        return self.home / "data"

    @property
    def configuration(self) -> PurePosixPath:
        """Return the folder of the files that are written for the process."""
        return self.home / "conf"

    @property
    def logs(self) -> PurePosixPath:
        """Return the folder of the process's own logs, and of what else is worth keeping."""
        return self.home / "logs"

    @property
    def console(self) -> PurePosixPath:
        """Return the output of the process. Only here does a JVM say why it does not start."""
        return console_path(self.root, self.name)
