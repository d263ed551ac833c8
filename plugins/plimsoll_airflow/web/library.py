"""What the store says, read once for all who look at it: definitions, statuses, and what can't change any more."""

import hashlib
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache

from plimsoll.domain.definition import Definition
from plimsoll.domain.status import CampaignStatus
from plimsoll.ports.clock import Clock
from plimsoll.ports.store import ResultStore
from plimsoll.services.campaigns import CampaignStore, campaign_exists, campaign_ids
from plimsoll.services.definitions import parse_definition
from plimsoll.services.states import Memory
from plimsoll.services.status import campaign_status
from plimsoll_airflow.toolkit import toolkit

LIVE_S = 2.0
"""How old the status of a campaign may be that runs."""
QUIET_S = 5.0
"""How old that of one may be of which nothing runs."""
LISTED_S = 60.0
"""How old that of one may be, in the list of all, before it is read again."""


@dataclass(frozen=True)
class Snapshot:
    """A campaign's status and a name for exactly this content."""

    status: CampaignStatus
    etag: str
    taken: float


@dataclass
class Library:
    """Reads of one store, shared by all requests. Of many who ask for the same at once, one reads."""

    store: ResultStore
    clock: Clock
    monotonic: Callable[[], float] = time.monotonic
    memory: Memory = field(default_factory=Memory)
    reader: Executor = field(default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="plimsoll-library"))
    _definitions: dict[bytes, Definition] = field(default_factory=dict)
    _snapshots: dict[str, Snapshot] = field(default_factory=dict)
    _locks: defaultdict[str, threading.Lock] = field(default_factory=lambda: defaultdict(threading.Lock))

    def definition(self, campaign_id: str) -> Definition:
        """The campaign's own; NotFound when there is no such campaign. Equal texts are parsed once."""
        campaign = CampaignStore(self.store, campaign_id)
        text = campaign.definition_text()
        if text not in self._definitions:
            self._definitions[text] = parse_definition(text.decode(), campaign_id)
        return self._definitions[text]

    def has(self, campaign_id: str) -> bool:
        """Whether there is such a campaign."""
        return campaign_exists(self.store, campaign_id)

    def snapshot(self, campaign_id: str) -> Snapshot:
        """How the campaign stands, as of a few seconds ago at most."""
        with self._locks[campaign_id]:
            known = self._snapshots.get(campaign_id)
            if known is None or self._is_old(known, QUIET_S):
                known = self._snapshots[campaign_id] = self._taken(campaign_id)
            return known

    def campaigns(self) -> tuple[CampaignStatus, ...]:
        """All of them, the one that was started last first. Nobody waits for those that were read before."""
        found = [self._listed(name).status for name in campaign_ids(self.store)]
        return tuple(sorted(found, key=_began, reverse=True))

    def forget(self, campaign_id: str) -> None:
        """Something was done to the campaign: look again."""
        with self._locks[campaign_id]:
            self._snapshots.pop(campaign_id, None)

    def _listed(self, campaign_id: str) -> Snapshot:
        """What is known, if it is; where nothing runs and it is older than LISTED_S, it is read again meanwhile."""
        known = self._snapshots.get(campaign_id)
        if known is None or known.status.state == "running":
            return self.snapshot(campaign_id)
        if self._is_old(known, LISTED_S):
            self.reader.submit(self.snapshot, campaign_id)
        return known

    def _taken(self, campaign_id: str) -> Snapshot:
        definition = self.definition(campaign_id)
        status = campaign_status(self.store, campaign_id, definition, self.clock.now(), self.memory)
        digest = hashlib.sha256(status.model_dump_json().encode()).hexdigest()[:20]
        return Snapshot(status, f'"{digest}"', self.monotonic())

    def _is_old(self, snapshot: Snapshot, quiet_s: float) -> bool:
        allowed = LIVE_S if snapshot.status.state == "running" else quiet_s
        return self.monotonic() - snapshot.taken >= allowed


def library() -> Library:
    """The one of this process' store."""
    return _library_of(toolkit().store.url())


@lru_cache(maxsize=4)
def _library_of(_: str) -> Library:
    return Library(toolkit().store, toolkit().clock)


def _began(status: CampaignStatus) -> tuple[bool, str, str]:
    """Those that nobody has begun yet come first: they are the newest."""
    started = status.started_at
    return started is None, started.isoformat() if started else "", status.campaign_id
