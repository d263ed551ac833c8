"""Open a campaign, after checking that everything it is asked for is possible."""

from collections.abc import Iterable, Mapping, Sized
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from plimsoll.domain.campaign.cell import Cell, campaign_id_problem
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.keys.parameters import Values, read_values
from plimsoll.domain.keys.trigger import BegunBy
from plimsoll.domain.text.errors import Problem, Refused
from plimsoll.domain.text.wording import plural
from plimsoll.ports.store import ReadableStore
from plimsoll.services.campaign.open.planning import is_new_id
from plimsoll.services.campaign.open.request import FAILED, INVALID, OF_A_REQUEST, Request, campaign_id_of, choose
from plimsoll.services.campaign.open.runnable import require_runnable
from plimsoll.services.campaign.state.completeness import (
    Completeness,
    RequestedCells,
    completeness_of,
    newest_request,
    record_request,
    start_stages,
)
from plimsoll.services.campaign.state.reading import CellState, Memory, read_state
from plimsoll.services.definitions.documents import Document
from plimsoll.services.hosts.limits import require_money_and_time
from plimsoll.services.ownership import require_free
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore, StoredCampaign
from plimsoll.services.store.listing import campaign_exists
from plimsoll.services.toolkit import Toolkit
from plimsoll.strategies.state import CampaignState

_MOST_LOOKED_AT = 100
"""Campaigns whose events are read, one request each: no run waits while so many others begin."""


def requested_definition(
    document: Document, given: Mapping[str, Any], campaign: StoredCampaign | None = None, *, where: str = OF_A_REQUEST
) -> Definition:
    """Return the definition in the document with the values of parameters that somebody gives.

    A campaign that exists keeps the values that it began with. Raises DefinitionError; and Refused, naming `where` they
    were given, for values that do not fit the parameters, and for others than those of the campaign.
    """
    definition = document.model(Definition)
    values = read_values(definition.parameters, given, where)
    if campaign and definition.parameters:
        values = _kept_values(campaign, definition, values, where)
    return document.model(Definition, values) if values else definition


def _kept_values(campaign: StoredCampaign, definition: Definition, values: Values, where: str) -> Values:
    """Return the values of the campaign, if it exists. One of another definition is refused later."""
    # The store fails for an id such as `../x`, which is refused in words later
    is_sound = campaign_id_problem(campaign.campaign_id) is None
    is_there = is_sound and campaign_exists(campaign.store, campaign.campaign_id)
    if not is_there or (stored := campaign.declared()).name != definition.name:
        return values
    kept = {name: value for name, value in resolve(stored).values.items() if name in definition.parameters}
    mend = "leave it out, or begin a new campaign"
    problems = [
        Problem(f"parameters.{name}", f"campaign {campaign.campaign_id!r} began with {kept[name]}, not {value}", mend)
        for name, value in values.items()
        if name in kept and kept[name] != value
    ]
    if problems:
        raise Refused(problems, where=where)
    return {**values, **kept}


def campaign_of_last_event(
    store: ReadableStore, name: str, asset: str, installation: str
) -> tuple[str, BegunBy] | None:
    """Return the campaign of that definition that measured the asset's newest event, with the event; None where none
    did.

    Airflows that share the store have events of their own; records that name no `installation` are older. Not the
    campaign with the newest id: a run that was cleared takes events that came after the time in its id.
    """
    newest_first = reversed([folder for folder in store.folders("") if is_new_id(name, folder)])
    recorded = (
        (campaign_id, event)
        for campaign_id in islice(newest_first, _MOST_LOOKED_AT)
        if (event := layout.BEGUN_BY.read_sound(store, campaign_id))
        and event.asset == asset
        and event.installation in ("", installation)
    )
    by_event = sorted(recorded, key=lambda pair: pair[1].at, reverse=True)
    return next((pair for pair in by_event if campaign_exists(store, pair[0])), None)


@dataclass(frozen=True)
class CampaignPlan:
    """A campaign in the store, and the cells to run now, in running order."""

    campaign_id: str
    cells: tuple[Cell, ...]
    goes_on: bool
    """Whether the strategy is asked again once these cells have run."""
    summary: str
    """How many cells run now, and how many have no valid attempt."""


def open_campaign(  # noqa: PLR0913  # what is asked for, of which definition, and what bounds it
    toolkit: Toolkit,
    definition: Definition,
    request: Request,
    at: datetime,
    document: Document | None = None,
    *,
    largest_run: int | None = None,
    begun_by: BegunBy | None = None,
) -> CampaignPlan:
    """Open the campaign that the request names, or else the one with the id of time `at`, and choose its cells.

    The same request at the same time means the same campaign, so planning again continues it. Raises Refused with every
    problem before anything is written to the store, with the lines of the definition's file if `document` is given.
    `largest_run` is the greatest number of cells that one run can start, where the caller has such a limit;
    `begun_by` the event by which a new campaign begins.
    """
    campaign = CampaignStore(toolkit.store, campaign_id_of(definition.name, request.model_dump(), at))
    if campaign_exists(toolkit.store, campaign.campaign_id):
        campaign.continued(definition)
    require_runnable(toolkit, definition, document, campaign.campaign_id)
    _require_something_to_repeat(campaign, request)
    require_free(toolkit, campaign.campaign_id)
    now, memory = toolkit.clock.now(), Memory(owners=toolkit.owners)
    if campaign_exists(toolkit.store, campaign.campaign_id):
        start_stages(campaign, now)
    # By the definition that is given: its budget or `finish_by` may have been raised since the campaign began
    known = campaign.with_stage_starts(resolve(definition))
    state = read_state(toolkit.store, campaign.campaign_id, known, now, memory)
    chosen = tuple(cell.cell for cell in choose(request, state, at))
    _require_room(len(chosen), largest_run)
    # The first cell stands for all here: each one is checked once more when it begins
    if chosen:
        require_money_and_time(toolkit, campaign, known, chosen[0].id)
    campaign.open(definition, begun_by)
    former = newest_request(campaign)
    for_all = request.is_for_all or (former is not None and former.for_all)
    record_request(campaign, RequestedCells(at=at, cells=tuple(cell.id for cell in chosen), for_all=for_all))
    goes_on = request.is_for_all or (for_all and _is_waited_for(request, state, chosen))
    return CampaignPlan(campaign.campaign_id, chosen, goes_on, _summary(chosen, completeness_of(state)))


def _summary(chosen: Sized, known: Completeness) -> str:
    lacking = f"{len(known.missing)} of {known.total} {'has' if len(known.missing) == 1 else 'have'} no valid attempt"
    return f"{plural(len(chosen), 'cell')} to run now; {lacking}{known.to_come}"


def _is_waited_for(request: Request, state: CampaignState[CellState], chosen: Iterable[Cell]) -> bool:
    """Tell whether the strategy waits for any of the cells that were named, so that it can go on after them."""
    waited_for = {cell.cell.id for cell in state.asked_for}
    return not request.is_limited and any(cell.id in waited_for for cell in chosen)


def _require_something_to_repeat(campaign: CampaignStore, request: Request) -> None:
    words = "incomplete" if request.incomplete else request.cells
    if words in ("incomplete", FAILED, INVALID) and not campaign_exists(campaign.store, campaign.campaign_id):
        what = f"{words!r} asks for cells that were run before, and campaign {campaign.campaign_id!r} is new"
        mend = "name a campaign that exists as `campaign_id`, or ask for `missing` cells"
        raise Refused([Problem("cells", what, mend)], where=OF_A_REQUEST)


def _require_room(cells: int, largest_run: int | None) -> None:
    if largest_run is not None and cells > largest_run:
        what = f"{cells:,} cells are asked for, and a run of Airflow starts at most {largest_run:,}"
        mend = "raise AIRFLOW__CORE__MAX_MAP_LENGTH, or ask for some of the cells at a time, such as those of a variant"
        raise Refused([Problem("cells", what, mend)], where=OF_A_REQUEST)
