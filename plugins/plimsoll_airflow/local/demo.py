"""`make demo`: a campaign from nothing to its report, in one command that cleans up after itself."""

from datetime import UTC, datetime

from rich.console import Console

from plimsoll.bootstrap import build_store, load_definition
from plimsoll.services.campaign.completeness import completeness
from plimsoll.services.store.campaigns import CampaignStore, StoredCampaign
from plimsoll.services.store.layout import report_key
from plimsoll.settings import Settings
from plimsoll_airflow.local.campaign_run import CampaignRun, start_or_find
from plimsoll_airflow.local.screen import open_screen
from plimsoll_airflow.local.stack import Stack
from plimsoll_airflow.ownership import CELL_DAG


def run_demo(stack: Stack, settings: Settings, definition_name: str, console: Console) -> bool:
    """Run a campaign of that definition to its report, and stop what this function started. Returns its success."""
    definition = load_definition(settings, definition_name)
    store = build_store(settings)
    try:
        running = stack.up([definition.dag_id, CELL_DAG], kept=False)
        with stack.client(running) as client:
            found = start_or_find(client, store, definition, _now())
            _print(console, f"campaign {found.campaign_id}, DAG run {found.run.run_id}")
            with open_screen(console) as screen:
                ended = found.watch(screen, _now)
            _print(console, *outcome(ended))
        _print(console, stack.how_to_open(running))
        return ended.has_succeeded
    finally:
        stack.down_unless_kept()


def outcome(ended: CampaignRun) -> list[object]:
    """Return what to print at the end: the answer and where the report is, or why there is none."""
    if not ended.has_succeeded:
        mend = f"`make demo` goes on with campaign {ended.campaign_id}: valid cells are not run again"
        return [*ended.failures(), f"The DAG run ended as {ended.run.state}. {mend}"]
    found = completeness(CampaignStore(ended.store, ended.campaign_id))
    if not found.is_complete:
        return [f"{found.words}; its report is published once all have"]
    # Analysis brings pandas: only for those who get this far.
    from plimsoll.report.words.terminal import answer_view
    from plimsoll.services.publish.answering import published_answer

    answer = published_answer(StoredCampaign(ended.store, ended.campaign_id), _now())
    return [answer_view(answer), f"Report: {ended.store.url(report_key(ended.campaign_id))}"]


def _print(console: Console, *things: object) -> None:
    for thing in things:
        console.print(thing, markup=False, highlight=False, soft_wrap=True)


def _now() -> datetime:
    return datetime.now(UTC)
