"""Records that steps write about their attempt: its phase, the reason of its failure, who cancelled it."""

from collections.abc import Iterator
from contextlib import contextmanager

from plimsoll.domain.cell import AttemptKey, Cancellation
from plimsoll.domain.errors import OF_HOSTS, NotFound, reason_of
from plimsoll.domain.progress import AttemptProgress, Phase
from plimsoll.ports.clock import Clock
from plimsoll.ports.store import ReadableStore, ResultStore
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import read_progress, write_model


def note_phase(store: ResultStore, clock: Clock, key: AttemptKey, phase: Phase, **facts: object) -> None:
    """Record that the attempt is now in that phase. The recorded start of a phase is never overwritten."""
    before = read_progress(store, key)
    now = clock.now()
    began = {} if before is None else before.phases
    progress = AttemptProgress.model_validate(
        {"phase": phase, "at": now, "phases": {**began, phase: began.get(phase, now)}, **facts}
    )
    write_model(store, key, layout.PROGRESS, progress)


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
    work.toolkit.store.create(layout.attempt_file(work.key, layout.FAILURE), reason.encode())


def failure_of(store: ReadableStore, key: AttemptKey) -> str | None:
    """Explain why the attempt failed; None where no failure was recorded."""
    try:
        return store.read(layout.attempt_file(key, layout.FAILURE)).decode()
    except NotFound:
        return None


def cancel(work: AttemptContext, by: str) -> None:
    """Record that somebody cancelled the attempt; the caller ends its processes. A judged attempt is left unchanged."""
    cancelled = Cancellation(by=by, at=work.toolkit.clock.now())
    name = layout.attempt_file(work.key, layout.CANCELLED)
    if work.toolkit.store.create(name, cancelled.model_dump_json(indent=1).encode()):
        record_failure(work, f"cancelled by {by}")
