"""`compact`: a major compaction, on several nodes at once."""

from collections.abc import Sequence

from plimsoll.adapters.products.cassandra.actions.ring import Moved, Ring
from plimsoll.adapters.products.cassandra.actions.tool_job import ToolJob
from plimsoll.adapters.products.nodes.tool import NodeTool
from plimsoll.ports.action import ActionRequest
from plimsoll.ports.host import Host


def compact(tool: NodeTool, request: ActionRequest, nodes: Sequence[Host]) -> str | Moved:
    """Return the end of the compactions, which each node itself tells; how far they are until then."""
    began = Ring(tool, request).begun(nodes[0], "compacted")
    found = ToolJob(tool, "action-compact", nodes, "compact", (), request.expires).look()
    if isinstance(found, str):
        return found
    told = {name: one for answer in found for name, one in answer.nodes.items()}
    sentences = [
        f"{name} compacted {one['bytes_before']:,} to {one['bytes_after']:,} bytes in {one['seconds']:g} s"
        for name, one in sorted(told.items())
    ]
    return Moved(began, max(answer.at for answer in found), "; ".join(sentences))
