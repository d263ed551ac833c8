"""Follow a load to its end, whatever happens to the link meanwhile: it runs detached, and goes on unobserved."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from plimsoll.domain.errors import PlimsollError
from plimsoll.ports.load_generator import LoadStatus
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.cell.steps import Polling

OUT_OF_REACH = timedelta(minutes=5)
"""How long a load may go unobserved (a lost connection, say) before it counts as failed."""


@dataclass
class Follower:
    """Looks at one load again and again. All that it knows beside the time is in the store and on the hosts."""

    work: AttemptContext
    polling: Polling
    _seen: datetime = field(init=False)

    def __post_init__(self) -> None:
        self._seen = self.work.toolkit.clock.now()

    def look(self) -> LoadStatus | str:
        """How the load is; or why it can't be observed now, as long as that need not worry."""
        try:
            status = self.polling.look(self.work)
        except PlimsollError as error:
            if self.work.toolkit.clock.now() - self._seen > OUT_OF_REACH:
                return LoadStatus("failed", reason=f"out of reach for {OUT_OF_REACH}: {error}")
            return f"the load can't be observed now, it goes on: {error}"
        self._seen = self.work.toolkit.clock.now()
        return status
