"""Data of the store, read once for all users: definitions, statuses, and results that can't change any more."""

import hashlib
import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Hashable
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

from plimsoll.domain.attempt.status import CampaignStatus, CampaignSummary
from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.text.errors import DamagedRecord, DefinitionError, NotFound
from plimsoll.ports.controller import Clock
from plimsoll.ports.store import ResultStore
from plimsoll.services.campaign.show.status import campaign_status, campaign_summary, summary_of
from plimsoll.services.campaign.state.reading import Memory
from plimsoll.services.hosts.at_rest import marks
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.store.listing import campaign_folders
from plimsoll_airflow.wiring.core import toolkit

LIVE_S = 2.0
"""The greatest age of the status of a campaign that runs, s."""
QUIET_S = 5.0
"""The greatest age of the status of a campaign of which nothing runs, s."""
LISTED_S = 60.0
"""The greatest age of a status in the list of all campaigns, before it is read again, s."""
FINAL_S = 600.0
"""The same of a campaign that is complete, has its report, and in which nothing was begun since, s."""
FIRST_READERS = 8
"""The number of campaigns read at once that nobody asked for yet: a store on another machine is slow."""

_T = TypeVar("_T")
_S = TypeVar("_S", bound=CampaignSummary)
_log = logging.getLogger("plimsoll")


@dataclass(frozen=True)
class Snapshot:
    """A campaign's status, and a name that identifies exactly this content."""

    status: CampaignStatus
    etag: str
    taken: float
    _made: dict[Hashable, Any] = field(default_factory=dict, compare=False, repr=False)
    _making: threading.RLock = field(default_factory=threading.RLock, compare=False, repr=False)

    def once(self, name: Hashable, make: Callable[[], _T]) -> _T:
        """Return the result of `make` for this content, made once for all viewers who ask for it by that name."""
        with self._making:
            if name not in self._made:
                self._made[name] = make()
            result: _T = self._made[name]
            return result


@dataclass(frozen=True)
class Line:
    """A campaign in the list of all."""

    summary: CampaignSummary
    taken: float
    rest: str = ""
    """The mark by which the campaign was at rest then; empty where it was not. Whatever begins in it removes that."""


@dataclass
class Library:
    """Reads of one store, shared by all requests. Of several equal requests at once, only one reads."""

    store: ResultStore
    clock: Clock
    monotonic: Callable[[], float] = time.monotonic
    memory: Memory = field(default_factory=Memory)
    waits_for: Callable[[Campaign, str, bool], str] = lambda _campaign, _id, _runs: ""
    """What the living runs of a campaign wait for, given whether its cells are under way; empty where none waits."""
    reader: Executor = field(default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="plimsoll-library"))
    _snapshots: dict[str, Snapshot] = field(default_factory=dict)
    _lines: dict[str, Line] = field(default_factory=dict)
    _resting: dict[str, str] = field(default_factory=dict)
    _to_be_read: set[str] = field(default_factory=set)
    _locks: defaultdict[str, threading.Lock] = field(default_factory=lambda: defaultdict(threading.Lock))

    def resolved(self, campaign_id: str) -> Campaign:
        """Return the campaign, with its stages' loads. Raises NotFound."""
        return CampaignStore(self.store, campaign_id).resolved()

    def snapshot(self, campaign_id: str) -> Snapshot:
        """Return the campaign's status, at most a few seconds old."""
        with self._locks[campaign_id]:
            known = self._snapshots.get(campaign_id)
            if known is None or self._is_old(known.status, known.taken, QUIET_S):
                campaign = self.resolved(campaign_id)
                status = campaign_status(self.store, campaign_id, campaign, self.clock.now(), self.memory)
                status = self._with_waiting(campaign, status)
                digest = hashlib.sha256(status.model_dump_json().encode()).hexdigest()[:20]
                known = self._snapshots[campaign_id] = Snapshot(status, f'"{digest}"', self.monotonic())
                self._lines[campaign_id] = Line(summary_of(known.status), known.taken)
            return known

    def campaigns(self) -> tuple[CampaignSummary, ...]:
        """Return all campaigns, the one that began last first. Campaigns that were read before cause no wait."""
        names, self._resting = campaign_folders(self.store), marks(self.store)
        for gone in set(self._lines) - set(names):
            self.forget_deleted(gone)
        unread = [name for name in names if name not in self._lines]
        if unread:
            with ThreadPoolExecutor(FIRST_READERS) as pool:
                list(pool.map(self._line_if_there, unread))
        lines = [line for name in names if (line := self._line_if_there(name))]
        return tuple(sorted(lines, key=_began, reverse=True))

    def forget(self, campaign_id: str) -> None:
        """Read the campaign again at the next request, because it was changed.

        Final attempts are not read again: their verdicts' stamps show whether they have changed.
        """
        with self._locks[campaign_id]:
            self._snapshots.pop(campaign_id, None)
            self._lines.pop(campaign_id, None)

    def forget_deleted(self, campaign_id: str) -> None:
        """Remember nothing of the campaign, because it is deleted. Another one may get its id."""
        self.forget(campaign_id)
        self.memory.final.forget(campaign_id)

    def _line_if_there(self, campaign_id: str) -> CampaignSummary | None:
        """Return the campaign's line; None if it is just being deleted, or can't be read, as its own page tells."""
        try:
            return self._listed(campaign_id)
        except NotFound:
            return None
        except (DamagedRecord, DefinitionError) as error:
            _log.error("left out of the list of campaigns: %s", error)
            return None

    def _listed(self, campaign_id: str) -> CampaignSummary:
        """Return the known line if it is recent. An idle campaign's old line too, read again meanwhile."""
        known = self._lines.get(campaign_id)
        if known is None:
            return self._read_line(campaign_id)
        rests = known.rest and known.rest == self._resting.get(campaign_id)
        is_final = rests and known.summary.state == "complete" and known.summary.published
        if not self._is_old(known.summary, known.taken, FINAL_S if is_final else LISTED_S):
            return known.summary
        if known.summary.state == "running" or known.summary.waits_for:
            return self._read_line(campaign_id)
        if campaign_id not in self._to_be_read:  # others may ask before the reader has come to it
            self._to_be_read.add(campaign_id)
            self.reader.submit(self._read_later, campaign_id)
        return known.summary

    def _read_later(self, campaign_id: str) -> None:
        self._to_be_read.discard(campaign_id)
        try:
            self._read_line(campaign_id)
        except (NotFound, DamagedRecord, DefinitionError):  # who asks for the list next finds why
            self.forget(campaign_id)

    def _read_line(self, campaign_id: str) -> CampaignSummary:
        with self._locks[campaign_id]:
            known = self._lines.get(campaign_id)
            if known is None or self._is_old(known.summary, known.taken, QUIET_S):
                campaign, now = self.resolved(campaign_id), self.clock.now()
                summary = campaign_summary(self.store, campaign_id, campaign, now, self.memory)
                if summary.state != "complete":  # there may be hundreds of these
                    summary = self._with_waiting(campaign, summary)
                rest = self._resting.get(campaign_id, "")
                known = self._lines[campaign_id] = Line(summary, self.monotonic(), rest)
            return known.summary

    def _with_waiting(self, campaign: Campaign, status: _S) -> _S:
        return status.waiting_for(self.waits_for(campaign, status.campaign_id, status.state == "running"))

    def _is_old(self, summary: CampaignSummary, taken: float, quiet_s: float) -> bool:
        allowed = LIVE_S if summary.state == "running" or summary.waits_for else quiet_s
        return self.monotonic() - taken >= allowed


def library() -> Library:
    return _library_of(toolkit().store.url())


@lru_cache(maxsize=4)
def _library_of(_: str) -> Library:
    # Late: tests read stores without a database of Airflow's.
    from plimsoll_airflow.web.under_way import RunsAndProcesses, waits_for

    tools = toolkit()
    memory = Memory(owners=RunsAndProcesses(tools.owners))
    return Library(tools.store, tools.clock, memory=memory, waits_for=waits_for)


def _began(summary: CampaignSummary) -> tuple[bool, str, str]:
    """Return a sort key by which campaigns that have not begun, and so are the newest, come first."""
    started = summary.started_at
    return started is None, started.isoformat() if started else "", summary.campaign_id
