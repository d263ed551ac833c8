"""`plimsoll run`: a campaign in this process, without Airflow."""

from __future__ import annotations

import signal
from contextlib import contextmanager, suppress
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from plimsoll.cli.output import DefinitionArgument, SetOption, log_shown, print_text, show_answer, user_name
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.keys.trigger import Approval
from plimsoll.domain.text.errors import Problem, ProviderError, Refused
from plimsoll.domain.text.wording import meant
from plimsoll.services.campaign.open.planning import make_plan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.ports.store import ResultStore
    from plimsoll.services.campaign.open.creation import CampaignPlan
    from plimsoll.services.ownership import Holder
    from plimsoll.services.steps.running import CellRunEnd
    from plimsoll.services.toolkit import Toolkit

_INTERRUPTED = 130


def run(  # noqa: PLR0913, PLR0917  # each is an option
    definition: DefinitionArgument,
    values: SetOption = None,
    campaign: Annotated[
        str, typer.Option(metavar="ID", help="Continue this campaign. Without it, a new campaign begins.")
    ] = "",
    new_campaign: Annotated[
        str, typer.Option(metavar="ID", help="Begin a campaign with this id, in place of one made of name and time.")
    ] = "",
    cells: Annotated[
        str,
        typer.Option(
            "--cells",
            "--cell",
            help="`missing`, `failed`, `invalid`, or ids and patterns of cells. A cell named by its id runs again even "
            "if it is valid.",
        ),
    ] = "",
    take_over: Annotated[
        bool,
        typer.Option("--take-over", help="Go on although the store says that a run of Airflow works on the campaign."),
    ] = False,
    approve: Annotated[
        bool, typer.Option("--approve", help="Approve in your name what the campaign may cost, where `approve` asks.")
    ] = False,
) -> None:
    """Run the cells that a campaign's strategy asks for, one after another, then its quality gate and report.

    Exits with 1 if a cell could not be judged or a cluster could not be destroyed at once, with 2 if a requested cell
    has no valid attempt or a request can't be met, and with 130 after Ctrl-C. To continue after Ctrl-C, run it again
    with `--campaign`.
    """
    from plimsoll.bootstrap import build_toolkit, load_document
    from plimsoll.services.campaign.open.creation import open_campaign, requested_definition
    from plimsoll.services.campaign.open.remarks import remarks_on
    from plimsoll.services.campaign.open.request import campaign_id_of, read_request, values_set
    from plimsoll.services.campaign.state.runs import end_run, require_no_other_run
    from plimsoll.services.hosts.limits import approval_refused, missing_approval
    from plimsoll.services.ownership import held
    from plimsoll.services.store.campaigns import CampaignStore, StoredCampaign
    from plimsoll.settings import Settings

    settings = Settings()
    document, toolkit = load_document(settings, definition), build_toolkit(settings)
    named = StoredCampaign(toolkit.store, campaign or new_campaign)
    declared = requested_definition(document, values_set(values), named)
    resolved = resolve(declared)
    request = read_request(resolved, {"campaign_id": campaign or new_campaign, "cells": cells})
    _require_the_one_meant(toolkit.store, campaign, new_campaign)
    if request.campaign_id and not take_over:
        require_no_other_run(toolkit, request.campaign_id)
    at = toolkit.clock.now()
    known = CampaignStore(toolkit.store, campaign_id_of(declared.name, request.model_dump(), at))
    missing = None
    with suppress(ProviderError):  # options that can't be read have no price, and are refused below with their lines
        missing = missing_approval(toolkit, known, resolved)
    if missing and not approve:
        raise approval_refused(known.campaign_id, missing, "if you may, approve it by `--approve`, in your name")
    plan = open_campaign(toolkit, declared, request, at, document)
    for remark in remarks_on(document, toolkit, make_plan(resolved, parallel=1)):
        print_text(f"Note: {remark}.")
    with (
        held(toolkit, plan.campaign_id) as holder,
        log_shown(),
        _explaining_how_to_continue(definition, plan.campaign_id),
    ):
        if take_over:
            end_run(toolkit.store, plan.campaign_id)
        else:  # again: a run may have begun just before the campaign was held
            require_no_other_run(toolkit, plan.campaign_id)
        typer.echo(f"campaign {plan.campaign_id}: {plan.summary}")
        if missing:
            approval = Approval(by=user_name(), at=at, usd=missing.usd)
            known.record_approval(approval)
            print_text(str(approval))
        ran = _run(toolkit, plan, holder)
    _finish(toolkit, plan, ran)


def _require_the_one_meant(store: ResultStore, campaign: str, new_campaign: str) -> None:
    """Raise Refused if the campaign to continue does not exist, or the one to begin does."""
    from plimsoll.services.store.listing import campaign_exists, campaign_ids

    if campaign and new_campaign:
        problem = Problem("--new-campaign", "stands beside --campaign", "give one of them: to begin, or to continue")
    elif campaign and not campaign_exists(store, campaign):
        begins = f"a new campaign with this id begins with `--new-campaign {campaign}`"
        mend = f"{meant(campaign, campaign_ids(store))} {begins}".strip()
        problem = Problem("--campaign", f"there is no campaign {campaign!r} in {store.url()}", mend)
    elif new_campaign and campaign_exists(store, new_campaign):
        mend = f"`--campaign {new_campaign}` continues it; give another id to begin a new one"
        problem = Problem("--new-campaign", f"there is a campaign {new_campaign!r} in {store.url()} already", mend)
    else:
        return
    raise Refused([problem], where="what the run was asked for")


def _run(toolkit: Toolkit, plan: CampaignPlan, holder: Holder) -> tuple[CellRunEnd, ...]:
    from plimsoll.services.campaign.state.completeness import all_rounds
    from plimsoll.services.steps.running import run_cells
    from plimsoll.services.store.campaigns import CampaignStore

    campaign = CampaignStore(toolkit.store, plan.campaign_id)

    def while_held() -> Iterator[str]:
        for cell in all_rounds(campaign, toolkit.clock, plan.cells) if plan.goes_on else plan.cells:
            holder.require()
            yield cell.id

    return run_cells(toolkit, plan.campaign_id, while_held(), holder.hold.owner, print_text)


def _finish(toolkit: Toolkit, plan: CampaignPlan, ran: tuple[CellRunEnd, ...]) -> None:
    """Gate and report, if the requested cells are valid. Exits with 1 after other problems."""
    from plimsoll.services.publish.publishing import pass_gate, publish_report

    troubles = [trouble for end in ran for trouble in end.troubles]
    for trouble in troubles:
        print_text(f"plimsoll: {trouble}", err=True)
    passed = pass_gate(toolkit, plan.campaign_id, list(dict.fromkeys(end.work.key.cell_id for end in ran)))
    if passed.is_complete:
        show_answer(toolkit, plan.campaign_id, publish_report(toolkit, plan.campaign_id))
    else:
        print_text(f"{passed.words}; its report is published once all have")
    raise typer.Exit(1 if troubles else 0)


@contextmanager
def _explaining_how_to_continue(definition: str, campaign_id: str) -> Iterator[None]:
    """Print how to continue when the block ends early: by an error, Ctrl-C, a closed terminal or SIGTERM."""
    # They raise KeyboardInterrupt as Ctrl-C does, upon which the running cell's cluster is destroyed
    before = {number: signal.signal(number, signal.default_int_handler) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    except BaseException as error:
        typer.echo(f"To go on where it was: plimsoll run {quote(definition)} --campaign {campaign_id}", err=True)
        if isinstance(error, KeyboardInterrupt):
            raise typer.Exit(_INTERRUPTED) from None
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
