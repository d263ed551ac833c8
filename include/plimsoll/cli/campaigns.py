"""`plimsoll campaigns` and `plimsoll status`."""

import getpass
from typing import Annotated

import typer

from plimsoll.cli.output import CampaignArgument, JsonOption, print_json, print_table
from plimsoll.domain.plurals import plural

campaigns_app = typer.Typer(help="List the campaigns in the store, annotate them, or delete them.")


@campaigns_app.callback(invoke_without_command=True)
def campaigns(context: typer.Context, as_json: JsonOption = False) -> None:
    """Without a command, `list`."""
    if context.invoked_subcommand is None:
        list_campaigns(as_json)


@campaigns_app.command("list")
def list_campaigns(as_json: JsonOption = False) -> None:
    """List the campaigns in the store."""
    from plimsoll.bootstrap import existing_store
    from plimsoll.services.campaign.annotating import read_note
    from plimsoll.services.store.campaigns import CampaignStore, campaign_ids
    from plimsoll.settings import Settings

    store = existing_store(Settings())
    notes = {name: read_note(store, name) for name in campaign_ids(store)}
    titles = {name: CampaignStore(store, name).definition().title for name in notes}
    found = [(name, titles[name], note.text if note else "") for name, note in notes.items()]
    if as_json:
        print_json([{"campaign_id": name, "title": title, "note": note} for name, title, note in found])
        return
    if not found:
        typer.echo(f"there are no campaigns in {store.url()}")
        return
    columns = ("campaign", "title", "note") if any(notes.values()) else ("campaign", "title")
    print_table(f"Campaigns in {store.url()}", columns, [row[: len(columns)] for row in found])


@campaigns_app.command()
def note(
    campaign: CampaignArgument,
    text: Annotated[str, typer.Argument(help="What readers should know; an empty text removes the note.")],
) -> None:
    """Write a note on a campaign, in place of the one it has.

    Pages and lists show it at once, the report once it is made again.
    """
    from plimsoll.adapters.clock import SystemClock
    from plimsoll.bootstrap import existing_store
    from plimsoll.services.campaign.annotating import annotate
    from plimsoll.services.store.campaigns import CampaignStore
    from plimsoll.settings import Settings

    written = annotate(
        CampaignStore(existing_store(Settings()), campaign), text, getpass.getuser(), SystemClock().now()
    )
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
    from plimsoll.services.campaign.deleting import deletable, delete_campaign
    from plimsoll.settings import Settings

    toolkit, by = build_toolkit(Settings()), getpass.getuser()
    found = deletable(toolkit, campaign, by, take_over=take_over)
    if not yes:
        what = f"{plural(found.attempts, 'attempt')} in {plural(found.files, 'file')}"
        typer.echo(f"{campaign} has {what}. Nothing of it can be had again.")
        typer.confirm("Delete all of it?", abort=True)
        if typer.prompt("Once more: type the campaign's id") != campaign:
            raise typer.BadParameter("that is another id: nothing was deleted")
    deleted = delete_campaign(toolkit, campaign, by, take_over=take_over)
    typer.echo(f"deleted {deleted.campaign_id}: {plural(deleted.attempts, 'attempt')}, {plural(deleted.files, 'file')}")


def status(campaign: CampaignArgument, as_json: JsonOption = False) -> None:
    """Show how far a campaign is, cell by cell."""
    from plimsoll.adapters.clock import SystemClock
    from plimsoll.adapters.owners import LocalProcesses
    from plimsoll.bootstrap import existing_store
    from plimsoll.domain.units import show_usd
    from plimsoll.services.campaign.progress import campaign_progress
    from plimsoll.settings import Settings

    progress = campaign_progress(existing_store(Settings()), campaign, now=SystemClock().now(), owners=LocalProcesses())
    if as_json:
        print_json(progress.model_dump(mode="json"))
        return
    rows = [
        (cell.cell.id, cell.state, cell.attempt or "", cell.progress.phase if cell.progress else "", cell.reason)
        for cell in progress.cells
    ]
    budget = "" if progress.budget_usd is None else f" of {show_usd(progress.budget_usd)}"
    cost = f", {show_usd(progress.usd)}{budget} spent so far" if progress.usd else ""
    print_table(f"{progress.title} ({campaign}){cost}", ("cell", "state", "attempt", "phase", "reason"), rows)
