"""Waiting for nodes to say in their logs how far they are. A node that ends while it is waited for fails at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from plimsoll.adapters.cassandra.layout import JOB, NodeFiles
from plimsoll.adapters.cassandra.words import name_of, remedy, said_last, state_of
from plimsoll.domain.errors import DeployError
from plimsoll.ports.clock import Clock
from plimsoll.ports.host import Host

# The lines waited for are among the first few hundred that a node ever writes.
_LOG_BYTES = 1 << 20
_POLL_S = 0.2


@dataclass(frozen=True)
class Patience:
    """Until when to wait, on which clock."""

    clock: Clock
    until: datetime

    def await_line(self, nodes: Sequence[Host], text: str) -> None:
        """Return when the log of every node has a line with that text. DeployError when one ends, or time is over."""
        waiting = list(nodes)
        while True:
            began = self.clock.now()
            waiting = [node for node in waiting if not _has_said(node, text)]
            for node in nodes:
                _require_running(node)
            if not waiting:
                return
            if self.clock.now() >= self.until:
                raise _late(waiting[0], text, self)
            # Over a network a look takes a while: it shall not fill the time.
            self.clock.sleep(max(_POLL_S, 2 * (self.clock.now() - began).total_seconds()))


def _has_said(node: Host, text: str) -> bool:
    return text in node.read_tail(NodeFiles(node.root).system_log, max_bytes=_LOG_BYTES)


def _require_running(node: Host) -> None:
    status = node.status(JOB)
    if status.state != "running":
        raise _failed(node, f"{state_of(status)} before it was up", "read its log, mend the cause, run the cell again")


def _late(node: Host, text: str, patience: Patience) -> DeployError:
    what = f"{state_of(node.status(JOB))} but was not up at {patience.until:%H:%M:%S} UTC: it never said {text!r}"
    return _failed(node, what, "see what else its host does; a busy machine may need more time")


def _failed(node: Host, what: str, otherwise: str) -> DeployError:
    said = said_last(node)
    return DeployError(
        f"{what}; its log's last lines:\n{said}",
        where=f"cassandra on {name_of(node)}",
        mend=remedy(said, otherwise),
    )
