"""The node tool: the Java program that asks Cassandra nodes for their state."""

from dataclasses import dataclass

from plimsoll.ports.artefacts import OWN_JDK, ArtefactSource
from plimsoll.ports.host import Host

_MAIN = "plimsoll.nodes.Main"
# In a JVM that lives for seconds, optimising code takes longer than it saves.
_SHORT_LIVED = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx128M")


@dataclass(frozen=True)
class NodeTool:
    """The command lines of the node tool."""

    artefacts: ArtefactSource

    def argv(self, host: Host, *arguments: str) -> tuple[str, ...]:
        """The command that runs the node tool on that host. Installs it there first. Raises ArtefactError."""
        jdk = self.artefacts.jdk(OWN_JDK)
        java = host.install(jdk.home) / jdk.java.relative_to(jdk.home)
        bundle = self.artefacts.node_tool()
        folder = host.install(bundle)
        class_path = ":".join(str(folder / name) for name in sorted(jar.name for jar in bundle.glob("*.jar")))
        return (str(java), *_SHORT_LIVED, "-cp", class_path, _MAIN, *arguments)
