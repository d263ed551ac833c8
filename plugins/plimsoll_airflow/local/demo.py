"""`make demo`: a campaign from nothing to its report, in one command that cleans up after itself. It is run as any
other: chosen, its DAG run started or found, watched to the end.
"""

import time
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from rich.console import Console

from plimsoll.bootstrap import build_store, load_definition
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.text.errors import NotFound, Refused
from plimsoll.ports.store import ResultStore
from plimsoll.services.campaign.open.planning import is_new_id, new_campaign_id
from plimsoll.services.campaign.open.request import campaign_id_of
from plimsoll.services.campaign.show.progress import campaign_progress
from plimsoll.services.campaign.state.completeness import completeness
from plimsoll.services.definitions.continuing import continued_as
from plimsoll.services.store.campaigns import CampaignStore, StoredCampaign
from plimsoll.services.store.layout import report_key
from plimsoll.services.store.listing import campaign_ids
from plimsoll.settings import Settings
from plimsoll_airflow.local.client import AirflowClient, DagRun
from plimsoll_airflow.local.screen import Screen, open_screen
from plimsoll_airflow.local.stack import Stack
from plimsoll_airflow.runs.ownership import CELL_DAG

MOST_FAILURES = 8


def poll_s(cells: int) -> float:
    """Return the pause before asking for a campaign's run again, s. Airflow reads all its tasks for each answer."""
    return max(2.0, cells / 25)


def unfinished_campaign(store: ResultStore, definition: Definition) -> str | None:
    """Return the newest campaign that can go on with the definition, if it has cells to run or no report; else None.

    Campaigns with ids of people's own do not count: their names say nothing about their time.
    """
    for campaign_id in sorted(campaign_ids(store), reverse=True):
        campaign = CampaignStore(store, campaign_id)
        if is_new_id(definition.name, campaign_id) and _can_go_on(campaign, definition):
            is_published = store.exists(report_key(campaign_id))
            return None if is_published and completeness(campaign).is_complete else campaign_id
    return None


@dataclass(frozen=True)
class CampaignRun:
    """A DAG run of a definition's DAG, and the store with its results."""

    client: AirflowClient
    store: ResultStore
    definition: Definition
    run: DagRun

    @property
    def campaign_id(self) -> str:
        return campaign_id_of(self.definition.name, self.run.conf, self.run.run_after)

    @property
    def has_succeeded(self) -> bool:
        """Tell whether the requested cells are valid. If so, a complete campaign has its report."""
        return self.run.state == "success"

    def watch(self, screen: Screen) -> "CampaignRun":
        """Show the campaign's progress until the run has ended. Returns the ended run."""
        pause_s = poll_s(resolve(self.definition).cells)
        while True:
            current = self.client.dag_run(self.run.dag_id, self.run.run_id)
            progress = None  # until the campaign is planned
            with suppress(NotFound):
                progress = campaign_progress(self.store, self.campaign_id, now=datetime.now(UTC))
            screen(progress)
            if current.is_final:
                return replace(self, run=current)
            time.sleep(pause_s)

    def failures(self) -> list[str]:
        """Return the failed tasks of this run and of its cells' runs, each with the last error in its log."""
        # Airflow gives 100 runs at most: without the state, those that failed might not be among them
        failed = self.client.dag_runs(CELL_DAG, state="failed")
        cells = [run for run in failed if run.conf.get("campaign_id") == self.campaign_id]
        runs = [*cells, self.run] if self.run.state == "failed" else cells
        lines = [line for run in runs for line in self._failures_of(run)]
        more = len(lines) - MOST_FAILURES
        return [*lines[:MOST_FAILURES], f"… and {more} more failed tasks"] if more > 0 else lines

    def _failures_of(self, run: DagRun) -> list[str]:
        tasks = self.client.task_instances(run.dag_id, run.run_id)
        failed = sorted((task for task in tasks if task.state == "failed"), key=lambda task: str(task.ended_at))
        told = [(task.name, self.client.task_errors(run, task) or ["its log says no more"]) for task in failed]
        return [f"{run.dag_id} {run.run_id}, task {name} failed: {errors[-1]}" for name, errors in told]


def start_or_find(client: AirflowClient, store: ResultStore, definition: Definition, now: datetime) -> CampaignRun:
    """Return the run to watch: a living one, else a new run of the unfinished campaign or of a new campaign."""
    for dag_id in (CELL_DAG, definition.dag_id):  # or a living run may be queued for ever
        client.unpause(dag_id)
    for run in client.dag_runs(definition.dag_id):
        if not run.is_final:
            return CampaignRun(client, store, definition, run)
    campaign_id = unfinished_campaign(store, definition) or new_campaign_id(definition.name, now)
    run_id = f"{campaign_id}__{now:%Y%m%dt%H%M%S}"
    run = client.trigger(definition.dag_id, {"campaign_id": campaign_id}, run_id=run_id)
    return CampaignRun(client, store, definition, run)


def _can_go_on(campaign: CampaignStore, definition: Definition) -> bool:
    """Tell whether the campaign can go on with the definition.

    A campaign that is being deleted, or whose definition can't be read, can't.
    """
    try:
        campaign.require_kept()
        return continued_as(campaign.declared(), definition) is not None
    except (Refused, NotFound):
        return False


def run_demo(stack: Stack, settings: Settings, definition_name: str, console: Console) -> bool:
    """Run a campaign of that definition to its report, and stop what this function started. Returns its success."""
    definition = load_definition(settings, definition_name)
    store = build_store(settings)
    try:
        running = stack.up([definition.dag_id, CELL_DAG], kept=False)
        with stack.client(running) as client:
            campaign_run = start_or_find(client, store, definition, datetime.now(UTC))
            _print(console, f"campaign {campaign_run.campaign_id}, DAG run {campaign_run.run.run_id}")
            with open_screen(console) as screen:
                ended = campaign_run.watch(screen)
            _print(console, *outcome(ended))
        _print(console, stack.how_to_open(running))
        return ended.has_succeeded
    finally:
        stack.down_unless_kept()


def outcome(ended: CampaignRun) -> list[object]:
    """Return what to print at the end: the answer and where the report is, or why there is none."""
    if not ended.has_succeeded:
        is_found = is_new_id(ended.definition.name, ended.campaign_id)
        what = "`make demo`" if is_found else "its DAG, triggered with `campaign_id`,"
        mend = f"{what} goes on with campaign {ended.campaign_id}: valid cells are not run again"
        return [*ended.failures(), f"The DAG run ended as {ended.run.state}. {mend}"]
    known = completeness(CampaignStore(ended.store, ended.campaign_id))
    if not known.is_complete:
        return [f"{known.words}; its report is published once all have"]
    # Analysis brings pandas: only for those who get this far.
    from plimsoll.report.words.terminal import answer_view
    from plimsoll.services.publish.results import published_answer

    answer = published_answer(StoredCampaign(ended.store, ended.campaign_id), datetime.now(UTC))
    return [answer_view(answer), f"Report: {ended.store.url(report_key(ended.campaign_id))}"]


def _print(console: Console, *lines: object) -> None:
    # People's and programs' text may have brackets, which rich would take for markup
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)
