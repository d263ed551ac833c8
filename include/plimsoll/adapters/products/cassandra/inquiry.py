"""Ask running nodes for their state over JMX."""

from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.adapters.products.cassandra.command import JMX_PORT
from plimsoll.adapters.products.cassandra.node_files import JOB, NodeFiles
from plimsoll.adapters.products.nodes.compactions import PATIENCE
from plimsoll.adapters.products.nodes.jmx import jmx_places
from plimsoll.adapters.products.nodes.jvms import inspect_jvms, jvm_facts
from plimsoll.adapters.products.nodes.node_state import node_fingerprint
from plimsoll.adapters.products.nodes.tool import NodeTool
from plimsoll.domain.fingerprint import NodeFingerprint, ProcessFingerprint
from plimsoll.ports.host import Host


def inspect(tool: NodeTool, nodes: Sequence[Host]) -> list[NodeFingerprint]:
    """Read what the nodes' JVMs and Cassandra report, in the nodes' order. Raises DeployError where one does not
    answer.
    """
    found = inspect_jvms(tool, [(node, JOB, JMX_PORT, NodeFiles(node.root).jmx) for node in nodes])
    return [_fingerprint(node, found[node.info.name, JOB]) for node in nodes]


def over_jmx(nodes: Sequence[Host]) -> tuple[str, ...]:
    """Return the node tool's arguments for these nodes of one machine: where their JMX listens, and their password
    files.
    """
    return jmx_places((node, JMX_PORT, NodeFiles(node.root).jmx) for node in nodes)


def settle_command(tool: NodeTool, nodes: Sequence[Host]) -> tuple[str, ...]:
    """Return the command that waits until these nodes of one machine have no compactions left."""
    return tool.argv(nodes[0], "settle", *over_jmx(nodes), "--timeout", f"{PATIENCE.total_seconds():.0f}s")


def _fingerprint(node: Host, answer: Mapping[str, Any]) -> NodeFingerprint:
    processes = [ProcessFingerprint(name=JOB, jvm=jvm_facts(answer))]
    return node_fingerprint(node, "cassandra", answer["cassandra"]["release_version"], processes)
