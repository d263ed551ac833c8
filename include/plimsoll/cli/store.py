"""`plimsoll store`: whether everything in the store is as it was recorded, and how much room it takes and may take."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from plimsoll.cli.output import CampaignArgument, JsonOption, open_store, print_json, print_table, print_text, user_name
from plimsoll.domain.text.wording import plural

if TYPE_CHECKING:
    from plimsoll.services.housekeeping.faults import Checked, OnBytes, OnCampaign
    from plimsoll.services.housekeeping.mending import Mended

store_app = typer.Typer(help="Check the store, see how much room campaigns take, and make room.", no_args_is_help=True)
Campaigns = Annotated[
    list[str], typer.Argument(metavar="[CAMPAIGN]…", help="Ids of campaigns; without one, the whole store.")
]


@store_app.command()
def check(
    campaigns: Campaigns = [],  # noqa: B006  # typer copies it
    *,
    mend: Annotated[
        bool, typer.Option("--mend", help="Mend what can be mended without losing data; say of the rest what to do.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Compare every file with the checksum that was recorded of it, and find files that are missing, can't be read, or
    that nobody refers to.

    Changes nothing without --mend. That puts records, tables and reports back from the bundle of the published report,
    judges attempts again whose verdict or table is damaged, and removes uploads that never ended. It deletes nothing
    that it does not know.

    Exits with 1 if there is a fault, with --mend if one is left.
    """
    from plimsoll.bootstrap import build_toolkit, existing_store
    from plimsoll.services.housekeeping.mending import Mended
    from plimsoll.services.housekeeping.mending import mend as mended
    from plimsoll.services.housekeeping.whole_store import check_store
    from plimsoll.services.store.listing import campaign_folders
    from plimsoll.settings import Settings

    settings = Settings()
    # A misspelt folder must not look like a store without faults
    existing_store(settings)
    toolkit = build_toolkit(settings)
    results: list[tuple[Checked, list[Mended]]] = []
    with _progress(len(campaigns or campaign_folders(toolkit.store)), hidden=as_json) as (on_bytes, on_campaign):
        for checked in check_store(toolkit, campaigns, on_bytes, on_campaign):
            ends = [*mended(toolkit, checked)] if mend else [Mended(fault, fault.mend) for fault in checked.faults]
            results.append((checked, ends))
    faults = [end for _, ends in results for end in ends]
    left = [end for end in faults if end.why_not is not None]
    if as_json:
        print_json(_document(results))
    else:
        for checked, ends in results:
            _show(checked, ends)
        mended_words = f", {len(faults) - len(left)} of them mended" if mend and faults else ""
        files = plural(sum(checked.files for checked, _ in results), "file")
        typer.echo(f"checked {files}: {plural(len(faults), 'fault')}{mended_words}")
        if not mend and any(end.fault.remedy != "nothing" for end in faults):
            typer.echo("`plimsoll store check --mend` mends what it can")
    raise typer.Exit(1 if left else 0)


@store_app.command("usage")
def show_usage(as_json: JsonOption = False) -> None:
    """Show how much room each campaign takes: raw files, tables and Data Docs, the report, records."""
    from plimsoll.services.housekeeping.known import usage

    store = open_store()
    usages = sorted(usage(store), key=lambda use: use.total, reverse=True)
    if as_json:
        entries = [{**asdict(use), "campaign_id": use.campaign_id or None, "total": use.total} for use in usages]
        print_json({"store": store.url(), "total": sum(use.total for use in usages), "usage": entries})
        return
    rows = [
        (use.campaign_id or "other files", *map(_megabytes, (use.raw, use.derived, use.report, use.records, use.total)))
        for use in usages
    ]
    title = f"{store.url()}: {_megabytes(sum(use.total for use in usages))} MB"
    print_table(title, ("campaign", "raw, MB", "derived, MB", "report, MB", "records, MB", "total, MB"), rows)


def _age(text: str) -> timedelta:
    if not (days := re.fullmatch(r"([1-9]\d{0,4})d", text)):
        raise typer.BadParameter(f"{text!r} is no number of days like 90d")
    return timedelta(days=int(days[1]))


def _room(text: str) -> int:
    if not (size := re.fullmatch(r"(\d{1,6}(?:\.\d+)?)(MB|GB|TB)", text)):
        raise typer.BadParameter(f"{text!r} is no size like 50GB")
    return round(float(size[1]) * {"MB": 1e6, "GB": 1e9, "TB": 1e12}[size[2]])


@store_app.command()
def prune(
    *,
    older_than: Annotated[
        timedelta | None,
        typer.Option(parser=_age, metavar="90d", help="Of campaigns that ended longer ago; else PLIMSOLL_RAW_DAYS."),
    ] = None,
    to: Annotated[
        int | None,
        typer.Option(parser=_room, metavar="50GB", help="Of the oldest, until all take no more; else PLIMSOLL_RAW_GB."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only name what would be removed.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Remove raw files of campaigns that have ended and are published. Their reports can be made again, byte for byte;
    their attempts can't be judged again. There is no way back.

    Campaigns that are marked by `plimsoll store keep` stay, and so do those with faults; each is named with the reason.
    The store keeps a record of the removal.
    """
    from plimsoll.bootstrap import build_toolkit, existing_store
    from plimsoll.services.housekeeping.retention import Rule
    from plimsoll.services.housekeeping.retention import prune as pruned
    from plimsoll.services.store.listing import campaign_folders
    from plimsoll.settings import Settings

    settings = Settings()
    existing_store(settings)
    rule = (
        Rule(older_than, to) if older_than or to is not None else Rule.of_settings(settings.raw_days, settings.raw_gb)
    )
    if not rule.is_any:
        raise typer.BadParameter("give --older-than or --to, or set PLIMSOLL_RAW_DAYS or PLIMSOLL_RAW_GB")
    toolkit = build_toolkit(settings)
    with _progress(len(campaign_folders(toolkit.store)), hidden=as_json) as (_, on_campaign):
        outcomes = [*pruned(toolkit, rule, user_name(), on_campaign, dry_run=dry_run)]
    if as_json:
        print_json({"dry_run": dry_run, "campaigns": [asdict(item) for item in outcomes]})
    else:
        for item in outcomes:
            done = "stays" if item.why_not else "would be removed" if dry_run else "removed"
            why = f": {item.why_not}" if item.why_not else ""
            print_text(f"{item.campaign_id}: {_megabytes(item.bytes)} MB of raw files, {item.rule}: {done}{why}")
        gone = sum(item.bytes for item in outcomes if not item.why_not)
        typer.echo(f"{_megabytes(gone)} MB of raw files {'would be ' if dry_run else ''}removed")


@store_app.command()
def keep(
    campaign: CampaignArgument,
    why: Annotated[str, typer.Argument(help="Why its raw files must stay; an empty text takes the mark away.")],
) -> None:
    """Keep the raw files of a campaign from `prune`, and from the settings that do the same."""
    from plimsoll.adapters.clock import SystemClock
    from plimsoll.services.campaign.curating import mark_as_kept
    from plimsoll.services.store.campaigns import CampaignStore

    stored = CampaignStore(open_store(), campaign)
    mark = mark_as_kept(stored, why, user_name(), SystemClock().now())
    typer.echo(f"raw files of campaign {campaign} {'stay' if mark else 'may go'}")


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f}"


def _show(checked: Checked, ends: list[Mended]) -> None:
    for end in ends:
        fault = end.fault
        name = "/".join(filter(None, (fault.campaign_id, fault.path))) or "the store"
        sums = f"\n  sha256 recorded {fault.expected}, now {fault.actual or 'none'}" if fault.expected else ""
        then = "mended" if end.why_not is None else f"To mend it: {end.why_not}"
        print_text(f"{name}: {fault.kind}: {fault.what}{sums}\n  {then}")
    if checked.in_progress:
        where, names = checked.campaign_id or "the store", ", ".join(checked.in_progress)
        print_text(f"{where}: young, or of a running attempt, and perhaps still being written: {names}")


def _document(results: list[tuple[Checked, list[Mended]]]) -> dict[str, object]:
    return {
        "campaigns": sum(bool(checked.campaign_id) for checked, _ in results),
        "files": sum(checked.files for checked, _ in results),
        "faults": [
            {
                "campaign_id": end.fault.campaign_id or None,
                "path": end.fault.path,
                "kind": end.fault.kind,
                "what": end.fault.what,
                "expected_sha256": end.fault.expected or None,
                "actual_sha256": end.fault.actual or None,
                "mended": end.why_not is None,
                "to_mend": end.why_not,
            }
            for _, ends in results
            for end in ends
        ],
        "in_progress": [
            "/".join(filter(None, (result.campaign_id, path))) for result, _ in results for path in result.in_progress
        ],
    }


@contextmanager
def _progress(total: int, *, hidden: bool) -> Iterator[tuple[OnBytes, OnCampaign]]:
    """Show on standard error, for a person who waits, which campaign is read and how much was read so far."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=hidden or not console.is_terminal, transient=True) as bar:
        task, read, at = bar.add_task("", total=total), 0, ""

        def on_bytes(size: int) -> None:
            nonlocal read
            read += size
            bar.update(task, description=f"{at}, {read / 1e6:,.0f} MB read")

        def on_campaign(campaign_id: str) -> None:
            nonlocal at
            # It is called when a campaign begins: the one before it is over
            bar.advance(task, 1 if at else 0)
            at = campaign_id

        yield on_bytes, on_campaign
