"""Ask running nodes over JMX: for their state, and for the size of a keyspace on their disks, or to remove it."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from plimsoll.adapters.products.cassandra.command import JMX_PORT
from plimsoll.adapters.products.cassandra.node_files import JOB, NodeFiles
from plimsoll.adapters.products.nodes.node_state import node_fingerprint
from plimsoll.adapters.products.nodes.own_machine import PATIENCE, by_machine
from plimsoll.adapters.products.nodes.tool import NodeTool, inspect_jvms, jmx_places, jvm_facts
from plimsoll.domain.hosts.fingerprint import NodeFingerprint, ProcessFingerprint
from plimsoll.domain.text.errors import DeployError
from plimsoll.ports.host import Host

_FLUSH = timedelta(minutes=5)
_DROP = timedelta(minutes=2)
_MEND = "see whether the node runs, and run the cell again"


def inspect(tool: NodeTool, nodes: Sequence[Host]) -> list[NodeFingerprint]:
    """Read what the nodes' JVMs and Cassandra report, in the nodes' order. Raises DeployError where one is silent."""
    found = inspect_jvms(tool, [(node, JOB, JMX_PORT, NodeFiles(node.root).jmx) for node in nodes])
    return [_fingerprint(node, found[node.info.name, JOB]) for node in nodes]


def over_jmx(nodes: Sequence[Host]) -> tuple[str, ...]:
    """Return the node tool's arguments for nodes of one machine: where their JMX listens, and their password files."""
    return jmx_places((node, JMX_PORT, NodeFiles(node.root).jmx) for node in nodes)


def settle_command(tool: NodeTool, nodes: Sequence[Host]) -> tuple[str, ...]:
    """Return the command that waits until these nodes of one machine have no compactions left."""
    return tool.argv(nodes[0], "settle", *over_jmx(nodes), "--timeout", f"{PATIENCE.total_seconds():.0f}s")


def _fingerprint(node: Host, answer: Mapping[str, Any]) -> NodeFingerprint:
    processes = [ProcessFingerprint(name=JOB, jvm=jvm_facts(answer))]
    return node_fingerprint(node, "cassandra", answer["cassandra"]["release_version"], processes)


def bytes_on_disk(tool: NodeTool, nodes: Sequence[Host], keyspace: str) -> dict[str, int]:
    """Return the size of the keyspace's live files after a flush, bytes, by node. Raises DeployError without answer."""
    found: dict[str, int] = {}
    for hosts in by_machine(nodes).values():
        answer = tool.ask(hosts[0], "size", *over_jmx(hosts), "--keyspace", keyspace, allowed=_FLUSH)
        if answer["error"]:
            raise DeployError(
                f"how much {keyspace} takes on disk is not known: {answer['error']}",
                where=f"cassandra on host {hosts[0].info.name}",
                mend=_MEND,
            )
        found.update(zip((host.info.name for host in hosts), answer["bytes"].values(), strict=True))
    return {node.info.name: found[node.info.name] for node in nodes}


def drop(tool: NodeTool, node: Host, keyspace: str) -> None:
    """Drop the keyspace if it exists. Raises DeployError where the node does not answer."""
    answer = tool.ask(node, "drop", "--host", node.info.address, "--keyspace", keyspace, allowed=_DROP)
    if answer["error"]:
        where = f"cassandra on host {node.info.name}"
        raise DeployError(f"{keyspace} could not be dropped: {answer['error']}", where=where, mend=_MEND)
