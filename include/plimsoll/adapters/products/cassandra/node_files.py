"""The paths of a node's files on its host."""

from dataclasses import dataclass
from pathlib import PurePosixPath

from plimsoll.adapters.hosts.jobs import console_path
from plimsoll.adapters.products.cassandra.log_words import WORDS
from plimsoll.adapters.products.nodes.jmx import JmxAccess
from plimsoll.adapters.products.nodes.node_process import NodeProcess
from plimsoll.adapters.products.nodes.process_files import ProcessFiles
from plimsoll.ports.host import Host

JOB = "cassandra"
"""The id of the node's job, and the name of its process."""
RESTARTED = "cassandra-restarted"
"""The id of the job of a node that was ended and started again."""
SYSTEM_LOG, GC_LOG = "system.log", "gc.log"
GC_LOG_OF_RESTARTED = "gc-restarted.log"
"""A JVM that starts again would begin the file anew."""


@dataclass(frozen=True)
class NodeFiles(ProcessFiles):
    """All paths of one node, below its host's root."""

    name: str = JOB

    @property
    def settings(self) -> PurePosixPath:
        """Return the node's `cassandra.yaml`."""
        return self.configuration / "cassandra.yaml"

    @property
    def logback(self) -> PurePosixPath:
        """Return the configuration of the logging library."""
        return self.configuration / "logback.xml"

    @property
    def compiler_hints(self) -> PurePosixPath:
        """Return the release's hints for the JIT compiler: what to inline and what not."""
        return self.configuration / "hotspot_compiler"

    @property
    def jmx(self) -> JmxAccess:
        """Return the files that open its JMX to Plimsoll."""
        return JmxAccess(self.configuration / "jmx.password", self.configuration / "jmx.access")

    @property
    def command(self) -> PurePosixPath:
        """Return the whole command, one argument per line, for people.

        Writing it to the folder of the logs also makes that folder, which the JVM needs at once for its GC log.
        """
        return self.logs / "command.txt"

    @property
    def system_log(self) -> PurePosixPath:
        """Return the path of Cassandra's own log."""
        return self.logs / SYSTEM_LOG


NODE = NodeProcess(JOB, lambda root: (NodeFiles(root).system_log, NodeFiles(root).console), WORDS)
RESTARTED_NODE = NodeProcess(RESTARTED, lambda root: (NodeFiles(root).system_log, console_path(root, RESTARTED)), WORDS)


def current_process(node: Host) -> NodeProcess:
    """Return the node's process that counts: the first one, unless it was started again."""
    return NODE if node.status(RESTARTED).state == "missing" else RESTARTED_NODE
