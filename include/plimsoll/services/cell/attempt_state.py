"""The state of an attempt: running, judged, or ended without a verdict; and the records of it that steps write: its
phase, the reason of its failure, who cancelled it.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime

from plimsoll.domain.attempt.result import Verdict
from plimsoll.domain.attempt.status import AttemptProgress, Phase
from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.campaign.cell import Attempt, AttemptKey, Cancellation
from plimsoll.domain.campaign.grid import parts_of
from plimsoll.domain.hosts.owner import owner_words
from plimsoll.domain.text.errors import OF_HOSTS, NotFound, reason_of
from plimsoll.ports.controller import Owners
from plimsoll.ports.store import ReadableStore, ResultStore
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.ownership import LOST_AFTER, is_at_work
from plimsoll.services.store import layout
from plimsoll.services.store.layout import folder_of
from plimsoll.services.toolkit import Toolkit


@dataclass(frozen=True)
class AttemptState:
    """One attempt: running, judged, or ended without a verdict (`ended` says why)."""

    key: AttemptKey
    attempt: Attempt | None = None
    progress: AttemptProgress | None = None
    verdict: Verdict | None = None
    ended: str = ""
    was_judged_again: bool = False
    """Whether an earlier verdict of the attempt was kept."""

    @property
    def is_final(self) -> bool:
        """Tell whether only judging again can change the attempt: it is judged, and its phases are over."""
        return self.verdict is not None and self.progress is not None and self.progress.phase == "done"

    @property
    def is_running(self) -> bool:
        """Tell whether a process or run works on the attempt."""
        return self.verdict is None and not self.ended


def attempt_state(toolkit: Toolkit, key: AttemptKey, campaign: Campaign) -> AttemptState:
    """Return the state of one attempt, read without any other."""
    store, folder = toolkit.store, folder_of(key)
    names = {name.removeprefix(f"{folder}/") for name in store.keys(folder)}
    return attempt_state_of(store, key, names, campaign, toolkit.clock.now(), toolkit.owners)


def attempt_state_of(  # noqa: PLR0913, PLR0917  # the names of the files are known to callers that list many attempts
    store: ResultStore,
    key: AttemptKey,
    names: Collection[str],
    campaign: Campaign,
    now: datetime,
    owners: Owners,
) -> AttemptState:
    """Return the state of an attempt whose files have these names, relative to its folder.

    It has ended if the attempt was lost: its owner is gone, or it is older than any running attempt can be.
    """
    state = _read(store, key, names)
    if not state.is_running or state.attempt is None:
        return state
    owner = state.attempt.owner
    # Where nobody here can tell (None), the attempt's time decides, below
    if is_at_work(store, owners, key.campaign_id, owner, now) is False:
        # The verdict is read again, because the owner may have judged the attempt before it ended.
        verdict = layout.VERDICT.read(store, key)
        if verdict is not None:
            return replace(state, verdict=verdict, progress=layout.PROGRESS.read(store, key))
        why = failure_of(store, key) or "it had not finished"
        return replace(state, ended=f"{owner_words(owner)} has ended, and with it the attempt: {why}")
    longest = max(part.declared_time for part in parts_of(campaign, key.cell_id))
    if now < state.attempt.started_at + longest + LOST_AFTER:
        return state
    return replace(state, ended="nobody works at it any more: its run was killed or ended by hand")


def _read(store: ResultStore, key: AttemptKey, names: Collection[str]) -> AttemptState:
    # The verdict is read first, so that the other files are not older than it.
    verdict = layout.VERDICT.read(store, key) if layout.VERDICT.path in names else None
    progress = layout.PROGRESS.read(store, key) if layout.PROGRESS.path in names else None
    return AttemptState(
        key=key,
        attempt=layout.ATTEMPT.read(store, key) if layout.ATTEMPT.path in names else None,
        progress=progress,
        verdict=verdict,
        ended="" if verdict else _ended(store, key, progress, names),
        was_judged_again=any(name.startswith("verdicts/") for name in names),
    )


def _ended(store: ResultStore, key: AttemptKey, progress: AttemptProgress | None, names: Collection[str]) -> str:
    """Explain why an attempt will never be judged: it was cancelled, or its judging failed. Empty if it still runs."""
    if layout.CANCELLED.path in names:
        cancelled = layout.CANCELLED.read(store, key)
        return f"cancelled by {cancelled.by}" if cancelled else ""
    if progress is not None and progress.phase == "judge":
        return failure_of(store, key) or ""
    return ""


def note_phase(toolkit: Toolkit, key: AttemptKey, phase: Phase, **facts: object) -> None:
    """Record that the attempt is now in that phase. The recorded start of a phase is never overwritten."""
    before = layout.PROGRESS.read(toolkit.store, key)
    now = toolkit.clock.now()
    began = {} if before is None else before.phases
    progress = AttemptProgress.model_validate(
        {"phase": phase, "at": now, "phases": {**began, phase: began.get(phase, now)}, **facts}
    )
    layout.PROGRESS.write(toolkit.store, key, progress)


@contextmanager
def failures_recorded(work: AttemptContext, step: str) -> Iterator[None]:
    """Record the first failure inside the block, with the step that failed, for `collect` to find.

    A host that does not answer may be gone: the provider's words on that are recorded too.
    """
    try:
        yield
    except Exception as error:
        why = reason_of(error)
        if isinstance(error, OF_HOSTS) and (gone := work.why_gone()):
            why = f"{error.headline}\n  Hosts are gone{gone}"  # without advice on how to reach them
        record_failure(work, f"{step}: {why}")
        raise


def record_failure(work: AttemptContext, reason: str) -> None:
    """Record a failure. The first reason is kept, because later failures follow from it."""
    work.store.create(layout.FAILURE.key(work.key), reason.encode())


def failure_of(store: ReadableStore, key: AttemptKey) -> str | None:
    """Explain why the attempt failed; None where no failure was recorded."""
    try:
        return store.read(layout.FAILURE.key(key)).decode(errors="replace")
    except NotFound:
        return None


def cancel(work: AttemptContext, by: str) -> None:
    """Record that somebody cancelled the attempt; the caller ends its processes. A judged attempt is left unchanged."""
    cancelled = Cancellation(by=by, at=work.toolkit.clock.now())
    if layout.CANCELLED.create(work.store, work.key, cancelled):
        record_failure(work, f"cancelled by {by}")
