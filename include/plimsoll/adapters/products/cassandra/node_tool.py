"""The node tool: the Java program that asks Cassandra nodes for their state."""

from dataclasses import dataclass

from plimsoll.adapters.artefacts.own_programs import OwnProgram
from plimsoll.ports.artefacts import ProgramSource
from plimsoll.ports.host import Host

# In a JVM that lives for seconds, optimising code takes longer than it saves.
_SHORT_LIVED = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx128M")


@dataclass(frozen=True)
class NodeTool:
    """The command lines of the node tool."""

    artefacts: ProgramSource

    def argv(self, host: Host, *arguments: str) -> tuple[str, ...]:
        """The command that runs the node tool on that host. Installs it there first. Raises ArtefactError."""
        program = OwnProgram("plimsoll.nodes.Main", self.artefacts.node_tool())
        return program.argv(self.artefacts, host, *arguments, jvm=_SHORT_LIVED)
