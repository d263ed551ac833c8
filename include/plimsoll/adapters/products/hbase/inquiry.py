"""Ask the processes of a cluster, over HTTP and JMX on their own machines, for their state and versions, and whether
the cluster is ready for clients.

That ports are open says nothing: they are long before. Nor does the Master's word alone that all servers have reported
and no region is in transition: this is true before its first regions, `hbase:meta` and `hbase:namespace`, are assigned.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import Any
from urllib.parse import quote

from plimsoll.adapters.products.hbase.events import Departure, HBaseLog
from plimsoll.adapters.products.hbase.release import PRODUCT
from plimsoll.adapters.products.hbase.roles import MASTER, METRICS, NAME_NODE, REGION_SERVER, Role, RoleFiles, roles_of
from plimsoll.adapters.products.hbase.settings import MASTER_HTTP, NAME_NODE_HTTP, REGION_SERVER_HTTP
from plimsoll.adapters.products.nodes import own_machine
from plimsoll.adapters.products.nodes.node_state import node_fingerprint
from plimsoll.adapters.products.nodes.own_machine import NodeTool, by_machine, inspect_jvms, jvm_facts, own_loopback
from plimsoll.domain.hosts.fingerprint import NodeFingerprint, ProcessFingerprint
from plimsoll.domain.text.wording import plural
from plimsoll.ports.host import Host

_UNFINISHED = ("compactionsQueuedCount", "flushesQueuedCount", "compactionQueueLength", "flushQueueLength")
"""Figures of a region server and of each of its regions: flushes and compactions that run or wait."""

_LOG_OF_A_START = 4 << 20
_HADOOP = "Hadoop:service="
FILE_SYSTEM = f"{_HADOOP}NameNode,name=FSNamesystemState"
MASTER_STATE, ASSIGNMENT = f"{_HADOOP}HBase,name=Master,sub=Server", f"{_HADOOP}HBase,name=Master,sub=AssignmentManager"
SERVER_STATE = f"{_HADOOP}HBase,name=RegionServer,sub=Server"
_FIRST_REGIONS = 2

Bean = Mapping[str, Any]
"""The attributes of one bean; empty where the process does not answer, or has no such bean yet."""

_TOLD = re.compile(
    r"VersionInfo: HBase (?P<hbase>\S+)"
    r"|STARTUP_MSG: +version = (?P<hadoop>\S+)"
    r"|environment:zookeeper\.version=(?P<zookeeper>[\d.]+)"
)


@dataclass(frozen=True)
class ToldState:
    """What the processes of a cluster of so many `nodes` tell."""

    nodes: int
    file_system: Bean
    master: Bean
    assignment: Bean
    servers: Sequence[Bean]

    def obstacle(self) -> tuple[Role, str] | None:
        """Return why clients have to wait, and the process that keeps them waiting; None where it is ready."""
        steps = ((NAME_NODE, self._hdfs()), (MASTER, self._master()), (REGION_SERVER, self._regions()))
        return next(((role, why) for role, why in steps if why), None)

    def _hdfs(self) -> str:
        if not self.file_system:
            return "it does not answer at /jmx"
        live, state = self.file_system.get("NumLiveDataNodes", 0), self.file_system.get("FSState")
        if live < self.nodes:
            return f"{live} of {plural(self.nodes, 'DataNode')} have reported to it"
        return "" if state == "Operational" else f"HDFS is in state {state}"

    def _master(self) -> str:
        if not self.master:
            return "it does not answer at /jmx"
        if str(self.master.get("tag.isActiveMaster")).lower() != "true":
            return "it is not the active master yet"
        reported, moving = self.master.get("numRegionServers", 0), self.assignment.get("ritCount")
        if reported < self.nodes:
            return f"{reported} of {plural(self.nodes, 'region server')} have reported to it"
        return "" if moving == 0 else f"regions in transition: {'unknown' if moving is None else moving}"

    def _regions(self) -> str:
        regions = sum(server.get("regionCount", 0) for server in self.servers)
        return "" if regions >= _FIRST_REGIONS else f"{regions} of its first {_FIRST_REGIONS} regions are open"


def told_state(nodes: Sequence[Host]) -> ToldState:
    """Ask all processes for their state, in as few commands as there are machines. DeployError without Python there."""
    first, machines = nodes[0], list(by_machine(nodes).values())
    beans = ((NAME_NODE_HTTP, FILE_SYSTEM), (MASTER_HTTP, MASTER_STATE), (MASTER_HTTP, ASSIGNMENT))
    of_first = [_bean(first, port, name) for port, name in beans]
    answers: list[Any] = []
    for number, hosts in enumerate(machines):
        urls = [_bean(host, REGION_SERVER_HTTP, SERVER_STATE) for host in hosts]
        answers += own_machine.get(hosts[0], *(of_first if number == 0 else ()), *urls)
    file_system, master, assignment, *servers = map(bean_of, answers)
    return ToldState(len(nodes), file_system, master, assignment, servers)


def settle_command(nodes: Sequence[Host]) -> tuple[str, ...]:
    """Return the command that waits until the region servers of one machine have no flush and no compaction left."""
    urls = [_bean(node, REGION_SERVER_HTTP, "Hadoop:service=HBase,name=RegionServer,sub=*") for node in nodes]
    return own_machine.settle_command(_UNFINISHED, urls)


def save_metrics(node: Host) -> None:
    """Write everything that the region server tells at `/jmx` to a file on its host, if it answers."""
    url = f"{own_loopback(node.info.address)}:{REGION_SERVER_HTTP}/jmx"
    own_machine.save(node, url, RoleFiles(node.root, REGION_SERVER.name).logs / METRICS)


def told_departures(first: Host) -> Sequence[Departure]:
    """Read from the end of the Master's log which region servers have left the cluster, in the log's own time."""
    log = first.read_tail(RoleFiles(first.root, MASTER.name).log, max_bytes=_LOG_OF_A_START)
    return HBaseLog().departures(MASTER.name, log, UTC)


def fingerprints(tool: NodeTool, nodes: Sequence[Host]) -> list[NodeFingerprint]:
    """Read what the JVMs of each node report, and the versions that the processes have logged, in the nodes' order.

    Raises DeployError where a JVM does not answer.
    """
    places = [(node, role) for number, node in enumerate(nodes) for role in roles_of(number)]
    jvms = [(node, role.name, role.jmx_port, RoleFiles(node.root, role.name).jmx) for node, role in places]
    answers, of_nodes = inspect_jvms(tool, jvms), list[NodeFingerprint]()
    for number, node in enumerate(nodes):
        processes = [_process(node, role, answers[node.info.name, role.name]) for role in roles_of(number)]
        version = next(process.version for process in processes if process.name == REGION_SERVER.name)
        of_nodes.append(node_fingerprint(node, PRODUCT, version, processes))
    return of_nodes


def _process(node: Host, role: Role, answer: Mapping[str, Any]) -> ProcessFingerprint:
    log = node.read_tail(RoleFiles(node.root, role.name).log, max_bytes=_LOG_OF_A_START)
    return ProcessFingerprint(name=role.name, jvm=jvm_facts(answer), version=version_told(role.name, log))


def _bean(host: Host, port: int, name: str) -> str:
    return f"{own_loopback(host.info.address)}:{port}/jmx?qry={quote(name, safe=':=,*')}"


def bean_of(answer: Any) -> Bean:
    """Return the one bean of an answer of `/jmx?qry=…`, whatever that answer is."""
    beans = answer.get("beans") if isinstance(answer, dict) else None
    return beans[0] if isinstance(beans, list) and beans and isinstance(beans[0], dict) else {}


def version_told(process: str, log: str) -> str:
    """Return the version that the process names first in its log; empty where it names none.

    HBase's processes also tell that of the ZooKeeper client in them.
    """
    wanted = {"zookeeper": "zookeeper", "namenode": "hadoop", "datanode": "hadoop"}.get(process, "hbase")
    return next((version for match in _TOLD.finditer(log) if (version := match[wanted])), "")
