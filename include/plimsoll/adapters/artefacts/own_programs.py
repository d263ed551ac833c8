"""Plimsoll's own Java programs on hosts: how each is installed there and started."""

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from plimsoll.adapters.artefacts.class_data import ARCHIVE, jars_of, of_program
from plimsoll.ports.artefacts import OWN_JDK, ProgramSource
from plimsoll.ports.host import Host


@dataclass(frozen=True)
class OwnProgram:
    """A program: its name in the cache, its main class, and the folder with its jars."""

    name: str
    main: str
    bundle: Path

    def argv(self, artefacts: ProgramSource, host: Host, *arguments: str, jvm: tuple[str, ...] = ()) -> tuple[str, ...]:
        """The command that runs it on that host, after installing it there. Raises ArtefactError."""
        jdk = artefacts.jdk(OWN_JDK)
        home, folder = host.install(jdk.home), host.install(self.bundle)
        # The JVM compares paths and times, so it would ignore the archive if the files had other paths on the host.
        in_place = (home, folder) == (PurePosixPath(jdk.home), PurePosixPath(self.bundle))
        shared = self._shared(artefacts) if in_place else ()
        class_path = ":".join(str(folder / jar.name) for jar in jars_of(self.bundle))
        java = home / jdk.java.relative_to(jdk.home)
        return (str(java), *jvm, *shared, "-cp", class_path, self.main, *arguments)

    def _shared(self, artefacts: ProgramSource) -> tuple[str, ...]:
        """Most of a short run's processor time is reading and verifying classes."""
        return (f"-XX:SharedArchiveFile={of_program(artefacts, self.name, self.bundle) / ARCHIVE}",)
