"""The moves of actions that change single nodes: kill one, start one again, let a new one join.

The parts of a join are read in the log of the node that joined. The texts were read in the logs of nodes of 3.11.19 and
4.0.1.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from plimsoll.adapters.hosts.jobs import process_of
from plimsoll.adapters.products.cassandra.actions.ring import MoveEnd, Ring, ToolJob
from plimsoll.adapters.products.cassandra.events import CassandraLog
from plimsoll.adapters.products.cassandra.node import Blueprint, join, start_again
from plimsoll.adapters.products.cassandra.node_files import JOB, RESTARTED, NodeFiles, current_process
from plimsoll.domain.action import ActionPart
from plimsoll.domain.process import LogLine
from plimsoll.ports.host import Host

_DRAIN = timedelta(minutes=1)
_KILL = timedelta(seconds=20)
_LOG_BYTES = 1 << 20

_ENDS = (
    ("start, gossip and fixed waits", re.compile(r"Starting to bootstrap")),
    ("streaming", re.compile(r"All sessions completed")),
    ("opening to clients", re.compile(r"Starting listening for CQL clients")),
)
"""Each part with the line that ends it, in their order."""


@dataclass(frozen=True)
class NodeMoves:
    """The moves of one action. Each returns its end, or what it is at, in words; called again, it goes on."""

    ring: Ring
    blueprint: Blueprint

    def kill(self, victim: Host, others: Sequence[Host], dead: Sequence[Host] = ()) -> str | MoveEnd:
        """Kill a node, until all others see it down. `dead`: nodes that were killed before it."""
        move = f"{victim.info.name}-down"
        began = self.ring.begun(victim, move)
        # One that comes back has been killed once it was started again, whoever looks then.
        # Signal 9, for `Host.stop` asks first, and a node that is asked tells the others.
        job_id = JOB if self.ring.request.action.down_for else current_process(victim).name
        pid = process_of(victim, job_id) if victim.status(job_id).state == "running" else None
        if pid is not None:
            victim.run(("kill", "-KILL", "--", f"-{pid}"), timeout=_KILL, check=False)
        victim.stop(job_id, grace=timedelta(0))  # where the record names no process
        return self.ring.awaited(move, began, others, dead=(*dead, victim))

    def bring_back(self, node: Host, at: datetime, nodes: Sequence[Host]) -> str | MoveEnd:
        """Start a killed node again on its data at that time, until all nodes see one another up."""
        move, left = f"{node.info.name}-up", at - self.ring.request.now
        is_down = node.status(RESTARTED).state == "missing"
        if is_down and left > timedelta(0):
            return f"{node.info.name} stays down for {left.total_seconds():.0f} s more"
        began = self.ring.begun(node, move)
        if is_down:
            start_again(node, self.blueprint)
        moved = self.ring.awaited(move, began, nodes)
        return replace(moved, due=at) if isinstance(moved, MoveEnd) else moved

    def leave(self, node: Host, others: Sequence[Host]) -> str | MoveEnd:
        """Let a node hand over all that it has and leave, then end it, until no other one knows it."""
        name, expires = node.info.name, self.ring.request.expires
        began = self.ring.begun(node, f"{name}-left")
        found = ToolJob(self.ring.tool, f"action-{name}-left", [node], "decommission", (), expires).look()
        # Asked from the begin on: the others forget it when they do, and not when somebody looks.
        moved = self.ring.awaited(f"{name}-gone", began, others, gone=(node,))
        if isinstance(found, str):
            return found
        node.stop(current_process(node).name, grace=_DRAIN)  # its JVM goes on, in no ring
        if isinstance(moved, str):
            return moved
        left = found[0]
        part = ActionPart(name=f"{name}: handing over", seconds=left.nodes[name]["seconds"])
        at = max(moved.at, left.at)
        return MoveEnd(began, at, f"{name} left: {moved.evidence}", (part,), undated=min(moved.undated, at - left.at))

    def restart(self, node: Host, nodes: Sequence[Host]) -> str | MoveEnd:
        """End a node, which drains itself, and start it again on its data, until all nodes see one another up."""
        move = f"{node.info.name}-up"
        began = self.ring.begun(node, move)
        if node.status(RESTARTED).state == "missing":
            node.stop(JOB, grace=_DRAIN)
            start_again(node, self.blueprint)
        return self.ring.awaited(move, began, nodes)

    def join(self, new: Host, members: Sequence[Host], replaced: Host | None = None) -> str | MoveEnd:
        """Let a new node join the members, in the place of a dead one if any, until all agree and it has its data."""
        move = f"{new.info.name}-joined"
        began = self.ring.begun(new, move)
        if new.status(JOB).state == "missing":
            join(new, self.blueprint, replaced.info.address if replaced else "")
        gone = (replaced,) if replaced else ()
        moved = self.ring.awaited(move, began, (*members, new), gone=gone)
        if isinstance(moved, str):
            return moved
        parts = join_parts(new.read_tail(NodeFiles(new.root).system_log, max_bytes=_LOG_BYTES))
        named = tuple(ActionPart(name=f"{new.info.name}: {one.name}", seconds=one.seconds) for one in parts)
        return replace(moved, evidence=f"{new.info.name} joined: {moved.evidence}", parts=named)


def join_parts(text: str) -> tuple[ActionPart, ...]:
    """Return the parts whose lines the log has, each from the end of the one before, the first from the log's begin."""
    found = CassandraLog().lines(JOB, text, UTC)  # only differences count
    if not found:
        return ()
    ends = [(name, at) for name, pattern in _ENDS if (at := _last(found, pattern))]
    times = [("", found[0].at), *ends]
    return tuple(_parts(times))


def _last(found: Sequence[LogLine], pattern: re.Pattern[str]) -> datetime | None:
    return next((line.at for line in reversed(found) if pattern.search(line.text)), None)


def _parts(times: list[tuple[str, datetime]]) -> Iterator[ActionPart]:
    for (_, before), (name, at) in pairwise(times):
        yield ActionPart(name=name, seconds=round((at - before).total_seconds(), 1))
