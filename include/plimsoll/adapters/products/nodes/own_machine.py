"""What only a node's own machine can do, and which nodes share one: ask ports that ask nobody for a password and so are
open to it alone, and wait until no compactions are left, for nodes that clients can't ask for these.

The node tool is the Java program that asks nodes for their state, as a cluster over CQL and as JVMs over JMX. JMX is
open to the JVM's own machine alone, and with a password, since every user of the host gets there.
"""

import json
import re
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from ipaddress import ip_address
from pathlib import Path, PurePosixPath
from typing import Any

from plimsoll.adapters.artefacts.java_programs import java_argv
from plimsoll.adapters.artefacts.jvm_traits import COLLECTOR_FLAGS
from plimsoll.adapters.hosts.base import console_path
from plimsoll.adapters.products.nodes import rest_client
from plimsoll.adapters.products.nodes.node_state import name_of
from plimsoll.domain.attempt.load_summary import LeftoverWork
from plimsoll.domain.hosts.fingerprint import JvmFacts
from plimsoll.domain.text.errors import DeployError
from plimsoll.ports.artefacts import ProgramSource
from plimsoll.ports.host import CommandResult, Host, Job, JobStatus, at_once

WHOLE = timedelta(seconds=90)
"""The least time that running nodes get to become one cluster."""
JVM_START = timedelta(seconds=60)
# In a JVM that lives for seconds, optimising code takes longer than it saves.
_SHORT_LIVED = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx128M")

_USER = "plimsoll"
PATIENCE = timedelta(minutes=10)
_START = timedelta(minutes=2)
_TAIL = 65_536

Command = Callable[[Sequence[Host]], Sequence[str]]
"""The command that asks these nodes of one machine, and prints JSON. One that waits, at most for `PATIENCE`, prints how
that ended: `{"settled": …, "left": {node: number}, "waited_s": …, "error": …}`."""

_CLIENT = ("python3", "-I", "-S", "-B", "-c", Path(rest_client.__file__).read_text(encoding="utf-8"))
"""Not written to the host, since processes that start are asked several times a second."""

_ANSWER = timedelta(minutes=1)


def by_machine(nodes: Sequence[Host]) -> dict[str, list[Host]]:
    """Return the nodes by machine, in order. All nodes of the local provider are on one machine."""
    machines: dict[str, list[Host]] = {}
    for node in nodes:
        machines.setdefault(node.info.facts.get("machine", node.info.name), []).append(node)
    return machines


def with_names(text: str, nodes: Sequence[Host]) -> str:
    """Return what a program on the nodes' machine tells, with a node's name in place of 127.0.0.1."""
    for node in nodes:
        # Only 127.0.0.1 is the same on every machine. A loopback address of its own already tells a node apart.
        if (own := own_loopback(node.info.address)) != node.info.address:
            text = re.sub(rf"(?<![\d.]){re.escape(own)}(:\d+)?(?![\d.])", node.info.name, text)
    return text


def own_loopback(address: str) -> str:
    """Return the address of services that are open to a node's own machine alone, such as JMX, which is not encrypted
    here.

    Nodes on one machine have different loopback addresses, so all of them can use the same port.
    """
    return address if ip_address(address).is_loopback else "127.0.0.1"


def leftover_work(nodes: Sequence[Host], job_id: str, command: Command) -> LeftoverWork | None:
    """Return the result of waiting; None while a machine still waits. The first call starts the job on each machine."""
    outcomes = [_of_machine(hosts, job_id, command) for hosts in by_machine(nodes).values()]
    ended = [outcome for outcome in outcomes if outcome is not None]
    if len(ended) < len(outcomes):
        return None
    return LeftoverWork(
        settled=all(outcome.settled for outcome in ended),
        left={node: count for outcome in ended for node, count in outcome.left.items()},
        waited_s=max(outcome.waited_s for outcome in ended),
        problem="; ".join(outcome.problem for outcome in ended if outcome.problem),
    )


def _of_machine(nodes: Sequence[Host], job_id: str, command: Command) -> LeftoverWork | None:
    status, printed = asked(nodes, job_id, command, PATIENCE + _START)
    return read_answer(printed, nodes) if status.state == "exited" else None


def asked(nodes: Sequence[Host], job_id: str, command: Command, within: timedelta) -> tuple[JobStatus, str]:
    """Return the state of the job that asks these nodes of one machine, and the end of what it printed.

    The first call starts it; its state is then `missing`.
    """
    host = nodes[0]
    status = host.status(job_id)
    if status.state == "missing":
        host.start(Job(id=job_id, argv=command(nodes), expires=within))
        return status, ""
    return status, host.read_tail(console_path(host.root, job_id), max_bytes=_TAIL)


def read_answer(text: str, nodes: Sequence[Host]) -> LeftoverWork:
    """Return the command's answer, which is JSON on the last line of its output. Pure."""
    try:
        answer: Mapping[str, Any] = json.loads(text.strip().rpartition("\n")[2])
        return LeftoverWork(
            settled=answer["settled"],
            # Not strict: the node tool stops at the first node that does not answer, so later ones may have no number
            left=dict(zip((node.info.name for node in nodes), answer["left"].values(), strict=False)),
            waited_s=answer["waited_s"],
            problem=with_names(answer["error"] or "", nodes),
        )
    # Nodes that can't tell must not hold up the cell: the problem becomes a warning
    except (ValueError, KeyError, TypeError, AttributeError):
        where = nodes[0].info.name
        return LeftoverWork(settled=False, problem=f"{where}: no answer to whether compactions are left")


def get(host: Host, *urls: str) -> list[Any]:
    """Return what each URL answers, which is JSON; None without answer. Raises DeployError where it can't ask."""
    result = host.run((*_CLIENT, "get", *urls), timeout=_ANSWER, check=False)
    answers = answer_of(result, "get", where=f"host {name_of(host)}", mend="see whether it has python3")
    return [answer.get("answer") for answer in answers]


def save(host: Host, url: str, file: PurePosixPath) -> None:
    """Write the answer to a file of that host, if there is one."""
    host.run((*_CLIENT, "save", str(file), url), timeout=_ANSWER, check=False)


def settle_command(endings: Sequence[str], urls: Sequence[str]) -> tuple[str, ...]:
    """Return the command that waits until no URL tells of work left."""
    return (*_CLIENT, "settle", str(PATIENCE.total_seconds()), ",".join(endings), *urls)


def answer_of(result: CommandResult, question: str, *, where: str, mend: str) -> Any:
    """Return the answer to the question, which is the program's command. Raises DeployError where there is none."""
    try:
        # A JVM may print warnings before its answer
        return json.loads(result.stdout.strip().rpartition("\n")[2])
    except ValueError as error:
        what = f"`{question}` gave no answer (exit code {result.exit_code}): {result.stderr.strip()[-2000:]}"
        raise DeployError(what, where=where, mend=mend) from error


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
        return java_argv(self.artefacts, "node-tool", "plimsoll.nodes.Main", host, *arguments, jvm=_SHORT_LIVED)

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
    answers = at_once(of_machines, partial(_of_jvms, tool))
    return {names: answer for machine in answers for names, answer in machine.items()}


def _of_jvms(tool: NodeTool, jvms: Sequence[Jvm]) -> dict[tuple[str, str], Mapping[str, Any]]:
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
