"""Ask the processes of a cluster for their state: over HTTP and JMX, both on their own machines."""

from collections.abc import Mapping, Sequence
from datetime import UTC
from typing import Any
from urllib.parse import quote

from plimsoll.adapters.products.hbase.departures import Departure
from plimsoll.adapters.products.hbase.events import HBaseLog
from plimsoll.adapters.products.hbase.node_files import METRICS, RoleFiles
from plimsoll.adapters.products.hbase.readiness import (
    ASSIGNMENT,
    FILE_SYSTEM,
    MASTER_STATE,
    SERVER_STATE,
    ToldState,
    bean_of,
)
from plimsoll.adapters.products.hbase.release import PRODUCT
from plimsoll.adapters.products.hbase.roles import MASTER, REGION_SERVER, Role, roles_of
from plimsoll.adapters.products.hbase.settings import MASTER_HTTP, NAME_NODE_HTTP, REGION_SERVER_HTTP
from plimsoll.adapters.products.hbase.versions import version_told
from plimsoll.adapters.products.nodes import local_http
from plimsoll.adapters.products.nodes.jvms import inspect_jvms, jvm_facts
from plimsoll.adapters.products.nodes.machines import by_machine, own_loopback
from plimsoll.adapters.products.nodes.node_state import node_fingerprint
from plimsoll.adapters.products.nodes.tool import NodeTool
from plimsoll.domain.fingerprint import NodeFingerprint, ProcessFingerprint
from plimsoll.ports.host import Host

_UNFINISHED = ("compactionsQueuedCount", "flushesQueuedCount", "compactionQueueLength", "flushQueueLength")
"""Figures of a region server and of each of its regions: flushes and compactions that run or wait."""

_LOG_OF_A_START = 4 << 20


def told_state(nodes: Sequence[Host]) -> ToldState:
    """Ask all processes for their state, in as few commands as there are machines. DeployError without Python there."""
    first, machines = nodes[0], list(by_machine(nodes).values())
    of_first = [
        _bean(first, NAME_NODE_HTTP, FILE_SYSTEM),
        _bean(first, MASTER_HTTP, MASTER_STATE),
        _bean(first, MASTER_HTTP, ASSIGNMENT),
    ]
    answers: list[Any] = []
    for number, hosts in enumerate(machines):
        urls = [_bean(host, REGION_SERVER_HTTP, SERVER_STATE) for host in hosts]
        answers += local_http.get(hosts[0], *(of_first if number == 0 else ()), *urls)
    file_system, master, assignment, *servers = map(bean_of, answers)
    return ToldState(len(nodes), file_system, master, assignment, servers)


def settle_command(nodes: Sequence[Host]) -> tuple[str, ...]:
    """Return the command that waits until the region servers of one machine have no flush and no compaction left."""
    urls = [_bean(node, REGION_SERVER_HTTP, "Hadoop:service=HBase,name=RegionServer,sub=*") for node in nodes]
    return local_http.settle_command(_UNFINISHED, urls)


def save_metrics(node: Host) -> None:
    """Write everything that the region server tells at `/jmx` to a file on its host, if it answers."""
    url = f"{own_loopback(node.info.address)}:{REGION_SERVER_HTTP}/jmx"
    local_http.save(node, url, RoleFiles(node.root, REGION_SERVER.name).logs / METRICS)


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
    found = inspect_jvms(tool, jvms)
    return [
        _fingerprint(node, [_process(node, role, found[node.info.name, role.name]) for role in roles_of(number)])
        for number, node in enumerate(nodes)
    ]


def _fingerprint(node: Host, processes: Sequence[ProcessFingerprint]) -> NodeFingerprint:
    version = next(one.version for one in processes if one.name == REGION_SERVER.name)
    return node_fingerprint(node, PRODUCT, version, processes)


def _process(node: Host, role: Role, answer: Mapping[str, Any]) -> ProcessFingerprint:
    log = node.read_tail(RoleFiles(node.root, role.name).log, max_bytes=_LOG_OF_A_START)
    return ProcessFingerprint(name=role.name, jvm=jvm_facts(answer), version=version_told(role.name, log))


def _bean(host: Host, port: int, name: str) -> str:
    return f"{own_loopback(host.info.address)}:{port}/jmx?qry={quote(name, safe=':=,*')}"
