"""The attempts of a campaign that are under way: those of this Airflow, and those that only somebody else can end.
Airflow's own database of runs tells whether their owners are alive.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pydantic import BaseModel, Field

from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.hosts.owner import ProcessOwner, owner_words
from plimsoll.ports.controller import Owners
from plimsoll.services.campaign.open.request import MISSING, campaign_id_of
from plimsoll.services.campaign.state.reading import Memory, read_state, running_attempts
from plimsoll.services.toolkit import Toolkit
from plimsoll_airflow.internals import api_server
from plimsoll_airflow.internals.api_server import SeenRun, find_run
from plimsoll_airflow.internals.inventory import is_paused, slots
from plimsoll_airflow.runs.installation import find_installation
from plimsoll_airflow.runs.ownership import (
    APPROVE_TASK,
    AWAITS_ANSWER,
    CELL_DAG,
    CLUSTERS_POOL,
    CampaignRunOwner,
    CellRun,
    CellRunId,
)
from plimsoll_airflow.web.library import library
from plimsoll_airflow.wiring.core import toolkit


class OthersAttempt(BaseModel):
    """An attempt that no run of this Airflow works at. It goes on whatever happens to runs here."""

    attempt: str = Field(description="campaign/cell/number")
    owner: str = Field(description="Who works at it, such as a process, with its machine")
    mend: str = Field(description="What ends it")

    def __str__(self) -> str:
        return f"{self.attempt} goes on, because {self.owner} works at it ({self.mend})"


@dataclass(frozen=True)
class UnderWay:
    """The attempts of a campaign that somebody works at."""

    own: tuple[AttemptKey, ...]
    others: tuple[OthersAttempt, ...]


def under_way(campaign: Campaign, campaign_id: str) -> UnderWay:
    """Return the campaign's attempts under way, by what is known here of their owners."""
    tools = watching_toolkit()
    memory = Memory(final=library().memory.final, owners=tools.owners)
    running = running_attempts(read_state(tools.store, campaign_id, campaign, tools.clock.now(), memory))
    owners, here = {state.key: state.attempt.owner for state in running if state.attempt}, find_installation()
    others = {key: owner for key, owner in owners.items() if not CellRun.of(owner, here)}
    # Attempts for which no record says who works at them count as this Airflow's own, too
    own = tuple(state.key for state in running if state.key not in others)
    return UnderWay(own, tuple(_others(key, owner) for key, owner in others.items()))


def _others(key: AttemptKey, owner: str) -> OthersAttempt:
    who, mend = owner_words(owner), "end it where it was begun"
    if ProcessOwner.parse(owner):
        mend = f"end {who} with Ctrl-C; it destroys its cluster itself"
    elif CellRun.parse(owner):
        mend = "cancel the campaign on that Airflow's own page"
    return OthersAttempt(attempt=str(key), owner=who, mend=mend)


class RunsAndProcesses:
    """An implementation of the Owners port: Airflow's database answers for runs, another port for processes."""

    def __init__(self, processes: Owners) -> None:
        self._processes = processes

    def me(self) -> str:
        return self._processes.me()

    def is_alive(self, owner: str) -> bool | None:
        """Tell whether that run (for a cell's run: that pass) continues. None for runs that are not in the database."""
        run = CampaignRunOwner.parse(owner) or CellRun.parse(owner)
        if run is None:
            return self._processes.is_alive(owner)
        if run.installation != find_installation():
            return None
        if isinstance(run, CampaignRunOwner):
            seen = find_run(run.dag_id, run.run_id)
            return None if seen is None else seen.is_live
        seen = find_run(CELL_DAG, run.run_id)
        return None if seen is None else seen.is_live and seen.clear_number == run.clear_number


def watching_toolkit() -> Toolkit:
    tools = toolkit()
    return replace(tools, owners=RunsAndProcesses(tools.owners))


_NAMED = 3


def waits_for(campaign: Campaign, campaign_id: str, runs: bool) -> str:
    """Say what the living runs of the campaign wait for; empty where none waits.

    `runs`: whether cells of the campaign are under way. Then only runs that are queued wait.
    """
    live = sorted(api_server.live_runs(campaign.dag_id), key=lambda run: run.run_after)
    own = [run for run in live if campaign_id_of(campaign.name, run.conf, run.run_after) == campaign_id]
    first = next((run for run in live if run.state == "running"), None)
    waiting = [run for run in own if run.state == "queued" or not runs]
    words = [
        _of_queued(campaign, campaign_id, run, first) if run.state == "queued" else _of_running(campaign, run)
        for run in waiting[:_NAMED]
    ]
    more = len(waiting) - _NAMED
    return "; ".join([*words, f"and {more} more runs are queued"] if more > 0 else words)


def _of_running(campaign: Campaign, run: SeenRun) -> str:
    in_pool = slots(run.dag_id, run.run_id)
    if not in_pool.waiting:
        if campaign.approve and api_server.task_state(run, APPROVE_TASK) in AWAITS_ANSWER:
            return f"waiting for an approval: its task {APPROVE_TASK} asks for one"
        return "its run goes on with the next task"
    if is_paused(CELL_DAG):
        return f"waiting: the DAG {CELL_DAG} is paused, so no cell begins"
    held = f"held by {_listed(in_pool.holders)}" if in_pool.holders else f"the pool {CLUSTERS_POOL} has no free slot"
    return f"waiting for a cluster ({held})"


def _of_queued(campaign: Campaign, campaign_id: str, run: SeenRun, first: SeenRun | None) -> str:
    cells = run.conf.get("cells") or MISSING
    queued = f"a run of cells {cells if len(cells) <= 80 else f'{cells[:80]}…'} is queued"
    if is_paused(campaign.dag_id):
        return f"{queued}: the DAG {campaign.dag_id} is paused"
    if first is None:
        return f"{queued}: it begins in a moment"
    ahead = campaign_id_of(campaign.name, first.conf, first.run_after)
    return f"{queued} behind run {first.run_id}" + ("" if ahead == campaign_id else f" of campaign {ahead}")


def _listed(holders: Sequence[CellRunId]) -> str:
    named = ", ".join(f"{holder.campaign_id} with {holder.cell_id}" for holder in holders[:_NAMED])
    return named + (f" and {len(holders) - _NAMED} more" if len(holders) > _NAMED else "")
