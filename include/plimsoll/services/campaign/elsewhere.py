"""Runs of another program, such as Airflow, that work at a campaign; processes hold campaigns instead.

A run says so in the store when it begins, so that it is seen between two cells and before its first one, too.
"""

from collections.abc import Iterator
from datetime import timedelta

from pydantic import AwareDatetime, ValidationError

from plimsoll.domain.base import Model
from plimsoll.domain.errors import NotFound, Problem, Refused
from plimsoll.domain.owner import ProcessOwner, owner_since
from plimsoll.ports.store import ResultStore
from plimsoll.services.campaign.holding import require_free
from plimsoll.services.campaign.state import Memory, read_state, running_attempts
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore, campaign_exists
from plimsoll.services.toolkit import Toolkit

TAKE_OVER = "--take-over"
_WAIT = "wait until it has ended, or cancel the campaign on its page; if that Airflow is gone for good,"
_MEND = f"{_WAIT} `plimsoll run` goes on with {TAKE_OVER}"
_AROUND_A_LOAD, _SLACK = timedelta(minutes=15), timedelta(hours=2)


class Run(Model):
    """A run that works at a campaign: since when, and until when at the most if it never says that it has ended."""

    owner: str
    since: AwareDatetime
    until: AwareDatetime


def begin_run(toolkit: Toolkit, campaign_id: str, owner: str, cells: int) -> None:
    """Say that the run works at the campaign, of which it is to run so many cells. Saying so again is no harm.

    Refused where a process has taken the campaign: whoever comes second sees the other, for both say so first.
    """
    definition, now = CampaignStore(toolkit.store, campaign_id).definition(), toolkit.clock.now()
    until = now + cells * (definition.longest + _AROUND_A_LOAD) + _SLACK
    said = _read(toolkit.store, campaign_id)
    run = Run(owner=owner, since=now, until=until)
    if said is not None and said.owner == owner:
        run = Run(owner=owner, since=said.since, until=max(said.until, until))
    if run != said:  # each cell says so again, and seldom anything new
        toolkit.store.write(layout.run_key(campaign_id), run.model_dump_json().encode())
    try:
        require_free(toolkit, campaign_id)
    except Refused:
        end_run(toolkit.store, campaign_id, owner)
        raise


def end_run(store: ResultStore, campaign_id: str, owner: str = "") -> None:
    """Say that the run has ended; without an owner: that whatever run said so does so no longer."""
    run = _read(store, campaign_id)
    if run is not None and owner in ("", run.owner):
        store.delete(layout.run_key(campaign_id))


def before_deletion(campaign_id: str) -> str:
    """What is to be done about a run that works at a campaign which somebody wants to delete."""
    return f"{_WAIT} `plimsoll campaigns delete {campaign_id} {TAKE_OVER}` deletes it all the same"


def runs_at_work(toolkit: Toolkit, campaign_id: str, mend: str = _MEND) -> Iterator[Problem]:
    """Why nobody else may work at the campaign: the run that does so. Of a lost run its time decides.

    `mend` is what is to be done about it.
    """
    run = _read(toolkit.store, campaign_id)
    if run is None:
        return
    alive = toolkit.owners.is_alive(run.owner)
    if toolkit.clock.now() < run.until if alive is None else alive:
        unknown = "" if alive else f", as far as can be told from here until {run.until:%Y-%m-%d %H:%M} UTC"
        what = f"is being run by {owner_since(run.owner, run.since)}{unknown}"
        yield Problem(f"campaign {campaign_id!r}", what, mend)


def require_nobody_elsewhere(toolkit: Toolkit, campaign_id: str) -> None:
    """Refused, with each run that works at the campaign, and at which attempts.

    A run that Airflow has lost looks alive for as long as it might have taken.
    """
    if not campaign_exists(toolkit.store, campaign_id):
        return
    if problems := [*runs_at_work(toolkit, campaign_id), *_attempts_at_work(toolkit, campaign_id)]:
        raise Refused(problems, where=f"campaign {campaign_id!r}")


def _attempts_at_work(toolkit: Toolkit, campaign_id: str) -> Iterator[Problem]:
    definition = CampaignStore(toolkit.store, campaign_id).definition()
    state = read_state(toolkit.store, campaign_id, definition, toolkit.clock.now(), Memory(owners=toolkit.owners))
    for one in running_attempts(state):
        attempt = one.attempt
        if attempt and ProcessOwner.parse(attempt.owner) is None:
            yield Problem(str(one.key), f"is being run by {owner_since(attempt.owner, attempt.started_at)}", _MEND)


def _read(store: ResultStore, campaign_id: str) -> Run | None:
    try:
        return Run.model_validate_json(store.read(layout.run_key(campaign_id)))
    except (NotFound, ValidationError):
        return None
