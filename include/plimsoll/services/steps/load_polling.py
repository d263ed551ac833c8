"""Watch a load to its end, even if the connection fails meanwhile: the load runs detached and does not need it."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property

from plimsoll.domain.text.errors import DamagedRecord, PlimsollError
from plimsoll.domain.text.units import format_duration
from plimsoll.ports.load_generator import LoadStatus
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.cell.loading import why_over
from plimsoll.services.steps.steps import Polling
from plimsoll.services.store import layout

OUT_OF_REACH = timedelta(minutes=5)
"""The time for which a load may go unobserved (a lost connection, say) before it counts as failed."""
OVERTIME = timedelta(minutes=10)
"""The time that a load may take beyond its declared time, for its start and its end."""
_CEILING_EVERY = timedelta(minutes=1)
"""The time between two looks at the campaign's cost, each of which reads the store."""
_MEND = "a new campaign that writes a longer `timing.populating` gives it more time"


@dataclass
class LoadPoller:
    """A poller of one load, which gives the load up when it takes longer than it may.

    All its state is in the store and on the hosts, except the time of the last look, and `since`: when the load began.
    """

    work: AttemptContext
    polling: Polling
    since: datetime | None = None
    """The time from which on the load counts as unobserved; None: now."""
    _seen: datetime = field(init=False)
    _below: datetime | None = field(init=False, default=None)
    """When the attempt was last seen to keep the ceiling."""

    def __post_init__(self) -> None:
        self._seen = self.work.toolkit.clock.now()
        self.since = self.since or self._seen

    def look(self) -> LoadStatus | str:
        """Return the load's status, or the reason why it can't be read at the moment, as long as that is acceptable."""
        try:
            status = self.polling.look(self.work)
            late = self._why_late(status) if status.state == "running" else ""
        except DamagedRecord:  # which waiting does not mend
            raise
        except PlimsollError as error:
            if self.work.toolkit.clock.now() - self._seen > OUT_OF_REACH:
                return LoadStatus("failed", reason=f"out of reach for {OUT_OF_REACH}: {error}")
            return f"the load can't be observed now, it goes on: {error}"
        self._seen = self.work.toolkit.clock.now()
        return LoadStatus("failed", status.phase, reason=late) if late else status

    def _why_late(self, status: LoadStatus) -> str:
        """Explain why a running load is given up; empty where it may go on."""
        now, timing = self.work.toolkit.clock.now(), self.work.part.timing
        lasted = now - (self.since or now)
        if self._below is None or now - self._below >= _CEILING_EVERY:
            if over := why_over(self.work):
                return over
            self._below = now
        if status.phase != "populate":
            longest = self.polling.longest(self.work.part) + OVERTIME
            return f"it took longer than {format_duration(longest)}" if lasted > longest else ""
        if lasted > timing.longest_populating:
            return f"populating took longer than {format_duration(timing.longest_populating)}: {_MEND}"
        if self._hosts_end is not None and now + timing.duration > self._hosts_end:
            return f"populating took so long that the hosts would end before the load, at {self._hosts_end:%H:%M} UTC"
        return ""

    @cached_property
    def _hosts_end(self) -> datetime | None:
        """Tell when the attempt's hosts end themselves; None where that is not on record."""
        cluster = layout.CLUSTER.read(self.work.toolkit.store, self.work.key)
        return cluster.expires_at if cluster else None
