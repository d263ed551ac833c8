"""The node tool: the Java program that asks nodes for their state, as a cluster over CQL and as JVMs over JMX.

JMX is open to the JVM's own machine alone, and with a password, since every user of the host gets there.
"""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from plimsoll.adapters.artefacts.java_programs import OwnProgram
from plimsoll.adapters.artefacts.jvm_traits import COLLECTOR_FLAGS
from plimsoll.adapters.products.nodes.node_state import name_of
from plimsoll.adapters.products.nodes.own_machine import answer_of, by_machine, own_loopback
from plimsoll.domain.hosts.fingerprint import JvmFacts
from plimsoll.domain.text.errors import DeployError
from plimsoll.ports.artefacts import ProgramSource, jdk_of
from plimsoll.ports.host import Host

WHOLE = timedelta(seconds=90)
"""The least time that running nodes get to become one cluster."""
JVM_START = timedelta(seconds=60)
# In a JVM that lives for seconds, optimising code takes longer than it saves.
_SHORT_LIVED = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx128M")

_USER = "plimsoll"


@dataclass(frozen=True)
class JmxAccess:
    """The files of a host with the user and the password of its JVMs, and with the rights of that user.

    The JVM does not start if others than its user may read the password.
    """

    password: PurePosixPath
    rights: PurePosixPath

    def write(self, host: Host) -> None:
        """Write both files. A password that is there already stays: a JVM may run with it."""
        if not host.read_tail(self.password, max_bytes=1):
            host.write(self.password, f"{_USER} {secrets.token_hex(32)}\n")
        host.write(self.rights, f"{_USER} readwrite\n")


Jvm = tuple[Host, str, int, JmxAccess]
"""A JVM: its host, its process's name, and where its JMX listens."""


@dataclass(frozen=True)
class NodeTool:
    """The command lines of the node tool."""

    artefacts: ProgramSource

    def argv(self, host: Host, *arguments: str) -> tuple[str, ...]:
        """Return the command that runs the node tool on that host. Installs it there first. Raises ArtefactError."""
        program = OwnProgram("plimsoll.nodes.Main", self.artefacts.program("node-tool"), jdk_of("node-tool"))
        return program.argv(self.artefacts, host, *arguments, jvm=_SHORT_LIVED)

    def ask(self, host: Host, *arguments: str, allowed: timedelta) -> Any:
        """Return the node tool's answer, which is JSON on its last line. Raises DeployError where there is none."""
        result = host.run(self.argv(host, *arguments), timeout=allowed, check=False)
        return answer_of(result, arguments[0], where=f"host {host.info.name}", mend="mend the reason given")

    def probe(self, load: Host, nodes: Sequence[Host], within: timedelta, product: str) -> None:
        """Wait until all nodes know each other, have the same schema and accept a write at consistency ALL.

        Raises DeployError where that takes too long.
        """
        addresses = ",".join(node.info.address for node in nodes)
        timeout = f"{within.total_seconds():.0f}s"
        answer = self.ask(load, "probe", "--host", addresses, "--timeout", timeout, allowed=within + JVM_START)
        if not answer["ready"]:
            what = f"the nodes run, but are no whole cluster after {timeout}: {answer['reason']}"
            mend = "see what else their hosts do; for a busy machine write `start_within` below system"
            raise DeployError(what, where=f"{product} on {', '.join(map(name_of, nodes))}", mend=mend)


def jmx_flags(address: str, port: int, access: JmxAccess) -> Iterator[str]:
    """Yield the flags with which a JVM on the host with that address listens there. The JVM's own agent is taken:
    Cassandra's binds every node of one machine to 127.0.0.1.
    """
    prefix, own = "-Dcom.sun.management.jmxremote", own_loopback(address)
    yield f"-Djava.rmi.server.hostname={own}"
    yield f"{prefix}.host={own}"
    yield f"{prefix}.port={port}"
    # Otherwise RMI opens a second port, with a number drawn at random
    yield f"{prefix}.rmi.port={port}"
    yield f"{prefix}.authenticate=true"
    yield f"{prefix}.password.file={access.password}"
    yield f"{prefix}.access.file={access.rights}"
    # The node tool reads the password from the same file. JDKs from 9 on would put a hash in its place.
    yield f"{prefix}.password.toHashes=false"
    yield f"{prefix}.ssl=false"
    yield f"{prefix}.local.only=true"


def jmx_places(jvms: Sequence[Jvm]) -> tuple[str, ...]:
    """Return the node tool's arguments for these JVMs of one machine: where their JMX listens, and password files."""
    ports = ",".join(f"{own_loopback(host.info.address)}:{port}" for host, _, port, _ in jvms)
    files = (word for *_, access in jvms for word in ("--password-file", str(access.password)))
    return ("--jmx-port", ports, *files)


def inspect_jvms(tool: NodeTool, jvms: Sequence[Jvm]) -> dict[tuple[str, str], Mapping[str, Any]]:
    """Return the node tool's answer of each JVM, by the names of host and process.

    Raises DeployError where one does not answer. JMX is open on a JVM's own machine only, and one start of the node
    tool asks all JVMs of a machine.
    """
    machines = by_machine(list({host.info.name: host for host, *_ in jvms}.values())).values()
    of_machines = [[jvm for jvm in jvms if jvm[0] in hosts] for hosts in machines]
    with ThreadPoolExecutor(max(1, len(machines))) as pool:  # It refuses to have 0 workers
        answers = pool.map(partial(_of_machine, tool), of_machines)
        return {names: answer for machine in answers for names, answer in machine.items()}


def _of_machine(tool: NodeTool, jvms: Sequence[Jvm]) -> dict[tuple[str, str], Mapping[str, Any]]:
    host, *_ = jvms[0]
    printed = tool.ask(host, "inspect", *jmx_places(jvms), allowed=JVM_START)
    answers = {}
    for (node, process, *_), answer in zip(jvms, printed, strict=True):
        if answer["error"]:
            raise DeployError(answer["error"], where=f"{process} on {name_of(node)}", mend="see whether the node runs")
        answers[node.info.name, process] = answer
    return answers


def jvm_facts(answer: Mapping[str, Any]) -> JvmFacts:
    """Return the facts about one JVM from the node tool's answer."""
    flags = {name: str(flag["value"]) for name, flag in answer["flags"].items()}
    in_use = (name for name, flag in COLLECTOR_FLAGS.items() if flags.get(flag) == "true")
    return JvmFacts(
        version=answer["java_runtime_version"],
        vendor=answer["java_vendor"],
        name=answer["vm_name"],
        # C4 has no flag that could be on
        collector="C4" if "Zing" in answer["vm_name"] else next(in_use, None),
        collector_beans=tuple(answer["collectors"]),
        # With some collectors the bean's maximum lacks a survivor space. The flag has the whole heap.
        heap_max_bytes=int(flags.get("MaxHeapSize", answer["heap_max_bytes"])),
        arguments=tuple(answer["arguments"]),
        flags=flags,
    )
