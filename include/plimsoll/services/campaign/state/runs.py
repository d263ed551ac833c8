"""Runs of another program, such as Airflow, that work on a campaign. A process of Plimsoll holds a campaign instead.

A run is recorded in the store when it begins, so that others see it before its first cell and between two cells.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import PurePosixPath

from pydantic import AwareDatetime

from plimsoll.domain.hosts.owner import ProcessOwner, installation_of, is_of_another_airflow, owner_since
from plimsoll.domain.text.base import Model
from plimsoll.domain.text.errors import Problem, Refused
from plimsoll.ports.controller import Owners
from plimsoll.ports.store import ResultStore
from plimsoll.services.campaign.state.reading import Memory, read_state, running_attempts
from plimsoll.services.ownership import held, hold_in_force, is_in_force, require_free
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.store.layout import Record
from plimsoll.services.store.listing import campaign_exists
from plimsoll.services.toolkit import Toolkit

TAKE_OVER = "--take-over"
_WAIT = "wait until it has ended, or cancel the campaign on its page; if that Airflow is gone for good,"
_MEND = f"{_WAIT} `plimsoll run` goes on with {TAKE_OVER}"
_LOOKS, _GIVES_WAY_S = 6, 2.0
"""The number of looks for whether another run that began at the same time has given way, and the pause between looks,
s.
"""
_AROUND_A_LOAD, _SLACK = timedelta(minutes=15), timedelta(hours=2)


class Run(Model):
    """A run that works on a campaign: its start, and its latest possible end if it never reports its end."""

    owner: str
    since: AwareDatetime
    until: AwareDatetime


RUNS = Record("runs/<digest>.json", Run, indent=None)


def digest_of(owner: str) -> str:
    """Return the name of a run's record. Names of runs may hold any character."""
    return sha256(owner.encode()).hexdigest()[:16]


def begin_run(toolkit: Toolkit, campaign_id: str, owner: str, cells: int, *, goes_on: bool = False) -> None:
    """Record that the run works on the campaign, and the number of cells that it is to run. May be repeated.

    Each run has a record of its own, so that none hides another. Raises Refused where a process holds the campaign, and
    where a run of another Airflow works on it, unless the run `goes_on`, which had begun before, and still counts. Both
    sides write their record before they look for the other's, so the second one always sees the first.
    """
    campaign, now = CampaignStore(toolkit.store, campaign_id).resolved(), toolkit.clock.now()
    run = Run(owner=owner, since=now, until=now + cells * (campaign.declared_time + _AROUND_A_LOAD) + _SLACK)
    recorded = next((known for known in _read(toolkit.store, campaign_id) if known.owner == owner), None)
    if recorded is not None:
        # A later call may be about fewer cells, and takes no time away from the run
        run = Run(owner=owner, since=recorded.since, until=max(recorded.until, run.until))
    if run != recorded:  # every cell calls this, and mostly nothing has changed
        RUNS.write(toolkit.store, campaign_id, run, digest_of(owner))
    try:
        require_free(toolkit, campaign_id)
        if not goes_on or recorded is None or recorded.until <= now:
            require_no_other_airflow(toolkit, campaign_id, owner)
    except Refused:
        end_run(toolkit.store, campaign_id, owner)
        raise


def require_no_other_airflow(toolkit: Toolkit, campaign_id: str, owner: str) -> None:
    """Raise Refused where a run of another Airflow than the owner's works on the campaign.

    Of two that begin at the same moment, each of which sees the other, one gives way at once, by the order of their
    names, and the other waits for that.
    """
    for looks_left in reversed(range(_LOOKS)):
        others = _of_other_airflows(toolkit, campaign_id, owner)
        if not others:
            return
        if min(others) < owner or not looks_left:
            raise Refused([*others.values()])
        toolkit.clock.sleep(_GIVES_WAY_S)


def _of_other_airflows(toolkit: Toolkit, campaign_id: str, owner: str) -> Mapping[str, Problem]:
    """Map owners to the runs of other Airflows that work on the campaign, as problems for the owner."""
    others = [run for run in _read(toolkit.store, campaign_id) if is_of_another_airflow(run.owner, owner)]
    problems = ((run, _at_work(toolkit, campaign_id, run, _mend_there(run.owner))) for run in others)
    return {run.owner: problem for run, of_run in problems for problem in of_run}


def _mend_there(owner: str) -> str:
    return (
        "wait until it has ended, or cancel the campaign on that Airflow's own page; if that one is gone for good and "
        f"this one takes its place, give this one its id, {installation_of(owner)}; docs/guides/operations.md says how"
    )


def end_run(store: ResultStore, campaign_id: str, owner: str = "") -> None:
    """Record that the run has ended. Without an owner: drop the records of all runs."""
    store.delete(RUNS.key(campaign_id, digest_of(owner)) if owner else RUNS.folder(campaign_id))


def owners_of_runs(store: ResultStore, campaign_id: str) -> tuple[str, ...]:
    """Return the owners of all runs on record for the campaign: those that have not reported their end, dead or
    alive.
    """
    return tuple(run.owner for run in _read(store, campaign_id))


def before_deletion(campaign_id: str) -> str:
    """Return the advice on what to do about a run that works on a campaign, before the campaign can be deleted."""
    return f"{_WAIT} `plimsoll campaigns delete {campaign_id} {TAKE_OVER}` deletes it all the same"


def runs_at_work(toolkit: Toolkit, campaign_id: str, mend: str = _MEND) -> Iterator[Problem]:
    """Yield the runs that work on the campaign, as problems for anybody else. A lost run counts until its latest end.

    `mend` is the advice on what to do about it.
    """
    for run in _read(toolkit.store, campaign_id):
        yield from _at_work(toolkit, campaign_id, run, mend)


@contextmanager
def held_alone(toolkit: Toolkit, campaign_id: str) -> Iterator[None]:
    """Hold the campaign inside the block. Raises Refused where a process or a run works on it."""
    with held(toolkit, campaign_id):
        if problems := [*runs_at_work(toolkit, campaign_id)]:
            raise Refused(problems)
        yield


def worked_on_by(store: ResultStore, owners: Owners, campaign_id: str, now: datetime) -> str:
    """Tell who works on the campaign, as far as the store tells, and since when; empty where nobody does."""
    hold = hold_in_force(store, owners, campaign_id, now)
    runs = [run for run in _read(store, campaign_id) if is_in_force(owners.is_alive(run.owner), run.until, now)]
    return next((owner_since(claim.owner, claim.since) for claim in (hold, *runs) if claim), "")


def _at_work(toolkit: Toolkit, campaign_id: str, run: Run, mend: str = "") -> Iterator[Problem]:
    alive = toolkit.owners.is_alive(run.owner)
    if is_in_force(alive, run.until, toolkit.clock.now()):
        unknown = "" if alive else f", as far as can be told from here until {run.until:%Y-%m-%d %H:%M} UTC"
        what = f"is being run by {owner_since(run.owner, run.since)}{unknown}"
        yield Problem(f"campaign {campaign_id!r}", what, mend)


def require_no_other_run(toolkit: Toolkit, campaign_id: str) -> None:
    """Raise Refused where a run works on the campaign, with the run and its attempts.

    A run that Airflow has lost counts as running until its latest possible end.
    """
    if not campaign_exists(toolkit.store, campaign_id):
        return
    if problems := [*runs_at_work(toolkit, campaign_id), *_attempts_at_work(toolkit, campaign_id)]:
        raise Refused(problems, where=f"campaign {campaign_id!r}")


def _attempts_at_work(toolkit: Toolkit, campaign_id: str) -> Iterator[Problem]:
    campaign = CampaignStore(toolkit.store, campaign_id).resolved()
    state = read_state(toolkit.store, campaign_id, campaign, toolkit.clock.now(), Memory(owners=toolkit.owners))
    for running in running_attempts(state):
        attempt = running.attempt
        # A process of Plimsoll shows by its hold that it works on the campaign
        if attempt and ProcessOwner.parse(attempt.owner) is None:
            yield Problem(str(running.key), f"is being run by {owner_since(attempt.owner, attempt.started_at)}", _MEND)


def _read(store: ResultStore, campaign_id: str) -> tuple[Run, ...]:
    names = (PurePosixPath(key).stem for key in store.keys(RUNS.folder(campaign_id)))
    return tuple(run for name in names if (run := RUNS.read_sound(store, campaign_id, name)))
