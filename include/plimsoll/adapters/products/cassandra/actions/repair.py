"""`repair`: a full repair of all that one node has, as `nodetool repair -full` does it."""

from plimsoll.adapters.products.cassandra.actions.ring import MoveEnd, Ring
from plimsoll.adapters.products.cassandra.actions.tool_job import ToolJob
from plimsoll.domain.action import ActionPart
from plimsoll.ports.host import Host


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
