"""Read a campaign's state from the store: every attempt in one listing, and unchangeable results only once, since a
reader keeps final attempts in memory.
"""

from collections import OrderedDict, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock
from typing import Generic, TypeVar

from plimsoll.domain.attempt.result import Verdict
from plimsoll.domain.attempt.status import CellStateName
from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.text.errors import NotFound
from plimsoll.domain.text.wording import excerpt, meant
from plimsoll.ports.controller import Owners, UnknownOwners
from plimsoll.ports.store import ResultStore
from plimsoll.services.cell.attempt_state import AttemptState, attempt_state_of
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.strategies.state import CampaignState, CellAttempts, JudgedAttempt, campaign_state, newest_valid

_S = TypeVar("_S")

FinalAttempt = tuple[AttemptKey, str]
"""A final attempt: its key, and the stamp of its verdict in the store, which no other verdict has."""
LIMIT = 12_000
"""The number of attempts of several campaigns that are remembered at most. Each takes about 50 kB of memory."""


class FinalAttempts(Generic[_S]):
    """States of final attempts by campaign, as the last read of the campaign found them.

    Beyond the limit, the campaigns that were read longest ago are forgotten. Threads may share it.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._of: OrderedDict[str, Mapping[FinalAttempt, _S]] = OrderedDict()
        self._changing = Lock()

    def __len__(self) -> int:
        return sum(map(len, self._of.values()))

    def of(self, campaign_id: str) -> Mapping[FinalAttempt, _S]:
        return self._of.get(campaign_id, {})

    def replace(self, campaign_id: str, found: Mapping[FinalAttempt, _S]) -> None:
        """Remember what the present read found, and nothing else of the campaign."""
        with self._changing:
            self._of[campaign_id] = found
            self._of.move_to_end(campaign_id)
            # The campaign that was just read stays, even if it alone has more attempts than the limit
            while len(self) > self._limit and len(self._of) > 1:
                self._of.popitem(last=False)

    def forget(self, campaign_id: str) -> None:
        with self._changing:
            self._of.pop(campaign_id, None)


@dataclass(frozen=True)
class CellState(CellAttempts[AttemptState]):
    """A cell as pages show it."""

    @property
    def state(self) -> CellStateName:
        if self.decided_by and not (self.newest and self.newest.is_running):
            return "not-needed"
        if self.shown is None:
            return "waiting"
        if self.shown.verdict is not None:
            return self.shown.verdict.outcome
        return "failed" if self.shown.ended else "running"

    @property
    def reason(self) -> str:
        """Explain why the cell is invalid or failed, with long lines shortened; empty otherwise."""
        shown = self.shown
        if self.decided_by and self.state == "not-needed":
            return f"{self.decided_by.cell_id} {self.decided_by.outcome}, which decided it"
        return "" if shown is None else excerpt("\n".join(shown.verdict.reasons) if shown.verdict else shown.ended)


@dataclass(frozen=True)
class Memory:
    """Data that a repeated reader of the state keeps between reads: final attempts, and who knows of owners.

    Nothing of a final attempt is overwritten except the results of judging, and the stamp of its verdict shows when
    that happened, or when an attempt of another campaign has the same key.
    """

    final: FinalAttempts[AttemptState] = field(default_factory=FinalAttempts)
    owners: Owners = field(default_factory=UnknownOwners)
    """Tells which owners of attempts are alive."""


def read_state(
    store: ResultStore, campaign_id: str, campaign: Campaign, now: datetime, memory: Memory
) -> CampaignState[CellState]:
    """Return the state of the campaign's cells and attempts, from all that the store holds."""
    attempts = _attempts(store, campaign_id, campaign, now, memory)
    return campaign_state(campaign, attempts, CellState)


def judged_state(campaign: CampaignStore, resolved: Campaign) -> CampaignState[CellAttempts[JudgedAttempt]]:
    """Return the state from verdicts alone, for callers that ask which cells are missing and not who works on them."""
    attempts = (JudgedAttempt(key, layout.VERDICT.read(campaign.store, key)) for key in campaign.all_attempts())
    return campaign_state(resolved, attempts, CellAttempts[JudgedAttempt])


def valid_verdict(campaign: CampaignStore, cell_id: str) -> Verdict | None:
    """Return the verdict of one cell that counts, found without reading other cells."""
    newest_first = reversed(campaign.attempts(cell_id))
    newest = newest_valid(JudgedAttempt(key, layout.VERDICT.read(campaign.store, key)) for key in newest_first)
    return newest.verdict if newest else None


def running_attempts(state: CampaignState[CellState]) -> tuple[AttemptState, ...]:
    return tuple(attempt for cell in state.cells for attempt in cell.attempts if attempt.is_running)


def _attempts(
    store: ResultStore, campaign_id: str, campaign: Campaign, now: datetime, memory: Memory
) -> list[AttemptState]:
    known = memory.final.of(campaign_id)
    final: dict[FinalAttempt, AttemptState] = {}
    states: list[AttemptState] = []
    for key, files in _files(store, campaign_id).items():
        state = known.get((key, files[layout.VERDICT.path])) if layout.VERDICT.path in files else None
        if state is None:
            state = attempt_state_of(store, key, files, campaign, now, memory.owners)
        if state.is_final and layout.VERDICT.path in files:
            final[key, files[layout.VERDICT.path]] = state
        states.append(state)
    memory.final.replace(campaign_id, final)
    return states


def _files(store: ResultStore, campaign_id: str) -> Mapping[AttemptKey, Mapping[str, str]]:
    """Return the names of the files of each attempt, relative to its folder, and the stamp of its verdict."""
    prefix = layout.ATTEMPTS.folder(campaign_id)
    files_of: defaultdict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for name, stamp in store.stamped(prefix, layout.VERDICT.path):
        parts = name[len(prefix) + 1 :].split("/", 2)
        if len(parts) == 3 and parts[1].isdigit():
            files_of[parts[0], parts[1]][parts[2]] = stamp
    return {
        AttemptKey(campaign_id=campaign_id, cell_id=cell_id, attempt=int(number)): files
        for (cell_id, number), files in files_of.items()
    }


def require_cell_state(state: CampaignState[CellState], cell_id: str, campaign_id: str) -> CellState:
    """Return the state of that cell. Raises NotFound when the campaign has no such cell."""
    cell = state.by_id.get(cell_id)
    if cell is None:
        mend = f"{meant(cell_id, state.by_id)} its matrix shows the cells".strip()
        raise NotFound(f"has no cell {cell_id!r}", where=f"campaign {campaign_id!r}", mend=mend)
    return cell
