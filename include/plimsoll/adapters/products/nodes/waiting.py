"""Wait for lines in the logs of starting nodes. If a node ends meanwhile, waiting fails at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from plimsoll.adapters.products.nodes.last_lines import LastLines, last_lines
from plimsoll.adapters.products.nodes.node_process import NodeProcess
from plimsoll.adapters.products.nodes.node_state import (
    FULL,
    OUT_OF_MEMORY,
    is_disk_full,
    name_of,
    state_of,
    was_killed,
)
from plimsoll.adapters.products.nodes.remedies import remedy
from plimsoll.domain.errors import DeployError
from plimsoll.ports.clock import Clock
from plimsoll.ports.host import Host, JobStatus

# The lines waited for are among the first few hundred that a node ever writes.
_LOG_BYTES = 1 << 20
_POLL_S = 0.2
_MORE_TIME = "see what else its host does; for a busy machine write `start_within` below system"


@dataclass(frozen=True)
class Patience:
    """The clock, the time until which to wait, and the nodes' process."""

    clock: Clock
    until: datetime
    process: NodeProcess

    def await_line(self, nodes: Sequence[Host], text: str) -> None:
        """Return once every node's log has a line with that text. Raises DeployError when a node or the time ends."""
        waiting = list(nodes)
        while True:
            began = self.clock.now()
            waiting = [node for node in waiting if not self._has_logged(node, text)]
            for node in nodes:
                self._require_running(node)
            if not waiting:
                return
            if self.clock.now() >= self.until:
                raise self._late(waiting[0], text)
            # Reading logs over a network takes a while. A longer pause keeps it from going on all the time.
            self.clock.sleep(max(_POLL_S, 2 * (self.clock.now() - began).total_seconds()))

    def _has_logged(self, node: Host, text: str) -> bool:
        own, *_ = self.process.logs(node.root)
        return text in node.read_tail(own, max_bytes=_LOG_BYTES)

    def _require_running(self, node: Host) -> None:
        status = node.status(self.process.name)
        if status.state != "running":
            said = last_lines(node, self.process)
            mend = remedy("\n".join(said.complaints), self.process.words) or _guess(node, status)
            raise self._failed(node, f"{state_of(status)} before it was up", said, mend)

    def _late(self, node: Host, text: str) -> DeployError:
        state = state_of(node.status(self.process.name))
        said = last_lines(node, self.process)
        mend = remedy("\n".join(said.complaints), self.process.words) or _MORE_TIME
        what = f"{state} but was not up at {self.until:%H:%M:%S} UTC: it never said {text!r}"
        return self._failed(node, what, said, mend)

    def _failed(self, node: Host, what: str, said: LastLines, mend: str) -> DeployError:
        return DeployError(f"{what}:\n{said}", where=f"{self.process.name} on {name_of(node)}", mend=mend)


def _guess(node: Host, status: JobStatus) -> str:
    """Return the advice for a node whose log does not say why it ended; empty where none is known."""
    if is_disk_full(node):
        return FULL
    return OUT_OF_MEMORY if was_killed(status) else ""
