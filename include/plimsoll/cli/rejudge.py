"""`plimsoll rejudge`: reach all verdicts of a campaign again from its raw files."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from plimsoll.cli.output import CampaignArgument, JsonOption, print_json, print_table
from plimsoll.domain.text.wording import plural

if TYPE_CHECKING:
    from plimsoll.services.judge.rejudging import Rejudged

_Jobs = Annotated[
    int | None,
    typer.Option("--jobs", "-j", min=1, show_default="processors", help="How many attempts to judge at once."),
]


_Sliding = Annotated[
    bool,
    typer.Option("--sliding", help="Judge the campaign's first service level by sliding windows too, from now on."),
]


def rejudge(
    campaign: CampaignArgument, *, jobs: _Jobs = None, sliding: _Sliding = False, as_json: JsonOption = False
) -> None:
    """Judge every collected attempt of a campaign again, from its raw files and by today's rules, in parallel.

    New verdicts and tables replace the earlier ones. An earlier verdict that differs is kept. If the command runs
    twice, the second time changes nothing. A published report stays as it is until `plimsoll report` makes it again.

    Exits with 1 if an attempt could not be judged again; that attempt keeps its verdict.
    """
    from plimsoll.services.judge.rejudging import processors, start_imports

    jobs = jobs or processors()
    if jobs > 1:
        start_imports()  # beside what follows, which also takes a while to import

    from functools import partial

    from plimsoll.bootstrap import build_toolkit, existing_store
    from plimsoll.services.judge.rejudging import collected_attempts, rejudge
    from plimsoll.services.store.campaigns import CampaignStore
    from plimsoll.services.store.judged import require_raw_files
    from plimsoll.settings import Settings

    settings = Settings()
    stored = CampaignStore(existing_store(settings), campaign)
    keys = collected_attempts(stored)
    if sliding:
        for key in keys:  # else nothing could judge it by these windows, and no report could be made any more
            require_raw_files(stored.store, key)
        stored.add_sliding_windows()
    with _progress(len(keys), hidden=as_json) as advance:
        results = rejudge(partial(build_toolkit, settings), keys, jobs, advance)
    if as_json:
        print_json({"campaign_id": campaign, "attempts": [_entry(result) for result in results]})
    else:
        _show(campaign, results)
    raise typer.Exit(1 if any(result.failure for result in results) else 0)


@contextmanager
def _progress(total: int, hidden: bool) -> Iterator[Callable[["Rejudged"], None]]:
    """Show a progress bar on standard error, for a person who waits."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("judging"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=hidden or not console.is_terminal) as bar:
        task = bar.add_task("", total=total)
        yield lambda _: bar.advance(task)


def _entry(result: "Rejudged") -> dict[str, object]:
    return {
        "attempt": str(result.key),
        "before": result.before,
        "after": result.after,
        "same": result.same,
        "failure": result.failure or None,
    }


def _show(campaign: str, results: "tuple[Rejudged, ...]") -> None:
    judged = [result for result in results if not result.failure]
    changed = [result for result in judged if result.before != result.after]
    other = sum(not result.same for result in judged) - len(changed)
    if listed := [*changed, *(result for result in results if result.failure)]:
        rows = [(str(item.key), item.before or "none", item.after or "unchanged", item.failure) for item in listed]
        print_table("Changed, or not judged", ("attempt", "before", "now", "why not"), rows)
    typer.echo(
        f"judged again: {plural(len(judged), 'attempt')}; outcomes that changed: {len(changed)}, "
        f"other figures alone: {other}"
    )
    if changed or other:
        typer.echo(f"`plimsoll report {campaign}` makes a report of them")
