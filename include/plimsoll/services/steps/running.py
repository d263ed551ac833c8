"""Run cells of a campaign in this process, one after another: the steps of a cell without Airflow."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial

from plimsoll.domain.attempt.result import Verdict
from plimsoll.domain.text.errors import PlimsollError, ProviderError, reason_of
from plimsoll.ports.controller import Log
from plimsoll.ports.load_generator import LoadStatus
from plimsoll.services.cell.attempt_state import cancel, failures_recorded, record_failure
from plimsoll.services.cell.attempts import begin, money_line, runs_again
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.hosts.kept_hosts import end_kept
from plimsoll.services.retries import PASSING, PASSING_WHILE_KEEPING, SOON_S, with_retries
from plimsoll.services.steps.steps import LoadPoller, Polling, Step, steps_of
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.toolkit import Toolkit

_FIGURES_EVERY = timedelta(seconds=5)
_OF_CLEAN_UP = (*PASSING, ProviderError)


@dataclass(frozen=True)
class CellRunEnd:
    """The outcome of running a cell. `troubles` are problems besides the measurement, each with its reason."""

    work: AttemptContext
    verdict: Verdict | None
    troubles: tuple[str, ...] = ()
    remains: bool = False
    """Whether the attempt's cluster could not be destroyed."""


def run_cells(
    toolkit: Toolkit, campaign_id: str, cell_ids: Iterable[str], owner: str, log: Log
) -> tuple[CellRunEnd, ...]:
    """Run one attempt at each cell. Each cell is taken from `cells` when the one before it is over.

    A failed attempt is recorded, and the next cell follows. A cell that noise disturbed runs again at once, as often as
    its definition lets it; the result has every attempt. But if an attempt can't be begun, the run ends with that
    error. At the end, also after an error or Ctrl-C, clusters that could not be destroyed are tried again, and then
    hosts that were kept for the campaign are destroyed: they cost money as long as they live.
    """
    ran: list[CellRunEnd] = []
    try:
        try:
            for cell_id in cell_ids:
                for end in _tries(toolkit, campaign_id, cell_id, owner, log):
                    ran.append(end)
        finally:
            ran = [_without_remains(end, log) for end in ran]
    finally:
        troubles = _end_kept(toolkit, campaign_id, log)
    if troubles and ran:
        ran[-1] = replace(ran[-1], remains=True, troubles=(*ran[-1].troubles, *troubles))
    return tuple(ran)


def _tries(toolkit: Toolkit, campaign_id: str, cell_id: str, owner: str, log: Log) -> Iterator[CellRunEnd]:
    campaign = CampaignStore(toolkit.store, campaign_id)
    yield (ran := _run(toolkit, campaign_id, cell_id, owner, log))
    while ran.verdict is not None and with_retries(toolkit.clock, lambda: runs_again(campaign, cell_id), log):
        log(f"{cell_id}: noise disturbed it, so it runs again")
        yield (ran := _run(toolkit, campaign_id, cell_id, owner, log))


def _run(toolkit: Toolkit, campaign_id: str, cell_id: str, owner: str, log: Log) -> CellRunEnd:
    work = with_retries(toolkit.clock, lambda: begin(toolkit, campaign_id, cell_id, owner), log)
    log(f"{work.key}: begun")
    try:
        return _attempted(work, log)
    except KeyboardInterrupt:
        log(
            f"{work.key}: ending it, and destroying its cluster. Press Ctrl-C again to leave the cluster alive: "
            f"`plimsoll clusters destroy {work.key}` destroys it then"
        )
        with suppress(PlimsollError):  # this process ends, and so the attempt is known to be over
            cancel(work, "a signal, such as Ctrl-C")
        _cleaned_up(work, log)
        raise


def _attempted(work: AttemptContext, log: Log) -> CellRunEnd:
    try:
        for step in steps_of("measure"):
            _measure(work, step, log)
    except Exception as error:  # what is kept and judged next tells it
        reason = reason_of(error)
        log(f"{work.key}: {reason}")
        # On record already, unless the store was away just then.
        with suppress(PlimsollError):
            with_retries(work.toolkit.clock, lambda: record_failure(work, reason), log)
    unkept = _all_of(work, steps_of("keep"), log)
    # Before judging, which needs the store alone, while hosts cost money
    remains = _cleaned_up(work, log)
    verdict, unjudged = (None, ()) if unkept else _judged(work, log)  # Without a manifest there is nothing to judge
    if money := money_line(work):
        log(f"{work.key}: {money}")
    return CellRunEnd(work, verdict, (*unkept, *remains, *unjudged), remains=bool(remains))


def _judged(work: AttemptContext, log: Log) -> tuple[Verdict | None, tuple[str, ...]]:
    """Return the verdict, which is also shown, or the reason why there is none."""
    if unjudged := _all_of(work, steps_of("judge"), log):
        return None, unjudged
    try:
        verdict = with_retries(work.toolkit.clock, lambda: layout.VERDICT.read(work.store, work.key), log)
    except PlimsollError as error:
        log(f"{work.key}: its verdict could not be read: {error}")
        return None, (f"{work.key}: its verdict could not be read: {error}",)
    if verdict is not None:
        log(f"{work.key}: {verdict.outcome} {'; '.join(filter(None, [*verdict.reasons, verdict.stopped]))}")
    return verdict, ()


def _measure(work: AttemptContext, step: Step, log: Log) -> None:
    """Run the step, and wait for the end of what it starts. Raises the error of the step."""
    log(f"{work.key}: {step.name}")
    with failures_recorded(work, step.name):
        with_retries(work.toolkit.clock, partial(step.run, work), log)
    if step.polling is not None:
        _follow(work, step.polling, log)


def _follow(work: AttemptContext, polling: Polling, log: Log) -> None:
    poller, pause_s, lines = LoadPoller(work, polling), polling.pause_s(work.part), _ProgressLines(work, log)
    while isinstance(status := poller.look(), str) or status.state == "running":
        lines.show(status)
        work.toolkit.clock.sleep(pause_s)
    polling.require(work, status)


class _ProgressLines:
    """The lines about a load's progress: another phase at once, other figures every _FIGURES_EVERY."""

    def __init__(self, work: AttemptContext, log: Log) -> None:
        self._work, self._log = work, log
        self._phase, self._line, self._at = "", "", datetime.min.replace(tzinfo=UTC)

    def show(self, status: LoadStatus | str) -> None:
        phase, line = (status, status) if isinstance(status, str) else (status.phase + status.note, _progress(status))
        now = self._work.toolkit.clock.now()
        if line != self._line and (phase != self._phase or now - self._at >= _FIGURES_EVERY):
            self._log(f"{self._work.key}: {line}")
            self._phase, self._line, self._at = phase, line, now


def _all_of(work: AttemptContext, steps: Iterable[Step], log: Log) -> tuple[str, ...]:
    """Run the steps until one fails. Returns its reason, which is also shown and recorded."""
    for step in steps:
        try:
            with failures_recorded(work, step.name):
                with_retries(work.toolkit.clock, partial(step.run, work), log, again=PASSING_WHILE_KEEPING)
        except Exception as error:
            log(f"{work.key}: {step.name} failed: {error}")
            return (f"{work.key}: {step.name}: {error}",)
    return ()


def _cleaned_up(work: AttemptContext, log: Log) -> tuple[str, ...]:
    """Destroy the cluster. Returns the reason if something remains; the reason is shown and on record until then."""
    remaining = layout.UNDESTROYED.key(work.key)
    for step in steps_of("clean-up"):
        try:
            # Not for long: what resists is tried again at the end of the run, and then by the reaper
            with_retries(work.toolkit.clock, partial(step.run, work), log, again=_OF_CLEAN_UP, pauses_s=SOON_S)
        except Exception as error:
            log(f"{work.key}: its cluster could not be destroyed: {error}")
            with suppress(PlimsollError):
                work.store.write(remaining, str(error).encode())
            return (f"{work.key}: {step.name}: {error}",)
    with suppress(PlimsollError):
        work.store.delete(remaining)
    return ()


def _without_remains(ran: CellRunEnd, log: Log) -> CellRunEnd:
    """Return the outcome after another try to destroy what remained."""
    if not ran.remains:
        return ran
    log(f"{ran.work.key}: destroying its cluster, which resisted before")
    troubles = _cleaned_up(ran.work, log)
    return replace(ran, remains=bool(troubles), troubles=(*ran.troubles, *troubles))


def _end_kept(toolkit: Toolkit, campaign_id: str, log: Log) -> tuple[str, ...]:
    """Destroy the kept hosts. Returns and shows the reason where some remain."""
    try:
        with_retries(toolkit.clock, lambda: end_kept(toolkit, campaign_id), log, again=_OF_CLEAN_UP, pauses_s=SOON_S)
    except PlimsollError as error:
        log(f"{campaign_id}: hosts that it may have kept could not be destroyed: {error}")
        return (f"{campaign_id}: hosts that it may have kept: {error}",)
    return ()


def _progress(status: LoadStatus) -> str:
    rate = "" if status.achieved_ops_s is None else f", {status.achieved_ops_s:.0f} ops/s"
    left = f", {status.seconds_left:.0f} s left" if status.seconds_left else ""
    note = f", {status.note}" if status.note else ""
    return f"{status.phase}{note}{rate}{left}"
