"""What running JVMs tell of themselves over JMX, by the node tool."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from plimsoll.adapters.artefacts.collector_flags import COLLECTOR_FLAGS
from plimsoll.adapters.products.nodes.jmx import JmxAccess, jmx_places
from plimsoll.adapters.products.nodes.machines import by_machine
from plimsoll.adapters.products.nodes.node_state import name_of
from plimsoll.adapters.products.nodes.tool import JVM_START, NodeTool
from plimsoll.domain.errors import DeployError
from plimsoll.domain.fingerprint import JvmFacts
from plimsoll.domain.variant import Collector
from plimsoll.ports.host import Host

Jvm = tuple[Host, str, int, JmxAccess]
"""A JVM: its host, its process's name, and where its JMX listens."""


def inspect_jvms(tool: NodeTool, jvms: Sequence[Jvm]) -> dict[tuple[str, str], Mapping[str, Any]]:
    """Return the node tool's answer of each JVM, by the names of host and process.

    Raises DeployError where one does not answer. JMX is open on a JVM's own machine only, and one start of the node
    tool asks all JVMs of a machine.
    """
    machines = by_machine(list({host.info.name: host for host, *_ in jvms}.values())).values()
    with ThreadPoolExecutor(max(1, len(machines))) as pool:
        found = pool.map(lambda hosts: _of_machine(tool, hosts[0], [one for one in jvms if one[0] in hosts]), machines)
        return {place: answer for each in found for place, answer in each.items()}


def _of_machine(tool: NodeTool, host: Host, jvms: Sequence[Jvm]) -> dict[tuple[str, str], Mapping[str, Any]]:
    places = jmx_places((one, port, access) for one, _, port, access in jvms)
    answers = tool.ask(host, "inspect", *places, allowed=JVM_START)
    told = {}
    for (one, process, *_), answer in zip(jvms, answers, strict=True):
        if answer["error"]:
            raise DeployError(answer["error"], where=f"{process} on {name_of(one)}", mend="see whether the node runs")
        told[one.info.name, process] = answer
    return told


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
