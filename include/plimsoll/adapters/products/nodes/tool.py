"""The node tool: the Java program that asks nodes for their state, as a cluster over CQL and as JVMs over JMX."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from plimsoll.adapters.artefacts.own_programs import OwnProgram
from plimsoll.adapters.products.nodes.answers import answer_of
from plimsoll.adapters.products.nodes.node_state import name_of
from plimsoll.domain.errors import DeployError
from plimsoll.ports.artefacts import ProgramSource, jdk_of
from plimsoll.ports.host import Host

WHOLE = timedelta(seconds=90)
"""The least time that running nodes get to become one cluster."""
JVM_START = timedelta(seconds=60)
# In a JVM that lives for seconds, optimising code takes longer than it saves.
_SHORT_LIVED = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx128M")


@dataclass(frozen=True)
class NodeTool:
    """The command lines of the node tool."""

    artefacts: ProgramSource

    def argv(self, host: Host, *arguments: str) -> tuple[str, ...]:
        """Return the command that runs the node tool on that host. Installs it there first. Raises ArtefactError."""
        program = OwnProgram("plimsoll.nodes.Main", self.artefacts.program("node-tool"), jdk_of("node-tool"))
        return program.argv(self.artefacts, host, *arguments, jvm=_SHORT_LIVED)

    def ask(self, host: Host, *arguments: str, allowed: timedelta) -> Any:
        """Return the node tool's answer, which is JSON on its last line of output.

        Raises DeployError where there is none.
        """
        result = host.run(self.argv(host, *arguments), timeout=allowed, check=False)
        return answer_of(result, arguments[0], where=f"host {host.info.name}", mend="mend the reason given")

    def probe(self, load: Host, nodes: Sequence[Host], within: timedelta, product: str) -> None:
        """Return once all nodes know each other, have the same schema and accept a write at consistency ALL.

        Raises DeployError where that takes too long.
        """
        addresses = ",".join(node.info.address for node in nodes)
        timeout = f"{within.total_seconds():.0f}s"
        answer = self.ask(load, "probe", "--host", addresses, "--timeout", timeout, allowed=within + JVM_START)
        if not answer["ready"]:
            raise DeployError(
                f"the nodes run, but are no whole cluster after {timeout}: {answer['reason']}",
                where=f"{product} on {', '.join(name_of(node) for node in nodes)}",
                mend="see what else their hosts do; for a busy machine write `start_within` below system",
            )
