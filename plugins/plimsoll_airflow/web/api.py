"""The JSON API: plans, campaigns, cells, capacities and report files; run cells again, cancel, destroy."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from plimsoll.analysis.campaign.capacity import Capacity
from plimsoll.bootstrap import definition_folder, load_definition
from plimsoll.domain.attempt.status import AttemptProgress, CampaignStateName, CampaignStatus, CampaignSummary
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.text.errors import NotFound, ProviderError
from plimsoll.prefix import dag_id_of
from plimsoll.report.compare.parts import Comparisons
from plimsoll.services.campaign.open.planning import make_plan
from plimsoll.services.campaign.open.request import LONGEST_CHOICE, SOME_CELLS
from plimsoll.services.publish.results import campaign_capacities
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.store.records import folder_of
from plimsoll.settings import Settings
from plimsoll_airflow.internals.api_server import action_logging
from plimsoll_airflow.web import content, runs
from plimsoll_airflow.web.access import (
    AttemptNumber,
    CampaignId,
    CampaignNamed,
    CellId,
    DefinitionName,
    ResolvedCampaign,
    User,
    may_read,
    require_campaign,
    require_change,
)
from plimsoll_airflow.web.cells import AttemptDocument, CellDocument, attempt_document, cell_document, live_progress
from plimsoll_airflow.web.library import library
from plimsoll_airflow.web.problems import RESPONSES
from plimsoll_airflow.web.visits import ComparisonOptions, compare
from plimsoll_airflow.wiring.core import toolkit

router = APIRouter(prefix="/api/v1", responses=RESPONSES)
of_campaign = APIRouter(prefix="/campaigns/{campaign_id}", dependencies=[Depends(require_campaign)])


class DefinitionEntry(BaseModel):
    """A definition that campaigns can be started from."""

    name: str
    dag_id: str = Field(description="The DAG that runs it")


class RunAgain(BaseModel):
    """The cells to run again."""

    model_config = ConfigDict(extra="forbid")

    cells: str = Field(
        min_length=1,
        max_length=LONGEST_CHOICE,
        pattern=SOME_CELLS,
        description="`missing`, `failed`, `invalid`, or ids and patterns as in the form of the DAG",
        examples=["failed", "g1-040k-r3, zgc-*-r1"],
    )


@router.get("/definitions", tags=["definitions"])
def list_definitions(user: User) -> list[DefinitionEntry]:
    """Return the definitions of this installation that the user may see."""
    names = definition_folder(Settings()).names()
    entries = [DefinitionEntry(name=name, dag_id=dag_id_of(name)) for name in names]
    return [entry for entry in entries if may_read(user, entry.dag_id)]


@router.get("/definitions/{name}/plan", tags=["definitions"])
def preview_plan(
    name: DefinitionName,
    user: User,
    parallel: Annotated[int | None, Query(ge=1, le=500, description="Cells at a time")] = None,
) -> dict[str, Any]:
    """Return the plan of a campaign: cells in running order, totals, cost; as `plimsoll plan --json`.

    Starts nothing.
    """
    if name not in {entry.name for entry in list_definitions(user)}:
        raise NotFound(f"there is no definition {name!r}", mend="GET definitions lists them")
    campaign = resolve(load_definition(Settings(), name))
    try:
        return make_plan(campaign, parallel=parallel, tariff=toolkit().tariff(campaign)).as_json()
    except ProviderError as error:
        return {**make_plan(campaign, parallel=parallel).as_json(), "cost": {"usd": None, "unknown": str(error)}}


@router.get("/campaigns", tags=["campaigns"])
def list_campaigns(
    user: User,
    state: Annotated[CampaignStateName | None, Query(description="Only those in that state")] = None,
    definition: Annotated[str | None, Query(max_length=60, description="Only those of that definition")] = None,
) -> list[CampaignSummary]:
    """Return all campaigns of the store that the user may see, the one that began last first."""
    return [
        one
        for one in library().campaigns()
        if state in (None, one.state) and definition in (None, one.definition) and may_read(user, one.dag_id)
    ]


@router.get("/compare", tags=["campaigns"])
def compare_campaigns(
    a: CampaignNamed, b: CampaignNamed, options: Annotated[ComparisonOptions, Depends()], user: User
) -> Comparisons:
    """Compare campaign B with campaign A, as `plimsoll compare --json`: differences, capacities, maxima, tests.

    Where a campaign has several workloads, `parts` has one such comparison for each workload that both have.
    """
    return compare(a, b, options, user)


@of_campaign.get("", tags=["campaigns"])
def get_campaign(campaign_id: CampaignId, response: Response) -> CampaignStatus:
    """Return the status of the campaign and of each cell, at most a few seconds old."""
    snapshot = library().snapshot(campaign_id)
    response.headers["ETag"] = snapshot.etag
    return snapshot.status


@of_campaign.get("/capacity", tags=["campaigns"])
def get_capacity(campaign_id: CampaignId) -> list[Capacity]:
    """Return the capacity of each variant by the verdicts so far. `kind` says how firm it is."""
    campaign = CampaignStore(library().store, campaign_id)
    return list(campaign_capacities(campaign, campaign.verdicts(), library().clock.now()))


@of_campaign.get("/cells/{cell_id}", tags=["cells"])
def get_cell(campaign_id: CampaignId, cell_id: CellId, campaign: ResolvedCampaign) -> CellDocument:
    """Return the cell with all its attempts: phases, verdicts."""
    return cell_document(library(), campaign_id, campaign, cell_id)


@of_campaign.get("/cells/{cell_id}/live", tags=["cells"])
def get_live(campaign_id: CampaignId, cell_id: CellId, campaign: ResolvedCampaign) -> AttemptProgress | None:
    """Return what the cell's running attempt does, and how its service levels fare so far; null if none runs."""
    return live_progress(library(), campaign_id, campaign, cell_id)


@of_campaign.get("/cells/{cell_id}/attempts/{attempt}", tags=["cells"])
def get_attempt(
    campaign_id: CampaignId, cell_id: CellId, attempt: AttemptNumber, campaign: ResolvedCampaign
) -> AttemptDocument:
    """Return one attempt with its environment and the names of its files."""
    return attempt_document(library(), campaign_id, campaign, cell_id, attempt)


@of_campaign.get("/cells/{cell_id}/attempts/{attempt}/files/{name:path}", tags=["cells"], response_class=Response)
def get_attempt_file(
    campaign_id: CampaignId, cell_id: CellId, attempt: AttemptNumber, name: str, user: User
) -> Response:
    """Return one file of an attempt, by its name as `files` gives it."""
    store = library().store
    prefix = folder_of(CampaignStore(store, campaign_id).key(cell_id, attempt))
    return content.download(store, prefix, name, user, f"{cell_id}-{attempt}-{name.replace('/', '-')}")


@of_campaign.get("/report", tags=["report"])
def list_report_files(campaign_id: CampaignId) -> list[str]:
    """Return the names of the report's files; empty before it is published."""
    return list(content.report_file_names(library().store, campaign_id))


@of_campaign.get("/report/{name:path}", tags=["report"], response_class=Response)
def get_report_file(campaign_id: CampaignId, name: str, user: User) -> Response:
    """Return one file of the report."""
    return content.download(library().store, layout.REPORT_FILES.folder(campaign_id), name, user)


@of_campaign.post("/runs", status_code=202, tags=["actions"], dependencies=[Depends(action_logging("plimsoll.again"))])
def run_cells_again(campaign_id: CampaignId, body: RunAgain, campaign: ResolvedCampaign, user: User) -> runs.StartedRun:
    """Start the campaign's DAG for these cells alone, as new attempts on new clusters; gate and report follow."""
    require_change(campaign, user)
    started = runs.run_again(campaign, campaign_id, body.cells, user)
    library().forget(campaign_id)
    return started


@of_campaign.post(
    "/report", status_code=202, tags=["actions"], dependencies=[Depends(action_logging("plimsoll.report"))]
)
def publish_what_is_valid(campaign_id: CampaignId, campaign: ResolvedCampaign, user: User) -> runs.StartedRun:
    """Start a run that runs no cell and publishes what is valid, marked where cells have no valid attempt."""
    require_change(campaign, user)
    started = runs.publish_valid(campaign, campaign_id, user)
    library().forget(campaign_id)
    return started


@of_campaign.post("/cancel", tags=["actions"], dependencies=[Depends(action_logging("plimsoll.cancel"))])
def cancel(campaign_id: CampaignId, campaign: ResolvedCampaign, user: User) -> runs.EndedRuns:
    """End the campaign's live runs. Their teardown destroys the clusters; their attempts count as failed.

    Attempts of `plimsoll run`, or of another Airflow, go on; `others` says what ends each. `summary` says all of it.
    """
    require_change(campaign, user)
    ended = runs.cancel_campaign(campaign, campaign_id, user)
    library().forget(campaign_id)
    return ended


@of_campaign.post(
    "/destroy", status_code=202, tags=["actions"], dependencies=[Depends(action_logging("plimsoll.destroy"))]
)
def destroy(campaign_id: CampaignId, campaign: ResolvedCampaign, user: User) -> runs.StartedRun:
    """Start a run of the DAG `reaper` that destroys every cluster of the campaign, even those of cells that run."""
    require_change(campaign, user)
    return runs.destroy_clusters(campaign_id, user)


router.include_router(of_campaign)
