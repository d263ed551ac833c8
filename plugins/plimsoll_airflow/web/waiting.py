"""Say what a campaign waits for while a run lives without a cell under way: a cluster, another run, the next task."""

from collections.abc import Iterator, Sequence

from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.services.campaign.open.request import MISSING, campaign_id_of
from plimsoll_airflow.internals import api_server
from plimsoll_airflow.internals.api_server import SeenRun
from plimsoll_airflow.internals.slots import slots
from plimsoll_airflow.runs.ownership import CELL_DAG, CLUSTERS_POOL, CellRunId

_NAMED = 3


def waits_for(campaign: Campaign, campaign_id: str, *, runs: bool) -> str:
    """Say what the living runs of the campaign wait for; empty where none waits.

    `runs`: whether cells of the campaign are under way. Then only runs that are queued wait.
    """
    return "; ".join(_words(campaign, campaign_id, runs=runs))


def _words(campaign: Campaign, campaign_id: str, *, runs: bool) -> Iterator[str]:
    live = sorted(api_server.live_runs(campaign.dag_id), key=lambda run: run.run_after)
    own = [run for run in live if campaign_id_of(campaign.name, run.conf, run.run_after) == campaign_id]
    first = next((run for run in live if run.state == "running"), None)
    waiting = [run for run in own if run.state == "queued" or not runs]
    for run in waiting[:_NAMED]:
        yield _of_queued(campaign, campaign_id, run, first) if run.state == "queued" else _of_running(run)
    if len(waiting) > _NAMED:
        yield f"and {len(waiting) - _NAMED} more runs are queued"


def _of_running(run: SeenRun) -> str:
    found = slots(run.dag_id, run.run_id)
    if not found.waiting:
        return "its run goes on with the next task"
    if api_server.is_paused(CELL_DAG):
        return f"waiting: the DAG {CELL_DAG} is paused, so no cell begins"
    held = f"held by {_listed(found.holders)}" if found.holders else f"the pool {CLUSTERS_POOL} has no free slot"
    return f"waiting for a cluster ({held})"


def _of_queued(campaign: Campaign, campaign_id: str, run: SeenRun, first: SeenRun | None) -> str:
    cells = run.conf.get("cells") or MISSING
    queued = f"a run of cells {cells if len(cells) <= 80 else f'{cells[:80]}…'} is queued"
    if api_server.is_paused(campaign.dag_id):
        return f"{queued}: the DAG {campaign.dag_id} is paused"
    if first is None:
        return f"{queued}: it begins in a moment"
    other = campaign_id_of(campaign.name, first.conf, first.run_after)
    return f"{queued} behind run {first.run_id}" + ("" if other == campaign_id else f" of campaign {other}")


def _listed(holders: Sequence[CellRunId]) -> str:
    named = ", ".join(f"{one.campaign_id} with {one.cell_id}" for one in holders[:_NAMED])
    return named + (f" and {len(holders) - _NAMED} more" if len(holders) > _NAMED else "")
