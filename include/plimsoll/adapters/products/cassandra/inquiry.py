"""Ask running nodes for their state: as a cluster over CQL, as JVMs over JMX."""

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

from plimsoll.adapters.artefacts.collector_flags import COLLECTOR_FLAGS
from plimsoll.adapters.products.cassandra.command import JMX_PORT, jmx_address
from plimsoll.adapters.products.cassandra.node_files import JOB, NodeFiles
from plimsoll.adapters.products.cassandra.node_status import name_of
from plimsoll.adapters.products.cassandra.node_tool import NodeTool
from plimsoll.domain.errors import DeployError
from plimsoll.domain.fingerprint import JvmFacts, NodeFingerprint, ProcessFingerprint
from plimsoll.domain.variant import Collector
from plimsoll.ports.host import Host

WHOLE = timedelta(seconds=90)
"""The least time that running nodes get to become one cluster."""
_JVM_START = timedelta(seconds=60)


def probe(tool: NodeTool, load: Host, nodes: Sequence[Host], within: timedelta) -> None:
    """Return once all nodes know each other, have the same schema and accept a write at consistency ALL.

    Raises DeployError where that takes too long.
    """
    addresses = ",".join(node.info.address for node in nodes)
    timeout = f"{within.total_seconds():.0f}s"
    answer = ask(tool, load, "probe", "--host", addresses, "--timeout", timeout, allowed=within + _JVM_START)
    if not answer["ready"]:
        raise DeployError(
            f"the nodes run, but are no whole cluster after {timeout}: {answer['reason']}",
            where=f"cassandra on {', '.join(name_of(node) for node in nodes)}",
            mend="see what else their hosts do; for a busy machine write `start_within` below system",
        )


def inspect(tool: NodeTool, nodes: Sequence[Host]) -> list[NodeFingerprint]:
    """What the nodes' JVMs and Cassandra report, in the nodes' order. Raises DeployError where one does not answer."""
    machines = by_machine(nodes)
    with ThreadPoolExecutor(max(1, len(machines))) as pool:
        answers = list(pool.map(lambda hosts: _inspect_machine(tool, hosts), machines.values()))
    found = {facts.host: facts for each in answers for facts in each}
    return [found[node.info.name] for node in nodes]


def by_machine(nodes: Sequence[Host]) -> dict[str, list[Host]]:
    """The nodes by machine, in order. All nodes of the local provider are on one machine."""
    machines: dict[str, list[Host]] = {}
    for node in nodes:
        machines.setdefault(node.info.facts.get("machine", node.info.name), []).append(node)
    return machines


def over_jmx(nodes: Sequence[Host]) -> tuple[str, ...]:
    """The node tool's arguments for these nodes of one machine: where their JMX listens, and their password files."""
    ports = ",".join(f"{jmx_address(node.info.address)}:{JMX_PORT}" for node in nodes)
    files = (("--password-file", str(NodeFiles(node.root).jmx_password)) for node in nodes)
    return ("--jmx-port", ports, *(word for pair in files for word in pair))


def _inspect_machine(tool: NodeTool, nodes: Sequence[Host]) -> list[NodeFingerprint]:
    """Ask all nodes of one machine. JMX is open only there, and one start of the node tool asks all of them."""
    answers = ask(tool, nodes[0], "inspect", *over_jmx(nodes), allowed=_JVM_START)
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
    """The facts about one JVM from the node tool's answer."""
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


def ask(tool: NodeTool, host: Host, *arguments: str, allowed: timedelta) -> Any:
    """The node tool's answer, which is JSON on its last line of output. Raises DeployError where there is none."""
    result = host.run(tool.argv(host, *arguments), timeout=allowed, check=False)
    try:
        return json.loads(result.stdout.strip().rpartition("\n")[2])
    except ValueError as error:
        raise DeployError(
            f"`{arguments[0]}` gave no answer (exit code {result.exit_code}): {result.stderr.strip()[-2000:]}",
            where=f"host {host.info.name}",
            mend="mend the reason given",
        ) from error
