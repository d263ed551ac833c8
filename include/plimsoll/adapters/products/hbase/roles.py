"""The processes of a cluster: which there are, on which hosts, their programs, ports and heaps, their files, and the
errors in their logs that have advice.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from pydantic import JsonValue, TypeAdapter, ValidationError

from plimsoll.adapters.hosts.base import console_path
from plimsoll.adapters.products.nodes.node_process import LogWords, NodeProcess, ProcessFiles
from plimsoll.adapters.products.nodes.own_machine import JmxAccess
from plimsoll.domain.keys.process import Process
from plimsoll.domain.keys.variant import JvmConfiguration
from plimsoll.domain.text.units import Size, parse_size

HEAP = "heap."
"""How the settings begin that give the other processes than region servers their heaps: `heap.master: 16G`."""
_SIZE: TypeAdapter[int] = TypeAdapter(Size)

WORDS = LogWords(
    noise=(
        r".*(STARTUP_MSG|SHUTDOWN_MSG|Client environment|Server environment|zookeeper\.ZooKeeperServer: +[\\/_| ]*$)",
        # At its start every process looks for what the first Master has yet to make in ZooKeeper.
        r".*ZKWatcher: .* Received unexpected KeeperException, re-throwing|.*KeeperException\$NoNodeException: ",
        r".*(util\.NativeCodeLoader|impl\.MetricsConfig: Cannot locate|org\.mortbay|jetty)",
    ),
    remedies=(
        (r"bind\(\.\.\) failed|Port in use", "end what listens there: `ss -ltnp` names it"),
        (r"ClockOutOfSyncException", "set the clocks of the hosts by NTP"),
        (
            r"Incompatible clusterIDs|not formatted|Not formatting",
            "remove the environment of the attempt from the host",
        ),
        (
            r"NoRouteToHost|UnknownHost|Connection refused|ConnectionLoss",
            "see that the hosts reach each other by network",
        ),
        (r"NumberFormatException|Illegal character|Invalid (value|configuration)", "correct `settings`"),
        (r"could only be written to 0 of the|NameNode low on available disk space", "free disk space on the host"),
    ),
)

LOG, GC_LOG, METRICS = "server.log", "gc.log", "metrics.json"
"""The names of a process's own log, which is not its console's, of its JVM's, and of what it tells of itself."""


@dataclass(frozen=True)
class Role:
    """One process of a host: its name, which is the id of its job too, and its program.

    `heap`: where the settings give none; empty for the region server, whose JVM the variant declares.
    """

    name: str
    main: str
    arguments: tuple[str, ...]
    jmx_port: int
    heap: str = ""
    only_on_first: bool = False

    @property
    def process(self) -> NodeProcess:
        name = self.name
        return NodeProcess(name, lambda root: (RoleFiles(root, name).log, console_path(root, name)), WORDS)

    def jvm(self, jvm: JvmConfiguration, settings: Mapping[str, JsonValue]) -> JvmConfiguration:
        """Return the JVM that the process is to run in, of a variant with that JVM and these settings.

        A heap that is no size, which `plan` tells, counts as none.
        """
        if not self.heap:
            return jvm
        heap = size_of(settings.get(HEAP + self.name)) or parse_size(self.heap)
        plain = {"collector": "Serial", "heap": heap, "initial_heap": None, "flag_set": "shipped", "flags": ()}
        return jvm.model_copy(update=plain)

    def declared(self, jvm: JvmConfiguration, settings: Mapping[str, JsonValue]) -> Process:
        """Return the process of such a variant, with all files that are kept of it."""
        files, own_jvm = RoleFiles(PurePosixPath(), self.name), self.jvm(jvm, settings)
        kept = (str(path) for path in (files.logs / "*.*", files.configuration / "*.*", files.console))
        return Process(self.name, own_jvm, LOG, GC_LOG, tuple(kept), only_on_first=self.only_on_first)


@dataclass(frozen=True)
class RoleFiles(ProcessFiles):
    """All paths of one process. Its configuration is the first entry of its class path."""

    @property
    def scratch(self) -> PurePosixPath:
        """Return the folder where web servers and native libraries are unpacked. A killed process leaves them there."""
        return self.home / "tmp"

    @property
    def log(self) -> PurePosixPath:
        return self.logs / LOG

    @property
    def jmx(self) -> JmxAccess:
        """Return the files that open JMX of all processes of the host to Plimsoll."""
        return JmxAccess(self.root / "jmx.password", self.root / "jmx.access")


REGION_SERVER = Role("regionserver", "org.apache.hadoop.hbase.regionserver.HRegionServer", ("start",), 7205)
DATA_NODE = Role("datanode", "org.apache.hadoop.hdfs.server.datanode.DataNode", (), 7203, "160M")
ZOOKEEPER = Role("zookeeper", "org.apache.zookeeper.server.ZooKeeperServerMain", (), 7201, "64M", only_on_first=True)
NAME_NODE = Role("namenode", "org.apache.hadoop.hdfs.server.namenode.NameNode", (), 7202, "192M", only_on_first=True)
MASTER = Role("master", "org.apache.hadoop.hbase.master.HMaster", ("start",), 7204, "320M", only_on_first=True)
ROLES = (REGION_SERVER, DATA_NODE, MASTER, NAME_NODE, ZOOKEEPER)
"""All of them, the one that clients speak with first. The others' heaps are such as small clusters take: a campaign on
large hosts sets them."""
LEAST_HEAP = parse_size("48M")


def size_of(heap: JsonValue) -> int | None:
    """Return a heap among the settings, bytes; None where it is no size."""
    try:
        return _SIZE.validate_python(heap)
    except ValidationError:
        return None


def roles_of(number: int) -> tuple[Role, ...]:
    """Return the roles of a host, by its number in the cluster, from 0."""
    return tuple(role for role in ROLES if number == 0 or not role.only_on_first)
