"""The pages: list of campaigns, comparison, cell, report. Forms work without scripts."""

from collections.abc import Sequence
from http import HTTPStatus
from importlib import resources
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response

from plimsoll.analysis.attempt.unanswered import ERROR_LIMIT
from plimsoll.analysis.campaign.cell_results import missed_by
from plimsoll.domain.attempt.status import CampaignStateName
from plimsoll.domain.text.errors import NotFound, Problem, Refused
from plimsoll.prefix import dag_id_of
from plimsoll.report.compare import view
from plimsoll.report.compare.parts import Comparisons, comparisons_of, only_in_one
from plimsoll.report.tables import file_of_part
from plimsoll.report.words.capacities import capacity_rows_of
from plimsoll.services.cell.context import require_cell
from plimsoll.services.publish.results import verdict_data
from plimsoll.services.steps.steps import STEPS
from plimsoll.services.store import layout
from plimsoll.services.store.judged import published_without
from plimsoll.services.store.layout import REPORT
from plimsoll.services.store.listing import campaign_exists
from plimsoll_airflow.runs.ownership import CELL_DAG, CellRunId
from plimsoll_airflow.web import content, runs
from plimsoll_airflow.web.access import AttemptNumber, CampaignChosen, CellId, PartName, User, may_read
from plimsoll_airflow.web.cells import Drawn, attempt_document, cell_document, charts, timeline
from plimsoll_airflow.web.library import library
from plimsoll_airflow.web.rendering import REPORT_POLICY, STATIC, redirect, render
from plimsoll_airflow.web.visits import ComparisonOptions, Visited, campaign_pages, compare, readable_campaigns

router = APIRouter(include_in_schema=False)
of_campaign = campaign_pages()
DATA_DOCS = "index.html"


@router.get("/static/{name}")
def static_file(name: str) -> Response:
    if name not in STATIC:
        raise NotFound("there is no such file", where=name)
    data = resources.files(__package__).joinpath("static", name).read_bytes()
    return Response(data, media_type=STATIC[name], headers={"Cache-Control": "private, max-age=3600"})


@router.get("/")
def campaigns(
    request: Request,
    user: User,
    state: Annotated[CampaignStateName | Literal[""], Query()] = "",
    definition: Annotated[str, Query(max_length=60)] = "",
    text: Annotated[str, Query(max_length=100)] = "",
) -> Response:
    known = readable_campaigns(user)
    shown = [
        campaign
        for campaign in known
        if state in ("", campaign.state)
        and definition in ("", campaign.definition)
        and text.lower() in f"{campaign.campaign_id} {campaign.title}".lower()
    ]
    return render(
        request,
        "campaigns.html.j2",
        {
            "campaigns": shown,
            "names": [campaign.campaign_id for campaign in known],
            "definitions": sorted({campaign.definition for campaign in known}),
            "query": {"state": state, "definition": definition, "text": text},
            "demo_dag": dag_id_of("demo"),
        },
    )


@router.get("/compare")
def compare_two(
    request: Request,
    user: User,
    options: Annotated[ComparisonOptions, Depends()],
    a: CampaignChosen = "",
    b: CampaignChosen = "",
) -> Response:
    """Show two campaigns compared, once both are chosen. Where they are not comparable, the page says why."""
    comparisons: Comparisons | None = None
    problems: Sequence[Problem] = ()
    try:
        comparisons = compare(a, b, options, user) if a and b else None
    except Refused as error:
        problems = error.problems
    query = {"a": a, "b": b, "pair": options.pair, "force": options.force}
    names = [campaign.campaign_id for campaign in readable_campaigns(user)]
    context = {"names": names, "query": query, "problems": problems, "view": view, "found": comparisons}
    if comparisons:
        context |= {"parts": comparisons_of(comparisons), "only_in_one": tuple(only_in_one(comparisons))}
    return render(request, "compare.html.j2", context, status=HTTPStatus.BAD_REQUEST if problems else HTTPStatus.OK)


@router.get("/run")
def campaign_of_run(
    request: Request, user: User, dag_id: Annotated[str, Query()], run_id: Annotated[str, Query()]
) -> Response:
    """Redirect the tab of a DAG run to its campaign or cell; before there is a campaign, show the run's progress."""
    if not may_read(user, dag_id):
        raise NotFound("there is no such run", where=f"{dag_id} {run_id}")
    work = runs.work_of_run(dag_id, run_id)
    if work.creates_campaign and not campaign_exists(library().store, work.campaign_id):
        return render(request, "no-campaign.html.j2", {"work": work})
    return redirect(request, f"/campaigns/{work.campaign_id}{f'/cells/{work.cell_id}' if work.cell_id else ''}")


@of_campaign.get("/cells/{cell_id}")
def cell(visit: Visited, cell_id: CellId, attempt: Annotated[int | None, Query(ge=1)] = None) -> Response:
    """Return a cell with one of its attempts in full: the requested one, else the one that counts."""
    document = cell_document(visit, cell_id)
    number = attempt or document.status.attempt
    shown = number and attempt_document(visit, cell_id, number)
    part = visit.resolved.part(require_cell(visit.resolved, cell_id).part)
    context = {
        "repeats": part.repeats,
        "judged_as": part,
        "steps": STEPS,
        "document": document,
        "cell": document.status,
        "shown": shown,
        "error_limit": ERROR_LIMIT,
        "missed_by": missed_by(shown.verdict) if shown else "",
        "variant": visit.resolved.variant(document.status.variant),
        "run_id": CellRunId(visit.campaign_id, cell_id).run_id,
        "cell_dag": CELL_DAG,
    }
    return visit.render("cell.html.j2", context)


@of_campaign.get("/cells/{cell_id}/attempts/{attempt}/timeline.svg")
def cell_timeline(drawing: Drawn) -> Response:
    """Return an attempt's chart. A browser asks for it each time, because the attempt may have been judged again."""
    return Response(timeline(drawing), media_type="image/svg+xml")


@of_campaign.get("/cells/{cell_id}/attempts/{attempt}/charts")
def cell_charts(drawing: Drawn) -> Response:
    return content.document(charts(drawing), REPORT_POLICY)


@of_campaign.get(f"/cells/{{cell_id}}/{{attempt}}/{layout.QUALITY}/{DATA_DOCS}")
def cell_quality(visit: Visited, cell_id: CellId, attempt: AttemptNumber) -> Response:
    """Return the Data Docs of an attempt, at the path that the report's relative links have in the store."""
    prefix = layout.DATA_DOCS.folder(visit.campaign.key(cell_id, attempt))
    return content.document(content.stored(visit.store, prefix, DATA_DOCS))


@of_campaign.get(f"/{layout.QUALITY}/{DATA_DOCS}")
def campaign_quality(visit: Visited) -> Response:
    return content.document(content.stored(visit.store, layout.DATA_DOCS.folder(visit.campaign_id), DATA_DOCS))


@of_campaign.get("/report")
def report(visit: Visited) -> Response:
    data = verdict_data(visit.campaign, visit.campaign.verdicts(), library().clock.now())
    files = content.report_file_names(visit.store, visit.campaign_id)
    of_parts = {file_of_part(part.id, REPORT): part.heading for part in visit.resolved.parts}
    context = {
        "title": visit.resolved.title,
        "rows": capacity_rows_of(data),
        "files": files,
        "parts": {name: heading for name, heading in of_parts.items() if name in files},
        "page": REPORT,
        "missing": published_without(visit.store, visit.campaign_id) if files else (),
        "has_quality": visit.store.exists(f"{layout.DATA_DOCS.folder(visit.campaign_id)}/{DATA_DOCS}"),
    }
    return visit.render("report.html.j2", context)


@of_campaign.get("/report/page")
@of_campaign.get(f"/report/{REPORT}")
def report_page(visit: Visited) -> Response:
    """Return the report itself, also at the path that links in the reports of its parts have in the store."""
    page = content.stored(visit.store, layout.REPORT_FILES.folder(visit.campaign_id), REPORT)
    return content.document(page, REPORT_POLICY)


@of_campaign.get("/report/{part}-report.html")
def report_of_part(visit: Visited, part: PartName) -> Response:
    """Return the report of one part, at the path that links in the whole campaign's report have in the store."""
    page = content.stored(visit.store, layout.REPORT_FILES.folder(visit.campaign_id), file_of_part(part, REPORT))
    return content.document(page, REPORT_POLICY)


router.include_router(of_campaign)
