"""`plimsoll status`: how far campaigns are, and how the loads that run now fare."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from plimsoll.cli.output import JsonOption, open_store, print_json, print_table, print_text
from plimsoll.domain.text.wording import figure

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from plimsoll.domain.attempt.status import AttemptProgress, CampaignProgress, CellProgress
    from plimsoll.ports.store import ResultStore

_OptionalCampaign = Annotated[
    str | None, typer.Argument(help="Id of a campaign in the store. Without it: all cells that run now.")
]
_COLUMNS = ("cell", "phase", "left", "ops/s", "service level", "holds", "last", "highest", "missed", "as of")


def status(campaign: _OptionalCampaign = None, as_json: JsonOption = False) -> None:
    """Show how far a campaign is, cell by cell, and how the service levels of running loads fare, interval by interval.

    Without a campaign: the cells of all campaigns that run now. An interval is shown at most 15 s after its end.
    """
    from plimsoll.adapters.clock import SystemClock
    from plimsoll.adapters.hosts.processes import LocalProcesses
    from plimsoll.services.campaign.show.progress import campaign_progress

    store, now = open_store(), SystemClock().now()
    if campaign is None:
        running = list(_running(store, now))
        if as_json:
            print_json([shown.model_dump(mode="json") for shown in running])
            return
        for shown in running:
            _show_running(shown, now)
        if not running:
            typer.echo(f"no cell runs now in {store.url()}")
        return
    progress = campaign_progress(store, campaign, now=now, owners=LocalProcesses())
    if as_json:
        print_json(progress.model_dump(mode="json"))
        return
    _show_cells(progress, now)
    _show_running(progress, now)


def _running(store: ResultStore, now: datetime) -> Iterator[CampaignProgress]:
    """Yield the campaigns with a cell that runs now, with only these cells. One that can't be read is left out."""
    from plimsoll.adapters.hosts.processes import LocalProcesses
    from plimsoll.domain.text.errors import DamagedRecord, DefinitionError, NotFound
    from plimsoll.services.campaign.show.progress import campaign_progress, recorded_totals
    from plimsoll.services.store.campaigns import CampaignStore
    from plimsoll.services.store.listing import campaign_ids

    owners = LocalProcesses()
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
    from plimsoll.domain.text.units import show_usd
    from plimsoll.services.hosts.deadline import compared, time_for

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
