"""The paths of a node's files on its host, and of its logs: lines that explain nothing, errors with advice."""

from dataclasses import dataclass
from pathlib import PurePosixPath

from plimsoll.adapters.hosts.jobs import console_path
from plimsoll.adapters.products.nodes.node_process import LogWords, NodeProcess, ProcessFiles
from plimsoll.adapters.products.nodes.tool import JmxAccess
from plimsoll.ports.host import Host

JOB = "cassandra"
"""The id of the node's job, and the name of its process."""
RESTARTED = "cassandra-restarted"
"""The id of the job of a node that was ended and started again."""
SYSTEM_LOG, GC_LOG = "system.log", "gc.log"
GC_LOG_OF_RESTARTED = "gc-restarted.log"
"""A JVM that starts again would begin the file anew."""

WORDS = LogWords(
    # A node's usual lines on its tables and pools, at its start, and its warning about JMX as Plimsoll configures it.
    noise=(
        r"INFO .* (Memtable|LogTransaction|ColumnFamilyStore|SSTable|CompactionTask|StatusLogger)\.java:\d+ ",
        r"INFO .*(Node configuration:\[|JVM Arguments: |Classpath: | memory: init = )",
        r".*cassandra\.jmx\.local\.port missing",
    ),
    # It logs its final error three times.
    repeats=r"^Exception \(.*\) encountered during startup: ",
    remedies=(
        (r"Unable to gossip with any|Unable to contact any seeds", "see that the hosts reach each other by network"),
        # It uses ConfigurationException for nearly everything. If that names a setting, it is about that setting.
        (
            r"Invalid yaml|Please remove properties|ConfigurationException.*(\b[a-z]+(_[a-z]+)+\b|class)",
            "correct `settings` of the system or the variant",
        ),
    ),
)


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
