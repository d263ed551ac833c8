"""The size of a keyspace on the nodes' disks, and its removal."""

from collections.abc import Sequence
from datetime import timedelta

from plimsoll.adapters.products.cassandra.inquiry import over_jmx
from plimsoll.adapters.products.nodes.machines import by_machine
from plimsoll.adapters.products.nodes.tool import NodeTool
from plimsoll.domain.errors import DeployError
from plimsoll.ports.host import Host

_FLUSH = timedelta(minutes=5)
_DROP = timedelta(minutes=2)
_MEND = "see whether the node runs, and run the cell again"


def bytes_on_disk(tool: NodeTool, nodes: Sequence[Host], keyspace: str) -> dict[str, int]:
    """Return the size of the keyspace's live files after a flush, bytes, by node.

    Raises DeployError without an answer.
    """
    found: dict[str, int] = {}
    for hosts in by_machine(nodes).values():
        answer = tool.ask(hosts[0], "size", *over_jmx(hosts), "--keyspace", keyspace, allowed=_FLUSH)
        if answer["error"]:
            raise DeployError(
                f"how much {keyspace} takes on disk is not known: {answer['error']}",
                where=f"cassandra on host {hosts[0].info.name}",
                mend=_MEND,
            )
        found.update(zip((host.info.name for host in hosts), answer["bytes"].values(), strict=True))
    return {node.info.name: found[node.info.name] for node in nodes}


def drop(tool: NodeTool, node: Host, keyspace: str) -> None:
    """Drop the keyspace if it exists. Raises DeployError where the node does not answer."""
    answer = tool.ask(node, "drop", "--host", node.info.address, "--keyspace", keyspace, allowed=_DROP)
    if answer["error"]:
        where = f"cassandra on host {node.info.name}"
        raise DeployError(f"{keyspace} could not be dropped: {answer['error']}", where=where, mend=_MEND)
