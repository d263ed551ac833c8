"""Ask running nodes over JMX: for their state, for the size of a keyspace on their disks, or to remove it. And wait for
what they tell of the ring: the evidence that a change of it has ended.

A command of the node tool that takes long is a detached job on every machine of the nodes that it asks.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from plimsoll.adapters.products.cassandra.command import JMX_PORT
from plimsoll.adapters.products.cassandra.node_files import JOB, NodeFiles, current_process
from plimsoll.adapters.products.nodes.node_state import down, node_fingerprint
from plimsoll.adapters.products.nodes.own_machine import (
    PATIENCE,
    Jvm,
    NodeTool,
    asked,
    by_machine,
    inspect_jvms,
    jmx_places,
    jvm_facts,
    with_names,
)
from plimsoll.domain.hosts.fingerprint import NodeFingerprint, ProcessFingerprint
from plimsoll.domain.keys.action import ActionPart
from plimsoll.domain.keys.variant import Archive
from plimsoll.domain.text.errors import ActionError, DeployError
from plimsoll.domain.text.wording import plural
from plimsoll.ports.host import Host
from plimsoll.ports.product import ActionRequest

_FLUSH = timedelta(minutes=5)
_DROP = timedelta(minutes=2)
_MEND = "see whether the node runs, and run the cell again"


def inspect(tool: NodeTool, nodes: Sequence[Host], archive: Archive | None = None) -> list[NodeFingerprint]:
    """Read what the nodes' JVMs and Cassandra report, in the nodes' order. Raises DeployError where one is silent.

    `archive`: the one that the nodes were started from; None where there was none.
    """
    answers = inspect_jvms(tool, _jvms(nodes))
    fingerprints = []
    for node in nodes:
        answer = answers[node.info.name, JOB]
        processes = [ProcessFingerprint(name=JOB, jvm=jvm_facts(answer))]
        release = answer["cassandra"]["release_version"]
        fingerprints.append(node_fingerprint(node, "cassandra", release, processes, archive))
    return fingerprints


def over_jmx(nodes: Sequence[Host]) -> tuple[str, ...]:
    """Return the node tool's arguments for nodes of one machine: where their JMX listens, and their password files."""
    return jmx_places(_jvms(nodes))


def _jvms(nodes: Sequence[Host]) -> list[Jvm]:
    return [(node, JOB, JMX_PORT, NodeFiles(node.root).jmx) for node in nodes]


def settle_command(tool: NodeTool, nodes: Sequence[Host]) -> tuple[str, ...]:
    """Return the command that waits until these nodes of one machine have no compactions left."""
    return tool.argv(nodes[0], "settle", *over_jmx(nodes), "--timeout", f"{PATIENCE.total_seconds():.0f}s")


def bytes_on_disk(tool: NodeTool, nodes: Sequence[Host], keyspace: str) -> dict[str, int]:
    """Return the size of the keyspace's live files after a flush, bytes, by node. Raises DeployError without answer."""
    sizes: dict[str, int] = {}
    for hosts in by_machine(nodes).values():
        answer = tool.ask(hosts[0], "size", *over_jmx(hosts), "--keyspace", keyspace, allowed=_FLUSH)
        if answer["error"]:
            what = f"how much {keyspace} takes on disk is not known: {answer['error']}"
            raise DeployError(what, where=f"cassandra on host {hosts[0].info.name}", mend=_MEND)
        sizes.update(zip((host.info.name for host in hosts), answer["bytes"].values(), strict=True))
    return {node.info.name: sizes[node.info.name] for node in nodes}


def drop(tool: NodeTool, node: Host, keyspace: str) -> None:
    """Drop the keyspace if it exists. Raises DeployError where the node does not answer."""
    answer = tool.ask(node, "drop", "--host", node.info.address, "--keyspace", keyspace, allowed=_DROP)
    if answer["error"]:
        where = f"cassandra on host {node.info.name}"
        raise DeployError(f"{keyspace} could not be dropped: {answer['error']}", where=where, mend=_MEND)


@dataclass(frozen=True)
class MoveEnd:
    """One move of an action that has ended at `at`, with the evidence of that.

    `undated`: by how much it may have ended before, where the first that asked found it so. `due`: when it had to begin
    if not at the end of the move before it. `received`: what was streamed to each node since its start, bytes, by its
    name; `streamed_bytes`: what was in this move, for a node that joined.
    """

    began: datetime
    at: datetime
    evidence: str
    parts: tuple[ActionPart, ...] = ()
    received: Mapping[str, int] = field(default_factory=dict)
    streamed_bytes: int | None = None
    undated: timedelta = timedelta(0)
    due: datetime | None = None


@dataclass(frozen=True)
class Answer:
    """What the command told of each node of one machine at its end, `at` by the controller's clock.

    `looks`: how often it asked until then; None where it does not tell.
    """

    at: datetime
    looks: int | None
    nodes: Mapping[str, Mapping[str, Any]]
    """By the node's name."""


@dataclass(frozen=True)
class Ring:
    """Asks for the ring of one action."""

    tool: NodeTool
    request: ActionRequest

    def begun(self, host: Host, name: str) -> datetime:
        """Return when the move `name` began, by the controller's clock: noted on the host before anything is done."""
        path = host.root / "actions" / f"{name}.begun"
        if noted := host.read_tail(path, max_bytes=100):
            return datetime.fromisoformat(noted)
        host.write(path, self.request.now.isoformat())
        return self.request.now

    def awaited(
        self, name: str, began: datetime, up: Sequence[Host], *, dead: Sequence[Host] = (), gone: Sequence[Host] = ()
    ) -> str | MoveEnd:
        """Return the end of the move `name`: all of `up` agree that they are up, `dead` down and `gone` forgotten.

        The first call starts those who ask, on the nodes' hosts. Until the end it returns what is left, in words.
        Raises ActionError where a node of `up` has ended.
        """
        lists = {"--up": up, "--down": dead, "--gone": gone}
        addresses = {option: ",".join(node.info.address for node in nodes) for option, nodes in lists.items() if nodes}
        arguments = [word for pair in addresses.items() for word in pair]
        timeout = ("--timeout", f"{self.request.expires.total_seconds():.0f}s")
        answers = self.answers(f"action-{name}", up, "ring", *arguments, *timeout)
        if isinstance(answers, str):
            # Not asked once the move has ended: the next one may end nodes
            for node in up:
                if why := down(node, current_process(node)):
                    raise ActionError(why, where=self.request.action.name, mend="run the cell again")
            return answers
        at = max(answer.at for answer in answers)
        # Who found it so at the first look does not know since when. A tool of before does not tell its looks.
        known = max((answer.at for answer in answers if answer.looks != 1), default=began)
        received = {node: int(state["received_bytes"]) for answer in answers for node, state in answer.nodes.items()}
        undated = max(at - known, timedelta(0))
        return MoveEnd(began, at, _evidence(up, dead, gone), received=received, undated=undated)

    def answers(self, job_id: str, nodes: Sequence[Host], command: str, *arguments: str) -> str | tuple[Answer, ...]:
        """Return the answers of all machines to a command or, while one is awaited, what it is at.

        The first call with that id starts it, whoever calls. Raises ActionError where a machine's command failed.
        """
        machines = by_machine(nodes).values()
        # A list, so that the command starts on all machines before any answer is awaited
        progress = [self._of_machine(job_id, hosts, command, arguments) for hosts in machines]
        answers = tuple(answer for answer in progress if isinstance(answer, Answer))
        return answers if len(answers) == len(progress) else next(note for note in progress if isinstance(note, str))

    def _of_machine(self, job_id: str, nodes: Sequence[Host], command: str, arguments: Sequence[str]) -> str | Answer:
        def argv(hosts: Sequence[Host]) -> tuple[str, ...]:
            return self.tool.argv(hosts[0], command, *over_jmx(hosts), *arguments)

        host = nodes[0]
        status, printed = asked(nodes, job_id, argv, self.request.expires)
        last = _last_line(printed)
        if status.state != "exited":
            return with_names(str(last.get("progress") or command), nodes)
        if "ended_ms" not in last or last.get("error"):
            why = last.get("error") or f"it gave no answer (exit code {status.exit_code})"
            what = f"{command} failed: {with_names(str(why), nodes)}"
            raise ActionError(what, where=f"host {host.info.name}", mend="run the cell again")
        at = datetime.fromtimestamp(last["ended_ms"] / 1000, UTC) - timedelta(milliseconds=host.clock().offset_ms)
        names = (node.info.name for node in nodes)
        return Answer(at, last.get("looks"), dict(zip(names, last["nodes"], strict=True)))


def _evidence(up: Sequence[Host], dead: Sequence[Host], gone: Sequence[Host]) -> str:
    phrases = [f"{plural(len(up), 'node')} agree that all of them are up, listen for clients and stream nothing"]
    phrases += [f"{node.info.name} is down" for node in dead]
    phrases += [f"{node.info.name} is in no list" for node in gone]
    return ", ".join(phrases)


def _last_line(text: str) -> Mapping[str, Any]:
    """Return the object on the last line; empty where that is none."""
    try:
        content = json.loads(text.strip().rpartition("\n")[2])
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}
