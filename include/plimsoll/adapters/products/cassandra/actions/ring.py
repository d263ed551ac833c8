"""Wait for what the nodes themselves tell of the ring: the evidence that a change of it has ended."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from plimsoll.adapters.products.cassandra.actions.tool_job import ToolJob
from plimsoll.adapters.products.cassandra.node_files import current_process
from plimsoll.adapters.products.nodes.node_state import down
from plimsoll.adapters.products.nodes.tool import NodeTool
from plimsoll.domain.action import ActionPart
from plimsoll.domain.errors import ActionError
from plimsoll.domain.plurals import plural
from plimsoll.ports.action import ActionRequest
from plimsoll.ports.host import Host


@dataclass(frozen=True)
class MoveEnd:
    """One move of an action that has ended at `at`, with the evidence of that.

    `undated`: by how much it may have ended before, where the first that asked found it so. `due`: when it had to begin
    if not at the end of the move before it.
    """

    began: datetime
    at: datetime
    evidence: str
    parts: tuple[ActionPart, ...] = ()
    streamed_bytes: int | None = None
    undated: timedelta = timedelta(0)
    due: datetime | None = None


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
        arguments = [word for option, nodes in lists.items() if nodes for word in (option, _addresses(nodes))]
        timeout = ("--timeout", f"{self.request.expires.total_seconds():.0f}s")
        job = ToolJob(self.tool, f"action-{name}", up, "ring", (*arguments, *timeout), self.request.expires)
        found = job.look()
        if isinstance(found, str):
            _require_running(up, self.request.action.name)
            return found
        at = max(answer.at for answer in found)
        # Who found it so at the first look does not know since when. A tool of before does not tell its looks.
        known = max((answer.at for answer in found if answer.looks != 1), default=began)
        received = {node: int(one["received_bytes"]) for answer in found for node, one in answer.nodes.items()}
        return MoveEnd(
            began,
            at,
            _evidence(up, dead, gone),
            streamed_bytes=received[up[-1].info.name],
            undated=max(at - known, timedelta(0)),
        )


def _require_running(nodes: Sequence[Host], action: str) -> None:
    """Raise ActionError where a node has ended. Not asked once the move has: the next one may end nodes."""
    for node in nodes:
        if why := down(node, current_process(node)):
            raise ActionError(why, where=action, mend="run the cell again")


def _addresses(nodes: Sequence[Host]) -> str:
    return ",".join(node.info.address for node in nodes)


def _evidence(up: Sequence[Host], dead: Sequence[Host], gone: Sequence[Host]) -> str:
    told = [f"{plural(len(up), 'node')} agree that all of them are up, listen for clients and stream nothing"]
    told += [f"{node.info.name} is down" for node in dead]
    told += [f"{node.info.name} is in no list" for node in gone]
    return ", ".join(told)
