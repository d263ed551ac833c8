"""`plimsoll campaigns`: what is in the store; `plimsoll status`: how far campaigns are, and how running loads fare."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Annotated

import typer

from plimsoll.cli.output import CampaignArgument, JsonOption, open_store, print_json, print_table, print_text, user_name
from plimsoll.domain.attempt.status import AttemptProgress, CampaignProgress, CampaignSummary, CellProgress
from plimsoll.domain.text.errors import DamagedRecord, DefinitionError, NotFound
from plimsoll.domain.text.units import show_usd
from plimsoll.domain.text.wording import figure, plural
from plimsoll.ports.controller import Owners
from plimsoll.ports.store import ResultStore

_OptionalCampaign = Annotated[
    str | None, typer.Argument(help="Id of a campaign in the store. Without it: all cells that run now.")
]
_COLUMNS = ("cell", "phase", "left", "ops/s", "service level", "holds", "last", "highest", "missed", "as of")

campaigns_app = typer.Typer(help="List the campaigns in the store, annotate them, or delete them.")


@campaigns_app.callback(invoke_without_command=True)
def campaigns(context: typer.Context, as_json: JsonOption = False) -> None:
    """Without a command, `list`."""
    if context.invoked_subcommand is None:
        list_campaigns(as_json)


@campaigns_app.command("list")
def list_campaigns(as_json: JsonOption = False) -> None:
    """List the campaigns in the store, the one that began last first.

    Exits with 1 if a campaign can't be read, and names it.
    """
    store = open_store()
    summaries, unread = _summaries(store)
    if as_json:
        print_json([summary.model_dump(mode="json") for summary in summaries])
    elif summaries:
        columns = ("campaign", "state", "began", "definition", "title", "note")
        shown = columns if any(summary.note for summary in summaries) else columns[:-1]
        print_table(f"Campaigns in {store.url()}", shown, [_row(summary)[: len(shown)] for summary in summaries])
    elif not unread:
        typer.echo(f"there are no campaigns in {store.url()}")
    for why in unread:
        print_text(why, err=True)
    raise typer.Exit(1 if unread else 0)


def _summaries(store: ResultStore) -> tuple[list[CampaignSummary], list[str]]:
    """Return the campaigns of the store, and why others can't be read."""
    from plimsoll.adapters.clock import SystemClock
    from plimsoll.adapters.hosts.processes import LocalProcesses
    from plimsoll.services.campaign.show.status import campaign_summary
    from plimsoll.services.campaign.state.reading import Memory
    from plimsoll.services.campaign.state.runs import worked_on_by
    from plimsoll.services.store.campaigns import CampaignStore
    from plimsoll.services.store.listing import campaign_ids

    now, owners = SystemClock().now(), LocalProcesses()
    memory = Memory(owners=owners)
    summaries: list[CampaignSummary] = []
    unread: list[str] = []
    for name in campaign_ids(store):
        try:
            summary = campaign_summary(store, name, CampaignStore(store, name).resolved(), now, memory)
            owner = worked_on_by(store, owners, name, now)
            summaries.append(summary.waiting_for(owner and f"the next step of {owner}"))
        except NotFound:  # it was deleted meanwhile
            continue
        except (DamagedRecord, DefinitionError) as error:
            unread.append(f"{name}: {error}")
    return sorted(summaries, key=lambda campaign: campaign.started_at or now, reverse=True), unread


def _row(summary: CampaignSummary) -> tuple[str, ...]:
    began = f"{summary.started_at:%Y-%m-%d %H:%M} UTC" if summary.started_at else "not yet"
    return summary.campaign_id, summary.state, began, summary.definition, summary.title, summary.note


@campaigns_app.command()
def note(
    campaign: CampaignArgument,
    text: Annotated[str, typer.Argument(help="What readers should know; an empty text removes the note.")],
) -> None:
    """Write a note on a campaign, in place of the one it has.

    Pages and lists show it at once, the report once it is made again.
    """
    from plimsoll.adapters.clock import SystemClock
    from plimsoll.services.campaign.curating import annotate
    from plimsoll.services.store.campaigns import CampaignStore

    written = annotate(CampaignStore(open_store(), campaign), text, user_name(), SystemClock().now())
    typer.echo(f"campaign {campaign} has {'this note now' if written else 'no note now'}")


@campaigns_app.command()
def delete(
    campaign: CampaignArgument,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask: for scripts.")] = False,
    take_over: Annotated[
        bool,
        typer.Option(
            "--take-over",
            help="Delete it although the store says that an Airflow runs it, or hosts do not answer. For an Airflow or "
            "hosts that no longer exist.",
        ),
    ] = False,
) -> None:
    """Delete a campaign with everything that was measured, its report too. There is no way back.

    Asks twice. Refused while a cluster of the campaign lives or anything of it runs. The store keeps a record of who
    deleted the campaign, and when.
    """
    from plimsoll.bootstrap import build_toolkit
    from plimsoll.services.campaign.curating import deletable, delete_campaign
    from plimsoll.settings import Settings

    toolkit, by = build_toolkit(Settings()), user_name()
    deletion = deletable(toolkit, campaign, by, take_over=take_over)
    if not yes:
        what = f"{plural(deletion.attempts, 'attempt')} in {plural(deletion.files, 'file')}"
        typer.echo(f"{campaign} has {what}. Nothing of it can be had again.")
        typer.confirm("Delete all of it?", abort=True)
        if typer.prompt("Once more: type the campaign's id") != campaign:
            raise typer.BadParameter("that is another id: nothing was deleted")
    deleted = delete_campaign(toolkit, campaign, by, take_over=take_over)
    typer.echo(f"deleted {deleted.campaign_id}: {plural(deleted.attempts, 'attempt')}, {plural(deleted.files, 'file')}")


def status(campaign: _OptionalCampaign = None, as_json: JsonOption = False) -> None:
    """Show how far a campaign is, cell by cell, and how the service levels of running loads fare, interval by interval.

    Without a campaign: the cells of all campaigns that run now. An interval is shown at most 15 s after its end.
    """
    from plimsoll.adapters.clock import SystemClock
    from plimsoll.adapters.hosts.processes import LocalProcesses
    from plimsoll.services.campaign.show.progress import campaign_progress

    store, now, owners = open_store(), SystemClock().now(), LocalProcesses()
    if campaign is None:
        running = list(_running(store, now, owners))
        if as_json:
            print_json([shown.model_dump(mode="json") for shown in running])
            return
        for shown in running:
            _show_running(shown, now)
        if not running:
            typer.echo(f"no cell runs now in {store.url()}")
        return
    progress = campaign_progress(store, campaign, now=now, owners=owners)
    if as_json:
        print_json(progress.model_dump(mode="json"))
        return
    _show_cells(progress, now)
    _show_running(progress, now)


def _running(store: ResultStore, now: datetime, owners: Owners) -> Iterator[CampaignProgress]:
    """Yield the campaigns with a cell that runs now, with only these cells. One that can't be read is left out."""
    from plimsoll.services.campaign.show.progress import campaign_progress, recorded_totals
    from plimsoll.services.store.campaigns import CampaignStore
    from plimsoll.services.store.listing import campaign_ids

    for name in campaign_ids(store):
        try:
            if recorded_totals(CampaignStore(store, name)) is not None:  # it is settled: no attempt of it runs
                continue
            progress = campaign_progress(store, name, now=now, owners=owners)
        except (NotFound, DamagedRecord, DefinitionError):  # `plimsoll campaigns` names what can't be read
            continue
        if cells := tuple(cell for cell in progress.cells if cell.runs):
            yield progress.model_copy(update={"cells": cells})


def _show_cells(progress: CampaignProgress, now: datetime) -> None:
    from plimsoll.services.hosts.limits import compared, time_for

    rows = [
        (cell.cell.id, cell.state, cell.attempt or "", cell.progress.phase if cell.progress else "", cell.reason)
        for cell in progress.cells
    ]
    budget = "" if progress.budget_usd is None else f" of {show_usd(progress.budget_usd)}"
    cost = f", {progress.spent}{budget} spent so far" if progress.spent else ""
    columns = ("cell", "state", "attempt", "phase", "reason")
    print_table(f"{progress.title} ({progress.campaign_id}){cost}{_time_left(progress)}", columns, rows)
    is_running = any(cell.runs for cell in progress.cells)
    if is_running and progress.finish_by and (end := progress.expected_end(now)):
        print_text(f"{'This round' if progress.in_rounds else 'It'} ends {compared(end, progress.finish_by)}")
        if progress.in_rounds:
            print_text(time_for(progress, now))
    if progress.parameters:
        print_text(f"parameters: {', '.join(f'{name} {value}' for name, value in progress.parameters.items())}")
    if progress.begun_by:
        print_text(str(progress.begun_by))
    for approval in progress.approvals:
        print_text(str(approval))
    for threshold in progress.thresholds:
        typer.echo(threshold.sentence)


def _time_left(progress: CampaignProgress) -> str:
    """Return the time left as the end of a heading; empty where nothing runs."""
    if not any(cell.runs for cell in progress.cells):
        return ""
    over = progress.seconds_over
    longer = f", longer than expected by {timedelta(seconds=round(over))}" if over else ""
    left = progress.seconds_left
    about = "" if left is None else f", about {timedelta(seconds=round(left))} left"
    return f"{about}{' in this round' if about and progress.in_rounds else ''}{longer}"


def _show_running(progress: CampaignProgress, now: datetime) -> None:
    rows = [row for cell in progress.cells if cell.runs for row in _rows(cell, now)]
    if rows:
        print_table(f"Running now in {progress.campaign_id}", _COLUMNS, rows)


def _rows(cell: CellProgress, now: datetime) -> Sequence[tuple[str, ...]]:
    """Return a row for each service level of the cell that is watched, or one on its phase alone."""
    known = cell.progress
    if known is None:
        return [(cell.cell.id, "begins", *("",) * (len(_COLUMNS) - 2))]
    head, age = _head(cell, known), f"{max(0.0, (now - known.at).total_seconds()):.0f} s ago"
    if not known.levels:
        watched = "not watched, or none judged yet" if known.phase == "load" else ""
        return [(*head, watched, *("",) * 4, age)]
    return [
        (
            *head,
            f"p{level.level}",
            "no" if level.missed else "so far",
            "no answer" if level.last_ms is None else f"{figure(level.last_ms)} ms",
            f"{figure(level.worst_ms)} ms",
            f"{level.missed} of {level.judged}",
            age,
        )
        for level in known.levels
    ]


def _head(cell: CellProgress, known: AttemptProgress) -> tuple[str, str, str, str]:
    """Return cell, phase, time left and rate; empty where they are not known."""
    left = f"{known.seconds_left:,.0f} s" if known.seconds_left else ""
    if cell.seconds_over:
        left = f"longer than expected, by {cell.seconds_over:,.0f} s"
    rate = "" if known.achieved_ops_s is None else f"{known.achieved_ops_s:,.0f}"
    return cell.cell.id, known.phase, left, rate
