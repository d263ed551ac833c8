"""The moves of actions that change single nodes: kill one, start one again, let a new one join."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from plimsoll.adapters.hosts.jobs import process_of
from plimsoll.adapters.products.cassandra.actions.join_log import join_parts
from plimsoll.adapters.products.cassandra.actions.ring import Moved, Ring
from plimsoll.adapters.products.cassandra.node import Blueprint, join, start_again
from plimsoll.adapters.products.cassandra.node_files import JOB, RESTARTED, NodeFiles, current_process
from plimsoll.domain.action import ActionPart
from plimsoll.ports.host import Host

_DRAIN = timedelta(minutes=1)
_KILL = timedelta(seconds=20)
_LOG_BYTES = 1 << 20


@dataclass(frozen=True)
class Moves:
    """The moves of one action. Each returns its end, or what it is at, in words; called again, it goes on."""

    ring: Ring
    blueprint: Blueprint

    def kill(self, victim: Host, others: Sequence[Host], dead: Sequence[Host] = ()) -> str | Moved:
        """Kill a node, until all others see it down. `dead`: nodes that were killed before it."""
        _kill(victim, current_process(victim).name)
        return self.ring.awaited(f"{victim.info.name}-down", others, dead=(*dead, victim))

    def restart(self, node: Host, nodes: Sequence[Host]) -> str | Moved:
        """End a node, which drains itself, and start it again on its data, until all nodes see one another up."""
        if node.status(RESTARTED).state == "missing":
            node.stop(JOB, grace=_DRAIN)
            start_again(node, self.blueprint)
        return self.ring.awaited(f"{node.info.name}-up", nodes)

    def join(self, new: Host, members: Sequence[Host], replaced: Host | None = None) -> str | Moved:
        """Let a new node join the members, in the place of a dead one if any, until all agree and it has its data."""
        if new.status(JOB).state == "missing":
            join(new, self.blueprint, replaced.info.address if replaced else "")
        gone = (replaced,) if replaced else ()
        moved = self.ring.awaited(f"{new.info.name}-joined", (*members, new), gone=gone)
        if isinstance(moved, str):
            return moved
        parts = join_parts(new.read_tail(NodeFiles(new.root).system_log, max_bytes=_LOG_BYTES))
        named = tuple(ActionPart(name=f"{new.info.name}: {one.name}", seconds=one.seconds) for one in parts)
        return Moved(moved.at, f"{new.info.name} joined: {moved.evidence}", named, moved.streamed_bytes)


def _kill(host: Host, job_id: str) -> None:
    """Send signal 9 to the job if it runs. `Host.stop` asks first, and a node that is asked tells the others."""
    pid = process_of(host, job_id) if host.status(job_id).state == "running" else None
    if pid is not None:
        host.run(("kill", "-KILL", "--", f"-{pid}"), timeout=_KILL, check=False)
    host.stop(job_id, grace=timedelta(0))  # where the record names no process
