"""Wait until starting nodes are up. If one of their processes ends meanwhile, waiting fails at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from plimsoll.adapters.products.nodes.node_state import OnHost, ended, failed, state_of
from plimsoll.ports.controller import Clock

# The lines waited for are among the first few hundred that a node ever writes.
_LOG_BYTES = 1 << 20
_POLL_S = 0.2
_MORE_TIME = "see what else its host does; for a busy machine write `start_within` below system"


class Obstacle(NamedTuple):
    """The process that keeps others waiting, and why: `it never said …`."""

    place: OnHost
    why: str


@dataclass(frozen=True)
class Patience:
    """The clock, and the time until which to wait."""

    clock: Clock
    until: datetime

    def await_line(self, places: Sequence[OnHost], text: str) -> None:
        """Return once each process's log has a line with that text. Raises DeployError when one or time ends."""
        waiting = list(places)

        def obstacle() -> Obstacle | None:
            waiting[:] = [place for place in waiting if not _has_logged(place, text)]
            return Obstacle(waiting[0], f"it never said {text!r}") if waiting else None

        self.await_none(obstacle, places)

    def await_none(self, obstacle: Callable[[], Obstacle | None], places: Sequence[OnHost]) -> None:
        """Return once there is no obstacle, and all processes run. Raises DeployError when one or time ends."""
        while True:
            began = self.clock.now()
            present = obstacle()
            # Looked at after the obstacle: a process may have ended since it logged that it is up
            for node, process in places:
                status = node.status(process.name)
                if status.state != "running":
                    raise ended((node, process), status, "before it was up")
            if present is None:
                return
            if self.clock.now() >= self.until:
                (node, process), why = present
                what = f"{state_of(node.status(process.name))} but was not up at {self.until:%H:%M:%S} UTC: {why}"
                raise failed(present.place, what, lambda: _MORE_TIME)
            # Asking over a network takes a while. A longer pause keeps it from going on all the time.
            self.clock.sleep(max(_POLL_S, 2 * (self.clock.now() - began).total_seconds()))


def _has_logged(place: OnHost, text: str) -> bool:
    node, process = place
    own, *_ = process.logs(node.root)
    return text in node.read_tail(own, max_bytes=_LOG_BYTES)
