"""A command of the node tool that takes long: a detached job on every machine of the nodes that it asks."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from plimsoll.adapters.hosts.jobs import console_path
from plimsoll.adapters.products.cassandra.inquiry import over_jmx
from plimsoll.adapters.products.nodes.machines import by_machine, with_names
from plimsoll.adapters.products.nodes.tool import NodeTool
from plimsoll.domain.errors import ActionError
from plimsoll.ports.host import Host, Job

_TAIL = 65_536


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
class ToolJob:
    """One command with its arguments, which asks these nodes. Its id is the same whoever asks for it."""

    tool: NodeTool
    id: str
    nodes: Sequence[Host]
    command: str
    arguments: Sequence[str]
    expires: timedelta

    def look(self) -> str | tuple[Answer, ...]:
        """Return the answers of all machines or, while one is awaited, what it is at. The first call starts it.

        Raises ActionError where a machine's command failed.
        """
        found = [self._of_machine(hosts) for hosts in by_machine(self.nodes).values()]
        answers = tuple(one for one in found if isinstance(one, Answer))
        return answers if len(answers) == len(found) else next(one for one in found if isinstance(one, str))

    def _of_machine(self, nodes: Sequence[Host]) -> str | Answer:
        host = nodes[0]
        status = host.status(self.id)
        if status.state == "missing":
            argv = self.tool.argv(host, self.command, *over_jmx(nodes), *self.arguments)
            host.start(Job(id=self.id, argv=argv, expires=self.expires))
            return self.command
        last = _last_line(host.read_tail(console_path(host.root, self.id), max_bytes=_TAIL))
        if status.state == "running":
            return with_names(str(last.get("progress") or self.command), nodes)
        if "ended_ms" not in last or last.get("error"):
            why = last.get("error") or f"it gave no answer (exit code {status.exit_code})"
            raise ActionError(
                f"{self.command} failed: {with_names(str(why), nodes)}",
                where=f"host {host.info.name}",
                mend="run the cell again",
            )
        at = datetime.fromtimestamp(last["ended_ms"] / 1000, UTC)
        names = (node.info.name for node in nodes)
        at -= timedelta(milliseconds=host.clock().offset_ms)
        return Answer(at, last.get("looks"), dict(zip(names, last["nodes"], strict=True)))


def _last_line(text: str) -> Mapping[str, Any]:
    """Return the object on the last line; empty where that is none."""
    try:
        found = json.loads(text.strip().rpartition("\n")[2])
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
