"""Watch a load to its end, even if the connection fails meanwhile: the load runs detached and does not need it."""

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
    """Looks at one load repeatedly.

    All its state is in the store and on the hosts, except the time of the last look.
    """

    work: AttemptContext
    polling: Polling
    _seen: datetime = field(init=False)

    def __post_init__(self) -> None:
        self._seen = self.work.toolkit.clock.now()

    def look(self) -> LoadStatus | str:
        """The load's status, or the reason why it can't be read at the moment, as long as that is acceptable."""
        try:
            status = self.polling.look(self.work)
        except PlimsollError as error:
            if self.work.toolkit.clock.now() - self._seen > OUT_OF_REACH:
                return LoadStatus("failed", reason=f"out of reach for {OUT_OF_REACH}: {error}")
            return f"the load can't be observed now, it goes on: {error}"
        self._seen = self.work.toolkit.clock.now()
        return status
