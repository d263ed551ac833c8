"""Ask running nodes for their state over JMX."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from plimsoll.adapters.artefacts.collector_flags import COLLECTOR_FLAGS
from plimsoll.adapters.products.cassandra.command import JMX_PORT
from plimsoll.adapters.products.cassandra.node_files import JOB, NodeFiles
from plimsoll.adapters.products.nodes.compactions import PATIENCE
from plimsoll.adapters.products.nodes.machines import by_machine, own_loopback
from plimsoll.adapters.products.nodes.node_state import name_of
from plimsoll.adapters.products.nodes.tool import JVM_START, NodeTool
from plimsoll.domain.errors import DeployError
from plimsoll.domain.fingerprint import JvmFacts, NodeFingerprint, ProcessFingerprint
from plimsoll.domain.variant import Collector
from plimsoll.ports.host import Host


def inspect(tool: NodeTool, nodes: Sequence[Host]) -> list[NodeFingerprint]:
    """Read what the nodes' JVMs and Cassandra report, in the nodes' order. Raises DeployError where one does not
    answer.
    """
    machines = by_machine(nodes)
    with ThreadPoolExecutor(max(1, len(machines))) as pool:
        answers = list(pool.map(lambda hosts: _inspect_machine(tool, hosts), machines.values()))
    found = {facts.host: facts for each in answers for facts in each}
    return [found[node.info.name] for node in nodes]


def over_jmx(nodes: Sequence[Host]) -> tuple[str, ...]:
    """Return the node tool's arguments for these nodes of one machine: where their JMX listens, and their password
    files.
    """
    ports = ",".join(f"{own_loopback(node.info.address)}:{JMX_PORT}" for node in nodes)
    files = (("--password-file", str(NodeFiles(node.root).jmx_password)) for node in nodes)
    return ("--jmx-port", ports, *(word for pair in files for word in pair))


def settle_command(tool: NodeTool, nodes: Sequence[Host]) -> tuple[str, ...]:
    """Return the command that waits until these nodes of one machine have no compactions left."""
    return tool.argv(nodes[0], "settle", *over_jmx(nodes), "--timeout", f"{PATIENCE.total_seconds():.0f}s")


def _inspect_machine(tool: NodeTool, nodes: Sequence[Host]) -> list[NodeFingerprint]:
    """Ask all nodes of one machine. JMX is open only there, and one start of the node tool asks all of them."""
    answers = tool.ask(nodes[0], "inspect", *over_jmx(nodes), allowed=JVM_START)
    for node, answer in zip(nodes, answers, strict=True):
        if answer["error"]:
            raise DeployError(answer["error"], where=f"cassandra on {name_of(node)}", mend="see whether the node runs")
    return [_fingerprint(node, answer) for node, answer in zip(nodes, answers, strict=True)]


def _fingerprint(node: Host, answer: Mapping[str, Any]) -> NodeFingerprint:
    return NodeFingerprint(
        host=node.info.name,
        address=node.info.address,
        facts=node.facts(),
        processes=(ProcessFingerprint(name=JOB, jvm=jvm_facts(answer)),),
        database="cassandra",
        database_version=answer["cassandra"]["release_version"],
        clock_offset_ms=node.clock().offset_ms,
    )


def jvm_facts(answer: Mapping[str, Any]) -> JvmFacts:
    """Return the facts about one JVM from the node tool's answer."""
    flags = {name: str(flag["value"]) for name, flag in answer["flags"].items()}
    return JvmFacts(
        version=answer["java_runtime_version"],
        vendor=answer["java_vendor"],
        name=answer["vm_name"],
        collector=_collector(flags, answer["vm_name"]),
        collector_beans=tuple(answer["collectors"]),
        # With some collectors the bean's maximum lacks a survivor space. The flag has the whole heap.
        heap_max_bytes=int(flags.get("MaxHeapSize", answer["heap_max_bytes"])),
        arguments=tuple(answer["arguments"]),
        flags=flags,
    )


def _collector(flags: Mapping[str, str], vm_name: str) -> Collector | None:
    if "Zing" in vm_name:
        return "C4"
    return next((name for name, flag in COLLECTOR_FLAGS.items() if flags.get(flag) == "true"), None)
