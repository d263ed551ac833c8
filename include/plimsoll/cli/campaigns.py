"""`plimsoll campaigns`; `plimsoll compare`: two of them side by side; `plimsoll import`: runs that others made."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plimsoll.cli.output import (
    CampaignArgument,
    JsonOption,
    open_store,
    print_json,
    print_table,
    print_text,
    print_view,
    user_name,
)
from plimsoll.domain.text.wording import plural

if TYPE_CHECKING:
    from plimsoll.domain.attempt.status import CampaignSummary
    from plimsoll.ports.store import ResultStore

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
    from plimsoll.domain.text.errors import DamagedRecord, DefinitionError, NotFound
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


def _pairs(values: list[str]) -> list[str]:
    for value in values:
        a, equals, b = value.partition("=")
        if not (a and equals and b):
            raise typer.BadParameter(f"{value!r} is not ID_IN_A=ID_IN_B")
    return values


_A = Annotated[str, typer.Argument(metavar="A", help="Id of the campaign to compare with, as with a control.")]
_B = Annotated[str, typer.Argument(metavar="B", help="Id of the campaign to compare.")]
_Pair = Annotated[
    list[str],
    typer.Option(
        callback=_pairs,
        metavar="ID_IN_A=ID_IN_B",
        help="Compare these two variants, whose ids differ; can be repeated. Variants with the same id need no pair.",
    ),
]
_Force = Annotated[
    bool,
    typer.Option(
        "--force",
        help="Compare campaigns in spite of differences that make them incomparable. The differences are named.",
    ),
]


def compare(
    a: _A,
    b: _B,
    *,
    pair: _Pair = [],  # noqa: B006  # typer copies it
    force: _Force = False,
    as_json: JsonOption = False,
) -> None:
    """Put two campaigns side by side: environments, capacities and maxima, and which of the differences stand.

    If they are not comparable, such as by another service level, timing or workload, the command names the differences
    and exits with 2.
    """
    from plimsoll.adapters.clock import SystemClock
    from plimsoll.services.publish.results import compare_stored

    pairing = dict(value.split("=", 1) for value in pair)
    comparison = compare_stored(open_store(), a, b, pairing=pairing, force=force, now=SystemClock().now())
    if as_json:
        print_json(comparison.model_dump(mode="json"))
        return
    from plimsoll.report.compare.view import comparison_view

    print_view(comparison_view(comparison))


_Description = Annotated[
    Path, typer.Argument(metavar="FILE", help="YAML file that says what to import: see docs/guides/importing.md.")
]


def import_runs(description: _Description, as_json: JsonOption = False) -> None:
    """Import runs that others made, and judge them; `plimsoll report` then reports them like any campaign.

    Files already imported are left as they are. Exits with 0 whatever the verdicts, and with 2 where the import itself
    is refused.
    """
    from plimsoll.adapters.stores.local_files import ImportFolder, read_text
    from plimsoll.analysis import grouped
    from plimsoll.bootstrap import build_toolkit
    from plimsoll.report.formatting import listing
    from plimsoll.services.imports.description import DescribedRun, parse_description
    from plimsoll.services.imports.importing import LocalFile, import_runs
    from plimsoll.settings import Settings

    described = parse_description(read_text(description), str(description))
    folder = ImportFolder(description.parent)

    def find(wanted: DescribedRun) -> tuple[LocalFile, ...]:
        return folder.find(wanted.patterns, required=wanted.required)

    verdicts = import_runs(build_toolkit(Settings()), described, find, (lambda _: None) if as_json else print_text)
    if as_json:
        cells = {verdict.cell.id: verdict.outcome for verdict in verdicts}
        warnings = {verdict.cell.id: list(verdict.warnings) for verdict in verdicts}
        print_json({"campaign_id": described.campaign, "cells": cells, "warnings": warnings})
        return
    cells_of = grouped((warning, verdict.cell.id) for verdict in verdicts for warning in verdict.warnings)
    for warning, ids in cells_of.items():
        print_text(f"Warning: {warning} ({listing(ids, 5)})")
    typer.echo(
        f"campaign {described.campaign}: {plural(len(verdicts), 'cell')}. "
        f"`plimsoll report {described.campaign}` makes its report"
    )
