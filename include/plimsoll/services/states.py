"""What the store says of every attempt of a campaign, read in one listing; what can't change any more is read once."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from plimsoll.domain.cell import Attempt, AttemptKey, Cell
from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import NotFound
from plimsoll.domain.excerpts import excerpt
from plimsoll.domain.owner import owner_words
from plimsoll.domain.progress import AttemptProgress, CellStateName
from plimsoll.domain.result import ValidOutcome, Verdict
from plimsoll.ports.owners import Owners, UnknownOwners
from plimsoll.ports.store import ResultStore
from plimsoll.services import layout
from plimsoll.services.attempts import failure_of
from plimsoll.services.campaign.holding import is_at_work
from plimsoll.services.campaigns import read_attempt, read_cancellation, read_progress, read_verdict
from plimsoll.strategies.decision import StrategyOfCampaign
from plimsoll.strategies.matrix import running_order

# Hosts end themselves an hour after their load should have: after this time nobody works at an attempt any more.
_LOST_AFTER = timedelta(hours=2)


@dataclass(frozen=True)
class AttemptState:
    """One attempt: begun, perhaps judged, perhaps ended without judgement (`ended` says why)."""

    key: AttemptKey
    attempt: Attempt | None = None
    progress: AttemptProgress | None = None
    verdict: Verdict | None = None
    ended: str = ""
    earlier_verdicts: int = 0
    """How often it was judged again."""

    @property
    def is_final(self) -> bool:
        """Whether nothing of it will change unless it is judged again: it is judged, and its phases are over."""
        return self.verdict is not None and self.progress is not None and self.progress.phase == "done"

    @property
    def is_running(self) -> bool:
        """Whether somebody works at it."""
        return self.verdict is None and not self.ended


@dataclass(frozen=True)
class CellState:
    """A cell with its attempts, oldest first, and what the campaign's strategy says of it."""

    cell: Cell
    attempts: tuple[AttemptState, ...]
    decided_by: str = ""
    """Of a cell without a valid attempt that a search need not run: the cell whose outcome says so."""
    is_next: bool = True
    """Whether the strategy asks for the cell now."""

    @property
    def newest(self) -> AttemptState | None:
        """The attempt that was started last."""
        return self.attempts[-1] if self.attempts else None

    @property
    def valid(self) -> AttemptState | None:
        """The newest valid attempt: the one that counts."""
        return next((one for one in reversed(self.attempts) if one.verdict and one.verdict.valid), None)

    @property
    def shown(self) -> AttemptState | None:
        """The one that counts, else the newest."""
        return self.valid or self.newest

    @property
    def valid_outcome(self) -> ValidOutcome | None:
        """The outcome of the attempt that counts."""
        return self.valid.verdict.valid_outcome if self.valid and self.valid.verdict else None

    @property
    def is_settled(self) -> bool:
        """Whether the campaign needs nothing more of it: it is valid, or need not run."""
        return self.valid is not None or bool(self.decided_by)

    @property
    def state(self) -> CellStateName:
        """The cell's one-word answer."""
        if self.decided_by and not (self.newest and self.newest.is_running):
            return "not-needed"
        if self.shown is None:
            return "waiting"
        if self.shown.verdict is not None:
            return self.shown.verdict.outcome
        return "failed" if self.shown.ended else "running"

    @property
    def reason(self) -> str:
        """Why it is invalid or failed, with long lines shortened; empty otherwise."""
        shown = self.shown
        if self.state == "not-needed":
            return f"{self.decided_by} decided it"
        return "" if shown is None else excerpt("; ".join(shown.verdict.reasons) if shown.verdict else shown.ended)


@dataclass(frozen=True)
class Memory:
    """What whoever asks again and again brings along: attempts that are final, by key, and who knows of owners.

    Nothing of a final attempt is ever overwritten but the results of judging, of which earlier verdicts tell.
    """

    final: dict[AttemptKey, AttemptState] = field(default_factory=dict)
    owners: Owners = field(default_factory=UnknownOwners)
    """Which of those who work at attempts are alive."""


def cell_states(
    store: ResultStore, campaign_id: str, definition: Definition, now: datetime, memory: Memory
) -> tuple[CellState, ...]:
    """Every cell in running order."""
    attempts = _attempts(store, campaign_id, definition, now, memory)
    return _decided(definition, [CellState(cell, attempts.get(cell.id, ())) for cell in running_order(definition)])


def _decided(definition: Definition, states: Sequence[CellState]) -> tuple[CellState, ...]:
    """The same with what the definition's strategy says of each."""
    outcomes = {one.cell.id: outcome for one in states if (outcome := one.valid_outcome)}
    decision = StrategyOfCampaign(definition).next(outcomes)
    run, not_needed = set(decision.run), decision.not_needed
    return tuple(replace(one, decided_by=not_needed.get(one.cell.id, ""), is_next=one.cell.id in run) for one in states)


def _attempts(
    store: ResultStore, campaign_id: str, definition: Definition, now: datetime, memory: Memory
) -> Mapping[str, tuple[AttemptState, ...]]:
    found: defaultdict[str, list[AttemptState]] = defaultdict(list)
    for key, names in sorted(_files(store, campaign_id).items(), key=lambda item: item[0].attempt):
        # One that was deleted, with its whole campaign perhaps, and made anew has no verdict at first.
        state = memory.final.get(key) if layout.VERDICT in names else None
        if state is None or state.earlier_verdicts != _earlier_verdicts(names):
            state = _unless_lost(store, _read(store, key, names), definition, now, memory.owners)
            _remember(memory, state)
        found[key.cell_id].append(state)
    return {cell_id: tuple(states) for cell_id, states in found.items()}


def _files(store: ResultStore, campaign_id: str) -> Mapping[AttemptKey, set[str]]:
    """Names of the files in each attempt's folder, from there."""
    prefix = layout.cells_prefix(campaign_id)
    found: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for cell_id, number, name in _places(store, prefix):
        found[cell_id, number].add(name)
    return {
        AttemptKey(campaign_id=campaign_id, cell_id=cell_id, attempt=int(number)): names
        for (cell_id, number), names in found.items()
    }


def _places(store: ResultStore, prefix: str) -> Iterator[tuple[str, str, str]]:
    for name in store.keys(prefix):
        parts = name[len(prefix) + 1 :].split("/", 2)
        if len(parts) == 3 and parts[1].isdigit():
            yield parts[0], parts[1], parts[2]


def _read(store: ResultStore, key: AttemptKey, names: set[str]) -> AttemptState:
    # The verdict first: what is read after it is as new as it.
    verdict = read_verdict(store, key) if layout.VERDICT in names else None
    progress = read_progress(store, key) if layout.PROGRESS in names else None
    return AttemptState(
        key=key,
        attempt=read_attempt(store, key) if layout.ATTEMPT in names else None,
        progress=progress,
        verdict=verdict,
        ended="" if verdict else _ended(store, key, progress, names),
        earlier_verdicts=_earlier_verdicts(names),
    )


def _earlier_verdicts(names: set[str]) -> int:
    return sum(name.startswith(f"{layout.EARLIER_VERDICTS}/") for name in names)


def _ended(store: ResultStore, key: AttemptKey, progress: AttemptProgress | None, names: set[str]) -> str:
    """Why an attempt will never be judged: it was cancelled, or its judging failed. Else it still runs."""
    if layout.CANCELLED in names:
        cancelled = read_cancellation(store, key)
        return f"cancelled by {cancelled.by}" if cancelled else ""
    if progress is not None and progress.phase == "judge":
        return failure_of(store, key) or ""
    return ""


def _unless_lost(
    store: ResultStore, state: AttemptState, definition: Definition, now: datetime, owners: Owners
) -> AttemptState:
    """The state, ended if nobody works at the attempt: its owner is gone, or it is older than any can be."""
    if not state.is_running or state.attempt is None:
        return state
    owner = state.attempt.owner
    if is_at_work(store, owners, state.key.campaign_id, owner, now) is False:
        return _ended_with_owner(store, state, owner)
    if now < state.attempt.started_at + definition.timing.duration + _LOST_AFTER:
        return state
    return replace(state, ended="nobody works at it any more: its run was killed or ended by hand")


def _ended_with_owner(store: ResultStore, state: AttemptState, owner: str) -> AttemptState:
    # Read again: the owner may have judged it since, and ended then.
    verdict = read_verdict(store, state.key)
    if verdict is not None:
        return replace(state, verdict=verdict, progress=read_progress(store, state.key))
    why = failure_of(store, state.key) or "it had not finished"
    return replace(state, ended=f"{owner_words(owner)} has ended, and with it the attempt: {why}")


def _remember(memory: Memory, state: AttemptState) -> None:
    if state.is_final:
        memory.final[state.key] = state


def require_state(states: tuple[CellState, ...], cell_id: str, campaign_id: str) -> CellState:
    """The state of that cell; NotFound when the campaign has no such cell."""
    for state in states:
        if state.cell.id == cell_id:
            return state
    raise NotFound(f"has no cell {cell_id!r}", where=f"campaign {campaign_id!r}", mend="its matrix shows the cells")
