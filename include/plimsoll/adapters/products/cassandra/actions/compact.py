"""`compact`: a major compaction, on several nodes at once."""

from collections.abc import Sequence

from plimsoll.adapters.products.cassandra.actions.ring import MoveEnd, Ring
from plimsoll.adapters.products.cassandra.actions.tool_job import ToolJob
from plimsoll.ports.host import Host


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
