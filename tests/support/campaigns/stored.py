"""A stored campaign with cells in every state: for pages, their tests, benchmarks and pictures."""

from datetime import datetime, timedelta
from hashlib import sha256

from tests.fakes.installation import Installation
from tests.support.campaigns.synthetic import Plan, synthetic_campaign

from plimsoll.analysis.campaign.cell_results import AttemptData
from plimsoll.domain.attempt.result import Manifest, ManifestEntry
from plimsoll.domain.attempt.status import AttemptProgress
from plimsoll.domain.campaign.cell import Attempt, AttemptKey
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.ports.store import ResultStore
from plimsoll.services.cell.attempt_state import cancel
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.store.tables import write_table
from plimsoll.strategies.matrix import running_order
from plimsoll_airflow.runs.ownership import CellRun, CellRunId

PHASES = ("provision", "deploy", "populate", "warm-up", "load", "collect", "judge", "done")


def store_every_state(installation: Installation, definition: Definition, campaign_id: str) -> CampaignStore:
    """Store a campaign whose last four cells are invalid, failed, running and waiting. The others are met or missed."""
    cells = [cell.id for cell in sorted(running_order(resolve(definition)), key=lambda cell: cell.id)]
    *_, invalid, failed, running, waiting = cells
    store, now = installation.toolkit.store, installation.toolkit.clock.now()
    loads = sorted(definition.loads)
    capacities = {variant.id: loads[0] for variant in definition.variants}
    plan = Plan(capacities, invalid={invalid}, not_run={failed, running, waiting}, saturation_ops_s=2.0 * loads[-1])
    campaign = store_campaign(store, definition, campaign_id, plan, now)
    store_begun(store, campaign.key(failed, 1), now, "load")
    cancel(AttemptContext(installation.toolkit, campaign.key(failed, 1)), "ada")
    store_begun(store, campaign.key(running, 1), now, "load", seconds_left=5.0, achieved_ops_s=990.0)
    return campaign


def store_later_attempts(
    installation: Installation, campaign: CampaignStore, *, running: str, cancelled: str
) -> CampaignStore:
    """Add a second attempt to two cells whose first one counts: one attempt is under load, the other is cancelled."""
    now = installation.toolkit.clock.now()
    store_begun(campaign.store, campaign.key(running, 2), now, "load", seconds_left=80.0, achieved_ops_s=990.0)
    store_begun(campaign.store, campaign.key(cancelled, 2), now, "load")
    cancel(AttemptContext(installation.toolkit, campaign.key(cancelled, 2)), "ada")
    return campaign


def store_campaign(
    store: ResultStore, definition: Definition, campaign_id: str, plan: Plan, now: datetime
) -> CampaignStore:
    """Store the synthetic campaign of that plan with the files that judging would have written."""
    campaign = CampaignStore(store, campaign_id)
    campaign.open(definition)
    for attempt in synthetic_campaign(definition, plan).attempts:
        _store_attempt(store, campaign.key(attempt.verdict.cell.id, attempt.verdict.key.attempt), attempt, now)
    return campaign


def store_begun(store: ResultStore, key: AttemptKey, now: datetime, phase: str, **facts: float) -> None:
    """Store an attempt that is in that phase now."""
    run = CellRun(CellRunId(key.campaign_id, key.cell_id).run_id, 0, "here")
    begun = Attempt(key=key, owner=run.token, started_at=now, code_version="0.1.0")
    layout.ATTEMPT.write(store, key, begun)
    times = {name: now + timedelta(seconds=2 * place) for place, name in enumerate(PHASES)}
    phases = {name: at for name, at in times.items() if at <= times[phase]}
    stays_new = times[phase] + timedelta(hours=1)  # a load that says nothing for long is longer than expected
    progress = {"phase": phase, "at": stays_new, "phases": phases, **facts}
    layout.PROGRESS.write(store, key, AttemptProgress.model_validate(progress))


def _store_attempt(store: ResultStore, key: AttemptKey, data: AttemptData, now: datetime) -> None:
    store_begun(store, key, now - timedelta(hours=2), "done")  # judged an hour ago: who asks now asks after that
    for name, table in (("intervals", data.intervals), ("pauses", data.pauses)):
        write_table(store, key, name, table)
    log = b"#[a histogram log]\n"
    store.write(layout.attempt_file(key, "raw/load/load.hdr"), log)
    store.write(layout.attempt_file(key, "quality/index.html"), b"<!DOCTYPE html><title>Data Docs</title>")
    files = (ManifestEntry(path="raw/load/load.hdr", size_bytes=len(log), sha256=sha256(log).hexdigest()),)
    layout.MANIFEST.write(store, key, Manifest(key=key, files=files, written_at=now))
    if data.fingerprint:
        layout.FINGERPRINT.write(store, key, data.fingerprint)
    layout.VERDICT.write(store, key, data.verdict.model_copy(update={"key": key}))
