"""Read a campaign's state from the store: every attempt in one listing, and unchangeable results only once."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from plimsoll.domain.cell import Attempt, AttemptKey, definitions_of
from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import NotFound
from plimsoll.domain.excerpts import excerpt
from plimsoll.domain.owner import owner_words
from plimsoll.domain.progress import AttemptProgress, CellStateName
from plimsoll.domain.result import Verdict
from plimsoll.domain.spelling import meant
from plimsoll.ports.owners import Owners, UnknownOwners
from plimsoll.ports.store import ResultStore
from plimsoll.services.campaign.remembered import FinalAttempt, Remembered
from plimsoll.services.cell.recording import failure_of
from plimsoll.services.ownership.holding import is_at_work
from plimsoll.services.steps.steps import declared_time
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import (
    CampaignStore,
    read_attempt,
    read_cancellation,
    read_progress,
    read_verdict,
)
from plimsoll.strategies.state import CampaignState, CellAttempts, JudgedAttempt, campaign_state, newest_valid

# Hosts end themselves an hour after the declared time of an attempt. After this time it can't be running any more.
_LOST_AFTER = timedelta(hours=2)


@dataclass(frozen=True)
class AttemptState:
    """One attempt: running, judged, or ended without a verdict (`ended` says why)."""

    key: AttemptKey
    attempt: Attempt | None = None
    progress: AttemptProgress | None = None
    verdict: Verdict | None = None
    ended: str = ""
    was_judged_again: bool = False
    """Whether an earlier verdict of it was kept."""

    @property
    def is_final(self) -> bool:
        """Whether only judging again can change the attempt: it is judged, and its phases are over."""
        return self.verdict is not None and self.progress is not None and self.progress.phase == "done"

    @property
    def is_running(self) -> bool:
        """Whether a process or run works on the attempt."""
        return self.verdict is None and not self.ended


@dataclass(frozen=True)
class CellState(CellAttempts[AttemptState]):
    """A cell as pages show it."""

    @property
    def state(self) -> CellStateName:
        """The state of the cell in one word."""
        if self.decided_by and not (self.newest and self.newest.is_running):
            return "not-needed"
        if self.shown is None:
            return "waiting"
        if self.shown.verdict is not None:
            return self.shown.verdict.outcome
        return "failed" if self.shown.ended else "running"

    @property
    def reason(self) -> str:
        """Why the cell is invalid or failed, with long lines shortened; empty otherwise."""
        shown = self.shown
        if self.decided_by and self.state == "not-needed":
            return f"{self.decided_by.cell_id} {self.decided_by.outcome}, which decided it"
        return "" if shown is None else excerpt("; ".join(shown.verdict.reasons) if shown.verdict else shown.ended)


@dataclass(frozen=True)
class Memory:
    """Data that a repeated reader of the state keeps between reads: final attempts, and who knows of owners.

    Nothing of a final attempt is overwritten except the results of judging, and the stamp of its verdict shows when
    that happened, or when an attempt of another campaign has the same key.
    """

    final: Remembered[AttemptState] = field(default_factory=Remembered)
    owners: Owners = field(default_factory=UnknownOwners)
    """Tells which owners of attempts are alive."""


def read_state(
    store: ResultStore, campaign_id: str, definition: Definition, now: datetime, memory: Memory
) -> CampaignState[CellState]:
    """The state of the campaign's cells and attempts, from all that the store holds."""
    attempts = _attempts(store, campaign_id, definition, now, memory)
    return campaign_state(definition, attempts, CellState)


def judged_state(campaign: CampaignStore, definition: Definition) -> CampaignState[CellAttempts[JudgedAttempt]]:
    """The state from verdicts alone, for callers that ask which cells are missing and not who works on them."""
    return campaign_state(definition, judged_attempts(campaign), CellAttempts[JudgedAttempt])


def judged_attempts(campaign: CampaignStore) -> Iterator[JudgedAttempt]:
    """Every attempt, with its verdict if it has one."""
    for cell_id in campaign.cells_with_attempts():
        for key in campaign.attempts(cell_id):
            yield JudgedAttempt(key, read_verdict(campaign.store, key))


def valid_verdict(campaign: CampaignStore, cell_id: str) -> Verdict | None:
    """The verdict of one cell that counts, found without reading other cells."""
    newest_first = reversed(campaign.attempts(cell_id))
    found = newest_valid(JudgedAttempt(key, read_verdict(campaign.store, key)) for key in newest_first)
    return found.verdict if found else None


def attempt_state(
    store: ResultStore, key: AttemptKey, definition: Definition, now: datetime, owners: Owners
) -> AttemptState:
    """The state of one attempt, read without any other."""
    prefix = f"{layout.attempt_prefix(key)}/"
    names = {name.removeprefix(prefix) for name in store.keys(layout.attempt_prefix(key))}
    return _unless_lost(store, _read(store, key, names), definition, now, owners)


def running_attempts(state: CampaignState[CellState]) -> tuple[AttemptState, ...]:
    """The attempts that a process or run works on."""
    return tuple(attempt for cell in state.cells for attempt in cell.attempts if attempt.is_running)


def _attempts(
    store: ResultStore, campaign_id: str, definition: Definition, now: datetime, memory: Memory
) -> list[AttemptState]:
    known = memory.final.of(campaign_id)
    final: dict[FinalAttempt, AttemptState] = {}
    states: list[AttemptState] = []
    for key, files in _files(store, campaign_id).items():
        state = known.get((key, files[layout.VERDICT])) if layout.VERDICT in files else None
        if state is None:
            state = _unless_lost(store, _read(store, key, files), definition, now, memory.owners)
        if state.is_final and layout.VERDICT in files:
            final[key, files[layout.VERDICT]] = state
        states.append(state)
    memory.final.replace(campaign_id, final)
    return states


def _files(store: ResultStore, campaign_id: str) -> Mapping[AttemptKey, Mapping[str, str]]:
    """The names of the files of each attempt, relative to its folder, and the stamp of its verdict."""
    prefix = layout.cells_prefix(campaign_id)
    found: defaultdict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for name, stamp in store.stamped(prefix, layout.VERDICT):
        parts = name[len(prefix) + 1 :].split("/", 2)
        if len(parts) == 3 and parts[1].isdigit():
            found[parts[0], parts[1]][parts[2]] = stamp
    return {
        AttemptKey(campaign_id=campaign_id, cell_id=cell_id, attempt=int(number)): files
        for (cell_id, number), files in found.items()
    }


def _read(store: ResultStore, key: AttemptKey, names: Collection[str]) -> AttemptState:
    # The verdict is read first, so that the other files are not older than it.
    verdict = read_verdict(store, key) if layout.VERDICT in names else None
    progress = read_progress(store, key) if layout.PROGRESS in names else None
    return AttemptState(
        key=key,
        attempt=read_attempt(store, key) if layout.ATTEMPT in names else None,
        progress=progress,
        verdict=verdict,
        ended="" if verdict else _ended(store, key, progress, names),
        was_judged_again=any(name.startswith(f"{layout.EARLIER_VERDICTS}/") for name in names),
    )


def _ended(store: ResultStore, key: AttemptKey, progress: AttemptProgress | None, names: Collection[str]) -> str:
    """Why an attempt will never be judged: it was cancelled, or its judging failed. Empty if it still runs."""
    if layout.CANCELLED in names:
        cancelled = read_cancellation(store, key)
        return f"cancelled by {cancelled.by}" if cancelled else ""
    if progress is not None and progress.phase == "judge":
        return failure_of(store, key) or ""
    return ""


def _unless_lost(
    store: ResultStore, state: AttemptState, definition: Definition, now: datetime, owners: Owners
) -> AttemptState:
    """The state, ended if the attempt was lost: its owner is gone, or it is older than any running attempt can be."""
    if not state.is_running or state.attempt is None:
        return state
    owner = state.attempt.owner
    if is_at_work(store, owners, state.key.campaign_id, owner, now) is False:
        return _ended_with_owner(store, state, owner)
    longest = max(map(declared_time, definitions_of(definition, state.key.cell_id)))
    if now < state.attempt.started_at + longest + _LOST_AFTER:
        return state
    return replace(state, ended="nobody works at it any more: its run was killed or ended by hand")


def _ended_with_owner(store: ResultStore, state: AttemptState, owner: str) -> AttemptState:
    # The verdict is read again, because the owner may have judged the attempt before it ended.
    verdict = read_verdict(store, state.key)
    if verdict is not None:
        return replace(state, verdict=verdict, progress=read_progress(store, state.key))
    why = failure_of(store, state.key) or "it had not finished"
    return replace(state, ended=f"{owner_words(owner)} has ended, and with it the attempt: {why}")


def require_cell_state(state: CampaignState[CellState], cell_id: str, campaign_id: str) -> CellState:
    """The state of that cell. Raises NotFound when the campaign has no such cell."""
    found = state.by_id.get(cell_id)
    if found is None:
        mend = f"{meant(cell_id, state.by_id)} its matrix shows the cells".strip()
        raise NotFound(f"has no cell {cell_id!r}", where=f"campaign {campaign_id!r}", mend=mend)
    return found
