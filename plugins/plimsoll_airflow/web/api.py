"""The JSON API: plans, campaigns, cells, capacities and report files; run cells again, cancel, destroy, annotate,
delete.
"""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from plimsoll.analysis.campaign.capacity import Capacity
from plimsoll.bootstrap import definition_folder, load_document
from plimsoll.domain.attempt.result import LONGEST_NOTE, Note
from plimsoll.domain.attempt.status import AttemptProgress, CampaignStateName, CampaignStatus, CampaignSummary
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.text.errors import NotFound, ProviderError
from plimsoll.prefix import dag_id_of
from plimsoll.report.compare.parts import Comparisons
from plimsoll.services.campaign.curating import Deletion
from plimsoll.services.campaign.open.creation import requested_definition
from plimsoll.services.campaign.open.planning import make_plan
from plimsoll.services.campaign.open.request import LONGEST_CHOICE, SOME_CELLS, values_set
from plimsoll.services.publish.results import campaign_capacities
from plimsoll.services.store import layout
from plimsoll.services.store.layout import folder_of
from plimsoll.settings import Settings
from plimsoll_airflow.web import content, runs
from plimsoll_airflow.web.access import (
    AttemptNumber,
    CampaignId,
    CampaignNamed,
    CellId,
    DefinitionName,
    User,
    action,
    may_read,
    require_campaign,
)
from plimsoll_airflow.web.cells import AttemptDocument, CellDocument, attempt_document, cell_document, live_progress
from plimsoll_airflow.web.library import library
from plimsoll_airflow.web.matrix import annotate_visited, delete_visited
from plimsoll_airflow.web.problems import RESPONSES
from plimsoll_airflow.web.visits import ComparisonOptions, Visited, compare, readable_campaigns
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


class NoteText(BaseModel):
    """A note to write."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(max_length=2 * LONGEST_NOTE, description="What readers should know; empty: no note")


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
    values: Annotated[
        list[str] | None, Query(alias="set", max_length=50, description="Value of a parameter: `version=5.0.3`")
    ] = None,
) -> dict[str, Any]:
    """Return the plan of a campaign: cells in running order, totals, cost; as `plimsoll plan --json`.

    Starts nothing.
    """
    if name not in {entry.name for entry in list_definitions(user)}:
        raise NotFound(f"there is no definition {name!r}", mend="GET definitions lists them")
    campaign = resolve(requested_definition(load_document(Settings(), name), values_set(values)))
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
        campaign
        for campaign in readable_campaigns(user)
        if state in (None, campaign.state) and definition in (None, campaign.definition)
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
def get_capacity(visit: Visited) -> list[Capacity]:
    """Return the capacity of each variant by the verdicts so far. `kind` says how firm it is."""
    return list(campaign_capacities(visit.campaign, visit.campaign.verdicts(), library().clock.now()))


@of_campaign.get("/cells/{cell_id}", tags=["cells"])
def get_cell(visit: Visited, cell_id: CellId) -> CellDocument:
    """Return the cell with all its attempts: phases, verdicts."""
    return cell_document(visit, cell_id)


@of_campaign.get("/cells/{cell_id}/live", tags=["cells"])
def get_live(visit: Visited, cell_id: CellId) -> AttemptProgress | None:
    """Return what the cell's running attempt does, and how its service levels fare so far; null if none runs."""
    return live_progress(visit, cell_id)


@of_campaign.get("/cells/{cell_id}/attempts/{attempt}", tags=["cells"])
def get_attempt(visit: Visited, cell_id: CellId, attempt: AttemptNumber) -> AttemptDocument:
    """Return one attempt with its environment and the names of its files."""
    return attempt_document(visit, cell_id, attempt)


@of_campaign.get("/cells/{cell_id}/attempts/{attempt}/files/{name:path}", tags=["cells"], response_class=Response)
def get_attempt_file(visit: Visited, cell_id: CellId, attempt: AttemptNumber, name: str) -> Response:
    """Return one file of an attempt, by its name as `files` gives it."""
    prefix = folder_of(visit.campaign.key(cell_id, attempt))
    return content.download(visit.store, prefix, name, visit.user, f"{cell_id}-{attempt}-{name.replace('/', '-')}")


@of_campaign.get("/report", tags=["report"])
def list_report_files(campaign_id: CampaignId) -> list[str]:
    """Return the names of the report's files; empty before it is published."""
    return list(content.report_file_names(library().store, campaign_id))


@of_campaign.get("/report/{name:path}", tags=["report"], response_class=Response)
def get_report_file(visit: Visited, name: str) -> Response:
    """Return one file of the report."""
    return content.download(visit.store, layout.REPORT_FILES.folder(visit.campaign_id), name, visit.user)


@of_campaign.post("/runs", status_code=202, tags=["actions"], dependencies=action("again"))
def run_cells_again(visit: Visited, body: RunAgain) -> runs.StartedRun:
    """Start the campaign's DAG for these cells alone, as new attempts on new clusters; gate and report follow."""
    return runs.run_again(visit.resolved, visit.campaign_id, body.cells, visit.user)


@of_campaign.post("/report", status_code=202, tags=["actions"], dependencies=action("report"))
def publish_what_is_valid(visit: Visited) -> runs.StartedRun:
    """Start a run that runs no cell and publishes what is valid, marked where cells have no valid attempt."""
    return runs.publish_valid(visit.resolved, visit.campaign_id, visit.user)


@of_campaign.post("/cancel", tags=["actions"], dependencies=action("cancel"))
def cancel(visit: Visited) -> runs.EndedRuns:
    """End the campaign's live runs. Their teardown destroys the clusters; their attempts count as failed.

    Attempts of `plimsoll run`, or of another Airflow, go on; `others` says what ends each. `summary` says all of it.
    """
    return runs.cancel_campaign(visit.resolved, visit.campaign_id, visit.user)


@of_campaign.post("/destroy", status_code=202, tags=["actions"], dependencies=action("destroy"))
def destroy(visit: Visited) -> runs.StartedRun:
    """Start a run of the DAG `reaper` that destroys every cluster of the campaign, even those of cells that run."""
    return runs.destroy_clusters(visit.campaign_id, visit.user)


@of_campaign.put("/note", tags=["actions"], dependencies=action("note"))
def put_note(visit: Visited, note: NoteText) -> Note | None:
    """Replace the campaign's note; an empty text removes it."""
    return annotate_visited(visit, note.text)


@of_campaign.delete("", tags=["actions"], dependencies=action("delete"))
def delete_by_api(
    visit: Visited,
    confirm: Annotated[str, Query(max_length=200, description="The campaign's id once more")] = "",
) -> Deletion:
    """Delete the campaign with all its measurements, permanently. Refused while it has living clusters or runs."""
    return delete_visited(visit, confirm)


router.include_router(of_campaign)
