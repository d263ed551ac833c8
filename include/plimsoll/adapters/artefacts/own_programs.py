"""Plimsoll's own Java programs on hosts: how each is installed there and started."""

from dataclasses import dataclass
from pathlib import Path

from plimsoll.ports.artefacts import ProgramSource
from plimsoll.ports.host import Host


@dataclass(frozen=True)
class OwnProgram:
    """A program: its main class, the folder with its jars, and the JDK that it runs on."""

    main: str
    bundle: Path
    jdk: str

    def argv(self, artefacts: ProgramSource, host: Host, *arguments: str, jvm: tuple[str, ...] = ()) -> tuple[str, ...]:
        """Return the command that runs it on that host, after installing it there. Raises ArtefactError."""
        jdk = artefacts.jdk(self.jdk)
        home, folder = host.install(jdk.home), host.install(self.bundle)
        class_path = ":".join(str(folder / jar.name) for jar in sorted(self.bundle.glob("*.jar")))
        return (str(home / jdk.java.relative_to(jdk.home)), *jvm, "-cp", class_path, self.main, *arguments)
