"""What is done to running nodes under load: which moves each action consists of, and how far it is.

Moves come one after the other. Every move is found again by the jobs that it left on the hosts. `repair` is full, as
`nodetool repair -full` does it, and `compact` is a major compaction.

The parts of a join are read in the log of the node that joined. The texts were read in the logs of nodes of 3.11.19 and
4.0.1.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from plimsoll.adapters.hosts.base import process_of
from plimsoll.adapters.products.cassandra.inquiry import MoveEnd, Ring
from plimsoll.adapters.products.cassandra.node import Blueprint, join, start
from plimsoll.adapters.products.cassandra.node_files import JOB, RESTARTED, CassandraLog, NodeFiles, current_process
from plimsoll.adapters.products.nodes.own_machine import NodeTool
from plimsoll.domain.keys.action import ActionEnd, ActionName, ActionPart
from plimsoll.domain.keys.process import LogLine
from plimsoll.ports.host import Host
from plimsoll.ports.product import ActionRequest, ActionStatus

_DRAIN = timedelta(minutes=1)
_KILL = timedelta(seconds=20)
_READ = timedelta(seconds=20)
_LOG_BYTES = 1 << 20

_ENDS = (
    ("start, gossip and fixed waits", re.compile(r"Starting to bootstrap")),
    ("streaming", re.compile(r"All sessions completed")),
    # Not "Startup complete": 4.0.1 also logs that after failed streaming, and stays closed to clients
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
            start(node, self.blueprint, RESTARTED)
        moved = self.ring.awaited(move, began, nodes)
        return replace(moved, due=at) if isinstance(moved, MoveEnd) else moved

    def leave(self, node: Host, others: Sequence[Host]) -> str | MoveEnd:
        """Let a node hand over all that it has and leave, then end it, until no other one knows it."""
        name = node.info.name
        began = self.ring.begun(node, f"{name}-left")
        answers = self.ring.answers(f"action-{name}-left", [node], "decommission")
        # Asked from the begin on: the others forget it when they do, and not when somebody looks.
        moved = self.ring.awaited(f"{name}-gone", began, others, gone=(node,))
        if isinstance(answers, str):
            return answers
        node.stop(current_process(node).name, grace=_DRAIN)  # its JVM goes on, in no ring
        if isinstance(moved, str):
            return moved
        left = answers[0]
        part = ActionPart(name=f"{name}: handing over", seconds=left.nodes[name]["seconds"])
        # The move lasts at least until the node's own call returns, however early the others forget the node
        at = max(moved.at, left.at)
        return MoveEnd(began, at, f"{name} left: {moved.evidence}", (part,), undated=min(moved.undated, at - left.at))

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
        # Its begin, where the lines of the join are, however much it has logged since.
        head = ("head", "-c", str(_LOG_BYTES), str(NodeFiles(new.root).system_log))
        parts = join_parts(new.run(head, timeout=_READ, check=False).stdout)
        named = tuple(ActionPart(name=f"{new.info.name}: {part.name}", seconds=part.seconds) for part in parts)
        evidence = f"{new.info.name} joined: {moved.evidence}"
        # It counts from its start, so all of the join
        return replace(moved, evidence=evidence, parts=named, streamed_bytes=moved.received[new.info.name])


def join_parts(text: str) -> tuple[ActionPart, ...]:
    """Return the parts whose lines the log has, each from the end of the one before, the first from the log's begin."""
    lines = CassandraLog().lines(JOB, text, UTC)  # only differences count
    if not lines:
        return ()
    ends = [(name, at) for name, pattern in _ENDS if (at := _last(lines, pattern))]
    return tuple(
        ActionPart(name=name, seconds=round((at - before).total_seconds(), 1))
        for (_, before), (name, at) in pairwise([("", lines[0].at), *ends])
    )


def _last(lines: Sequence[LogLine], pattern: re.Pattern[str]) -> datetime | None:
    return next((line.at for line in reversed(lines) if pattern.search(line.text)), None)


MoveProgress = tuple[str | MoveEnd, Sequence[Host]]
"""How far a move is, and the nodes that have to run once it has ended."""


def act(tool: NodeTool, request: ActionRequest, blueprint: Blueprint) -> ActionStatus:
    """Go on with the action, one move after the other: no move begins before the last one's evidence is there."""
    moves = NodeMoves(Ring(tool, request), blueprint)
    ended: list[MoveEnd] = []
    left: Sequence[Host] = ()
    for moved, nodes in _TURNS[request.action.name](request, moves):
        if isinstance(moved, str):
            return ActionStatus(note=f"{request.action.name}: {moved}")
        ended.append(moved)
        left = nodes
    # How long no move was under way, since nobody had looked yet whether the one before had ended
    waits = (then.began - (then.due or before.at) for before, then in pairwise(ended))
    received = [move.streamed_bytes for move in ended if move.streamed_bytes is not None]
    end = ActionEnd(
        began_at=ended[0].began,
        at=max(move.at for move in ended),
        waited_s=sum(max(0.0, wait.total_seconds()) for wait in waits),
        undated_s=sum(move.undated.total_seconds() for move in ended),
        nodes=tuple(node.info.name for node in left),
        evidence=tuple(move.evidence for move in ended),
        parts=tuple(part for move in ended for part in move.parts),
        streamed_bytes=sum(received) if received else None,
    )
    return ActionStatus(end=end)


def _compact(request: ActionRequest, moves: NodeMoves) -> Iterator[MoveProgress]:
    """Compact all nodes at once, each of which itself tells the end."""
    nodes = _changed(request)
    began = moves.ring.begun(nodes[0], "compacted")
    answers = moves.ring.answers("action-compact", nodes, "compact")
    if isinstance(answers, str):
        yield answers, request.nodes
        return
    outcomes = {name: outcome for answer in answers for name, outcome in answer.nodes.items()}
    sentences = [
        f"{name} compacted {outcome['bytes_before']:,} to {outcome['bytes_after']:,} bytes in {outcome['seconds']:g} s"
        for name, outcome in sorted(outcomes.items())
    ]
    yield MoveEnd(began, max(answer.at for answer in answers), "; ".join(sentences)), request.nodes


def _repair(request: ActionRequest, moves: NodeMoves) -> Iterator[MoveProgress]:
    """Repair one node after the other, each of which itself notifies of the end."""
    for node in _changed(request):
        name = node.info.name
        began = moves.ring.begun(node, f"{name}-repaired")
        answers = moves.ring.answers(f"action-{name}-repaired", [node], "repair")
        if isinstance(answers, str):
            yield answers, request.nodes
            return
        outcome = answers[0].nodes[name]
        keyspaces, seconds = ", ".join(outcome["keyspaces"]), outcome["seconds"]
        repaired = f"{name} repaired {keyspaces} with the other replicas in {seconds:g} s"
        parts = (ActionPart(name=f"{name}: repair", seconds=seconds),)
        yield MoveEnd(began, answers[0].at, repaired, parts), request.nodes


def _restart(request: ActionRequest, moves: NodeMoves) -> Iterator[MoveProgress]:
    """End each node, which drains itself, and start it again on its data, until all nodes see one another up."""
    for node in _changed(request):
        move = f"{node.info.name}-up"
        began = moves.ring.begun(node, move)
        if node.status(RESTARTED).state == "missing":
            node.stop(JOB, grace=_DRAIN)
            start(node, moves.blueprint, RESTARTED)
        yield moves.ring.awaited(move, began, request.nodes), request.nodes


def _kill(request: ActionRequest, moves: NodeMoves) -> Iterator[MoveProgress]:
    left, dead = list(request.nodes), list[Host]()
    for victim in _changed(request):
        left.remove(victim)
        yield (down := moves.kill(victim, left, dead)), left
        if request.action.down_for and isinstance(down, MoveEnd):
            left.append(victim)
            yield moves.bring_back(victim, down.at + request.action.down_for, request.nodes), request.nodes
        else:
            dead.append(victim)


def _decommission(request: ActionRequest, moves: NodeMoves) -> Iterator[MoveProgress]:
    left = list(request.nodes)
    for node in _changed(request):
        left.remove(node)
        yield moves.leave(node, left), left


def _add(request: ActionRequest, moves: NodeMoves) -> Iterator[MoveProgress]:
    members = list(request.nodes)
    # One after the other: Cassandra refuses a node that joins while another one does
    for new in request.spares:
        yield moves.join(new, members), (members := [*members, new])


def _replace(request: ActionRequest, moves: NodeMoves) -> Iterator[MoveProgress]:
    members = list(request.nodes)
    for victim, new in zip(_changed(request), request.spares, strict=True):
        members = [node for node in members if node is not victim]
        # Others must see it down first, because Cassandra refuses to replace a live node. It must never start again:
        # it would come up as a member and take its tokens back.
        yield moves.kill(victim, members), members
        yield moves.join(new, members, victim), (members := [*members, new])


def _changed(request: ActionRequest) -> Sequence[Host]:
    names = request.action.changes([node.info.name for node in request.nodes])
    return [node for node in request.nodes if node.info.name in names]


_TURNS: Mapping[ActionName, Callable[[ActionRequest, NodeMoves], Iterator[MoveProgress]]] = {
    "compact": _compact,
    "repair": _repair,
    "restart": _restart,
    "kill-node": _kill,
    "decommission": _decommission,
    "add-node": _add,
    "replace-node": _replace,
}
ACTIONS = tuple(_TURNS)
