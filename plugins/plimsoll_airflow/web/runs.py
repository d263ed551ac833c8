"""The page's actions in Airflow: start runs, end runs, and find the runs of a campaign."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from pydantic import BaseModel, Field, computed_field

from plimsoll.bootstrap import load_definition
from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.campaign.cell import campaign_id_problem
from plimsoll.domain.text.errors import NotFound, PlimsollError, Problem, Refused
from plimsoll.domain.text.wording import plural
from plimsoll.prefix import name_of_dag
from plimsoll.services.campaign.open.request import campaign_id_of, choose, read_request
from plimsoll.services.campaign.state.reading import Memory, read_state
from plimsoll.services.cell.attempt_state import cancel
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.cell.loading import stop_load
from plimsoll.services.store.listing import campaign_exists
from plimsoll.settings import Settings
from plimsoll_airflow.internals import api_server
from plimsoll_airflow.internals.api_server import BaseUser, SeenRun
from plimsoll_airflow.internals.inventory import is_paused
from plimsoll_airflow.runs.ownership import CELL_DAG, PLAN_TASK, REAPER_DAG
from plimsoll_airflow.web.library import library
from plimsoll_airflow.web.problems import Conflict
from plimsoll_airflow.web.under_way import OthersAttempt, under_way
from plimsoll_airflow.wiring.core import toolkit

_LOOKS = 4
"""The greatest number of times that *Cancel* looks for runs."""


class StartedRun(BaseModel):
    """A DAG run that was started."""

    dag_id: str
    run_id: str = Field(description="Follow it by Airflow's own API: /api/v2/dags/{dag_id}/dagRuns/{run_id}")


@dataclass(frozen=True)
class RunSubject:
    """The subject of a run: a campaign, or a cell of a campaign."""

    dag_id: str
    run_id: str
    is_live: bool
    campaign_id: str
    cell_id: str | None = None
    plan: str | None = None
    """State of the task that creates the campaign; None where the run has no such task, or it has not begun."""

    @property
    def creates_campaign(self) -> bool:
        return self.dag_id not in (CELL_DAG, REAPER_DAG)

    @property
    def may_still_create(self) -> bool:
        """Tell whether the task that creates the campaign has not ended yet."""
        return self.is_live and self.plan not in api_server.FINISHED_STATES


class EndedRuns(BaseModel):
    """The runs that were cancelled."""

    runs: list[StartedRun] = Field(description="Runs that were live and are ended now")
    attempts: list[str] = Field(description="Attempts that were under way, as campaign/cell/number")
    others: list[OthersAttempt] = Field(description="Attempts under way that go on, for they are not this Airflow's")

    @computed_field(description="What was ended, and what goes on and why, in words")  # type: ignore[prop-decorator]
    @property
    def summary(self) -> str:
        """Return `1 run and 1 attempt were ended. demo-1/g1-040k-r3/1 goes on, because …`."""
        counts = ((len(self.runs), "run"), (len(self.attempts), "attempt"))
        named = [plural(count, noun) for count, noun in counts if count]
        verb = "was" if len(self.runs) + len(self.attempts) == 1 else "were"
        ended = f"{' and '.join(named)} {verb} ended" if named else "Nothing was ended"
        return " ".join([f"{ended}.", *(f"{attempt}." for attempt in self.others)])


def run_again(campaign: Campaign, campaign_id: str, cells: str, user: BaseUser) -> StartedRun:
    """Start the definition's DAG for the campaign and these cells: `missing`, `failed`, `invalid`, ids or patterns.

    A waiting run with the same request is returned instead. Raises Conflict when a required DAG is paused, Refused for
    unknown cells.
    """
    _require_some(campaign, campaign_id, cells)
    for dag_id in (campaign.dag_id, CELL_DAG):
        _require_unpaused(dag_id)
    conf = {"campaign_id": campaign_id, "cells": cells}
    for run in api_server.live_runs(campaign.dag_id):
        if run.state == "queued" and run.conf == conf:
            return _named_run(run)
    return _trigger(campaign.dag_id, conf, user)


def publish_valid(campaign: Campaign, campaign_id: str, user: BaseUser) -> StartedRun:
    """Start a run of the definition's DAG that runs no cell and publishes a report of what is valid.

    Raises Conflict when the DAG is paused.
    """
    _require_unpaused(campaign.dag_id)
    return _trigger(campaign.dag_id, {"campaign_id": campaign_id, "incomplete": True}, user)


def cancel_campaign(campaign: Campaign, campaign_id: str, user: BaseUser) -> EndedRuns:
    """End the campaign's runs and then those of its cells, whose teardown destroys their clusters.

    Then it looks again, because a run of a search may have started the next one meanwhile. Attempts of others go on: to
    record them as cancelled would spoil them and end nothing.
    """
    attempts = under_way(campaign, campaign_id)
    for key in attempts.own:
        work = AttemptContext(toolkit(), key)
        cancel(work, str(user.get_name()))
        if campaign.provider.owns != "cluster":  # people depend on it, and a teardown may begin some seconds later
            with suppress(PlimsollError):
                stop_load(work)
    ended: dict[tuple[str, str], StartedRun] = {}
    for _ in range(_LOOKS):
        live = [run for run in _runs_of(campaign, campaign_id) if (run.dag_id, run.run_id) not in ended]
        if not live:
            break
        for run in live:
            api_server.fail_run(run)
            ended[run.dag_id, run.run_id] = _named_run(run)
    library().forget(campaign_id)
    own = [str(key) for key in attempts.own]
    return EndedRuns(runs=list(ended.values()), attempts=own, others=list(attempts.others))


def require_no_runs(campaign: Campaign, campaign_id: str) -> None:
    """Raise Refused, with the runs, while a run works on the campaign."""
    mend = "wait until it has ended, or cancel the campaign on its page"
    live = [Problem(f"run {run.run_id}", "works at the campaign", mend) for run in _runs_of(campaign, campaign_id)]
    if live:
        raise Refused(live, where=f"campaign {campaign_id!r}")


def destroy_clusters(campaign_id: str, user: BaseUser) -> StartedRun:
    """Start the DAG `reaper` for the clusters of this campaign, whoever owns them."""
    _require_unpaused(REAPER_DAG)
    return _trigger(REAPER_DAG, {"campaign_id": campaign_id}, user)


def live_runs(campaign: Campaign, campaign_id: str) -> list[StartedRun]:
    """Return the campaign's living runs, those that start cells first. `cancel_campaign` would end them."""
    return [_named_run(run) for run in _runs_of(campaign, campaign_id)]


def find_run_of(campaign: Campaign, campaign_id: str, named: str) -> StartedRun | None:
    """Return the run named as `<dag>/runs/<run>`; None if it does not exist, or belongs to another campaign."""
    dag_id, _, run_id = named.partition("/runs/")
    run = api_server.find_run(dag_id, run_id) if dag_id in (campaign.dag_id, CELL_DAG, REAPER_DAG) else None
    return _named_run(run) if run and _subject(campaign.name, run) == campaign_id else None


def work_of_run(dag_id: str, run_id: str) -> RunSubject:
    """Return the campaign of a run, and the cell for a run of the DAG `cell`. Raises NotFound for other runs.

    A campaign that is there is found whatever has become of its definition, which else must be sound.
    """
    run = api_server.find_run(dag_id, run_id)
    if run is None:
        raise NotFound("there is no such run", where=f"{dag_id} {run_id}")
    name = name_of_dag(dag_id)
    if not name:
        raise NotFound("is no DAG of Plimsoll's", where=dag_id)
    campaign_id = _subject(name, run)
    if dag_id in (CELL_DAG, REAPER_DAG):
        if not campaign_id:
            raise NotFound("works at no campaign", where=f"run {run_id}")
        return RunSubject(dag_id, run_id, run.is_live, campaign_id, run.conf.get("cell_id"))
    if campaign_id_problem(campaign_id) or not campaign_exists(library().store, campaign_id):
        load_definition(Settings(), name)  # else it may be a DAG of others
    return RunSubject(dag_id, run_id, run.is_live, campaign_id, plan=api_server.task_state(run, PLAN_TASK))


def _require_some(campaign: Campaign, campaign_id: str, cells: str) -> None:
    """Refuse a request before starting a run, if `plan` would refuse it or find nothing to do."""
    request = read_request(campaign, {"campaign_id": campaign_id, "cells": cells})
    tools = toolkit()
    now = tools.clock.now()
    state = read_state(tools.store, campaign_id, campaign, now, Memory())
    if not choose(request, state, now):
        raise Conflict(
            f"no cell of the campaign is {cells!r}, so nothing would run",
            where=f"campaign {campaign_id!r}",
            mend="name cells by their ids to run them again although they are valid",
        )


def _runs_of(campaign: Campaign, campaign_id: str) -> Iterator[SeenRun]:
    """Yield the campaign's living runs, those that start cells first. Its cells' runs are looked up when needed."""
    for dag_id in (campaign.dag_id, CELL_DAG):
        yield from (run for run in api_server.live_runs(dag_id) if _subject(campaign.name, run) == campaign_id)


def _subject(definition: str, run: SeenRun) -> str:
    """Return the campaign that a run of the definition's DAG, or of the DAG `cell` or `reaper`, is for; else empty."""
    if run.dag_id in (CELL_DAG, REAPER_DAG):
        return str(run.conf.get("campaign_id") or "")
    return str(campaign_id_of(definition, run.conf, run.run_after))


def _named_run(run: SeenRun) -> StartedRun:
    return StartedRun(dag_id=run.dag_id, run_id=run.run_id)


def _require_unpaused(dag_id: str) -> None:
    paused = is_paused(dag_id)
    if paused is None:
        raise NotFound(f"there is no DAG {dag_id}", mend="bring its definition back into the folder of definitions")
    if paused:
        raise Conflict(f"the DAG {dag_id} is paused, so nothing would run", mend="unpause it in Airflow's list of DAGs")


def _trigger(dag_id: str, conf: Mapping[str, str | bool], user: BaseUser) -> StartedRun:
    started = StartedRun(dag_id=dag_id, run_id=api_server.trigger(dag_id, conf, user))
    library().forget(str(conf["campaign_id"]))
    return started
