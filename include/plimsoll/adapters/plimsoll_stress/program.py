"""The Java program of the load generator."""

from dataclasses import dataclass

from plimsoll.ports.artefacts import OWN_JDK, ArtefactSource
from plimsoll.ports.host import Host

_MAIN = "plimsoll.stress.Main"


@dataclass(frozen=True)
class StressProgram:
    """Command lines of the program."""

    artefacts: ArtefactSource

    def argv(self, host: Host, *arguments: str, jvm: tuple[str, ...] = ()) -> tuple[str, ...]:
        """The command that runs it on that host, after installing it there. Raises ArtefactError."""
        jdk = self.artefacts.jdk(OWN_JDK)
        java = host.install(jdk.home) / jdk.java.relative_to(jdk.home)
        bundle = self.artefacts.load_generator()
        folder = host.install(bundle)
        class_path = ":".join(str(folder / name) for name in sorted(jar.name for jar in bundle.glob("*.jar")))
        return (str(java), *jvm, "-cp", class_path, _MAIN, *arguments)
