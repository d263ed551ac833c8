"""Which moves each action consists of, and how far it is: those of `repair`, which is full, as `nodetool repair
-full` does it, and of `compact`, a major compaction, are few enough to stand here.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

from plimsoll.adapters.products.cassandra.actions.moves import NodeMoves
from plimsoll.adapters.products.cassandra.actions.ring import MoveEnd, Ring, ToolJob
from plimsoll.adapters.products.cassandra.node import Blueprint
from plimsoll.adapters.products.nodes.tool import NodeTool
from plimsoll.domain.action import ActionEnd, ActionName, ActionPart
from plimsoll.ports.action import ActionRequest, ActionStatus
from plimsoll.ports.host import Host

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
    received = [one.streamed_bytes for one in ended if one.streamed_bytes is not None]
    end = ActionEnd(
        began_at=ended[0].began,
        at=max(one.at for one in ended),
        waited_s=_waited_s(ended),
        undated_s=sum(one.undated.total_seconds() for one in ended),
        nodes=tuple(node.info.name for node in left),
        evidence=tuple(one.evidence for one in ended),
        parts=tuple(part for one in ended for part in one.parts),
        streamed_bytes=sum(received) if request.spares else None,
    )
    return ActionStatus(end=end)


def _waited_s(ended: Sequence[MoveEnd]) -> float:
    """Return for how long no move was under way because nobody had looked, s."""
    waits = (then.began - (then.due or before.at) for before, then in pairwise(ended))
    return sum(max(0.0, one.total_seconds()) for one in waits)


def _compact(request: ActionRequest, moves: NodeMoves) -> Iterator[MoveProgress]:
    yield compact(moves.ring, _changed(request)), request.nodes


def _repair(request: ActionRequest, moves: NodeMoves) -> Iterator[MoveProgress]:
    for node in _changed(request):
        yield repair(moves.ring, node), request.nodes


def _restart(request: ActionRequest, moves: NodeMoves) -> Iterator[MoveProgress]:
    for node in _changed(request):
        yield moves.restart(node, request.nodes), request.nodes


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
    for new in request.spares:
        yield moves.join(new, members), (members := [*members, new])


def _replace(request: ActionRequest, moves: NodeMoves) -> Iterator[MoveProgress]:
    members = list(request.nodes)
    for victim, new in zip(_changed(request), request.spares, strict=True):
        members = [node for node in members if node is not victim]
        yield moves.kill(victim, members), members
        yield moves.join(new, members, victim), (members := [*members, new])


def _changed(request: ActionRequest) -> Sequence[Host]:
    names = request.action.changes([node.info.name for node in request.nodes])
    return [node for node in request.nodes if node.info.name in names]


def repair(ring: Ring, node: Host) -> str | MoveEnd:
    """Return the end of the repair, of which the node itself notifies; how far it is until then."""
    name = node.info.name
    began = ring.begun(node, f"{name}-repaired")
    found = ToolJob(ring.tool, f"action-{name}-repaired", [node], "repair", (), ring.request.expires).look()
    if isinstance(found, str):
        return found
    told = found[0].nodes[name]
    repaired = f"{name} repaired {', '.join(told['keyspaces'])} with the other replicas in {told['seconds']:g} s"
    return MoveEnd(began, found[0].at, repaired, (ActionPart(name=f"{name}: repair", seconds=told["seconds"]),))


def compact(ring: Ring, nodes: Sequence[Host]) -> str | MoveEnd:
    """Return the end of the compactions, which each node itself tells; how far they are until then."""
    began = ring.begun(nodes[0], "compacted")
    found = ToolJob(ring.tool, "action-compact", nodes, "compact", (), ring.request.expires).look()
    if isinstance(found, str):
        return found
    told = {name: one for answer in found for name, one in answer.nodes.items()}
    sentences = [
        f"{name} compacted {one['bytes_before']:,} to {one['bytes_after']:,} bytes in {one['seconds']:g} s"
        for name, one in sorted(told.items())
    ]
    return MoveEnd(began, max(answer.at for answer in found), "; ".join(sentences))


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
