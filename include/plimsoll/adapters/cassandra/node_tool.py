"""The Java program that asks Cassandra nodes how they are."""

from dataclasses import dataclass

from plimsoll.ports.artefacts import OWN_JDK, ArtefactSource
from plimsoll.ports.host import Host

_MAIN = "plimsoll.nodes.Main"
# To optimise the code of a JVM that lives for seconds takes longer than it saves.
_SHORT_LIVED = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx128M")


@dataclass(frozen=True)
class NodeTool:
    """Command lines of the program."""

    artefacts: ArtefactSource

    def argv(self, host: Host, *arguments: str) -> tuple[str, ...]:
        """The command that runs it on that host, installed there. ArtefactError when it can't be had."""
        jdk = self.artefacts.jdk(OWN_JDK)
        java = host.install(jdk.home) / jdk.java.relative_to(jdk.home)
        bundle = self.artefacts.node_tool()
        folder = host.install(bundle)
        class_path = ":".join(str(folder / name) for name in sorted(jar.name for jar in bundle.glob("*.jar")))
        return (str(java), *_SHORT_LIVED, "-cp", class_path, _MAIN, *arguments)
