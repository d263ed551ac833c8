"""What only a node's own machine can do, and which nodes share one: ask ports that ask nobody for a password and so are
open to it alone, and wait until no compactions are left, for nodes that clients can't ask for these.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from ipaddress import ip_address
from pathlib import Path, PurePosixPath
from typing import Any

from plimsoll.adapters.hosts.base import console_path
from plimsoll.adapters.products.nodes import rest_client
from plimsoll.adapters.products.nodes.node_state import name_of
from plimsoll.domain.attempt.load_summary import LeftoverWork
from plimsoll.domain.text.errors import DeployError
from plimsoll.ports.host import CommandResult, Host, Job

PATIENCE = timedelta(minutes=10)
_START = timedelta(minutes=2)
_TAIL = 65_536


Command = Callable[[Sequence[Host]], Sequence[str]]
"""The command that waits, at most for `PATIENCE`, for these nodes of one machine, and prints how that ended as JSON:
`{"settled": …, "left": {node: number}, "waited_s": …, "error": …}`."""

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
    host = nodes[0]
    status = host.status(job_id)
    if status.state == "missing":
        host.start(Job(id=job_id, argv=command(nodes), expires=PATIENCE + _START))
    if status.state != "exited":
        return None
    return read_answer(host.read_tail(console_path(host.root, job_id), max_bytes=_TAIL), nodes)


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
