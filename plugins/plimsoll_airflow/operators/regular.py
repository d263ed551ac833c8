"""The tasks of the DAGs that run at regular times: that of `reaper`, which also ends each campaign, removes clusters
without an owner; that of `retention` raw files, by the settings; that of `schedules` tells of campaigns that did not
start when they were due, or are about to end too late.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import chain

from airflow.providers.standard.operators.trigger_dagrun import XCOM_RUN_ID
from airflow.sdk import BaseOperator, Context
from airflow.sdk.types import RuntimeTaskInstanceProtocol

from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.hosts.cluster import Cluster
from plimsoll.domain.text.errors import DamagedRecord, DefinitionError, NotFound, StoreError
from plimsoll.services.campaign.state.runs import end_run, owners_of_runs
from plimsoll.services.hosts.kept_records import assignment_under_way
from plimsoll.services.hosts.reaping import Reaped, reap
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.store.listing import campaigns_by_definition
from plimsoll.settings import Settings
from plimsoll_airflow.internals.inventory import due_times
from plimsoll_airflow.internals.moved import AirflowFailException, is_paused
from plimsoll_airflow.operators.next_round import run_of_next_round
from plimsoll_airflow.runs import log_messages, notices
from plimsoll_airflow.runs.installation import own_installation
from plimsoll_airflow.runs.own_task import final
from plimsoll_airflow.runs.ownership import (
    CAMPAIGN_ID,
    CELL_DAG,
    LIVE_STATES,
    NEXT_ROUND_TASK,
    PLAN_TASK,
    RETENTION_DAG,
    CampaignRunOwner,
    CellRun,
)
from plimsoll_airflow.wiring.core import sound_definitions, timetable, toolkit


class Reap(BaseOperator):
    """Destroy every cluster that no living run of the DAG `cell` owns, and no other Airflow or process.

    With `campaign_id` every cluster of that campaign.
    """

    def execute(self, context: Context) -> dict[str, list[str]]:
        """Return the keys of the clusters destroyed and kept, by the run's Params. `dry_run` destroys nothing."""
        params = context["params"]
        return self.run_pass(context, params.get("campaign_id") or "", dry_run=bool(params["dry_run"]))

    def run_pass(self, context: Context, campaign_id: str, *, dry_run: bool, ended: str = "") -> dict[str, list[str]]:
        """Do everything that is possible, report it, and only then fail if anything was not possible.

        Kept hosts of the campaign `ended` are destroyed.
        """
        ti, now = context["ti"], datetime.now(UTC)
        with final():
            mine = "" if campaign_id else own_installation()

        def is_kept(cluster: Cluster) -> bool:
            return cluster.id.campaign_id != campaign_id if campaign_id else is_owned(cluster, ti, now, mine, ended)

        reaped = reap(toolkit(), is_kept, dry_run=dry_run)
        for line in log_messages.reaped(reaped, now, dry_run=dry_run):
            self.log.info(line)
        for why in reaped.silent:
            self.log.warning(why)
        for trouble in reaped.troubles:
            self.log.error(trouble)
        troubles = (*reaped.troubles, *([] if dry_run else _unsent_notices(context, reaped, now)))
        if troubles:
            raise AirflowFailException("; ".join(troubles))
        return {
            "destroyed": [str(cluster.id) for cluster in reaped.destroyed],
            "kept": [str(cluster.id) for cluster in reaped.kept],
        }


class ReapLeftovers(Reap):
    """The reaper's pass in another DAG, without the reaper's Params: destroys clusters without an owner."""

    def execute(self, context: Context) -> dict[str, list[str]]:
        """Return the keys of clusters destroyed and kept. Kept hosts of the campaign end, unless a round follows."""
        ti = context["ti"]
        campaign_id = ti.xcom_pull(task_ids=PLAN_TASK, key=CAMPAIGN_ID) or ""
        if campaign_id:
            # A next round says for itself when it begins. Where the store fails, time ends it; clusters come first.
            with final(), suppress(StoreError):
                end_run(toolkit().store, campaign_id, CampaignRunOwner(ti.dag_id, ti.run_id, own_installation()).token)
        follower = ti.xcom_pull(task_ids=NEXT_ROUND_TASK, key=XCOM_RUN_ID)
        # The run is named before it is started, which may have failed.
        is_followed = follower and ti.get_dr_count(ti.dag_id, run_ids=[follower], states=LIVE_STATES)
        return self.run_pass(context, "", dry_run=False, ended="" if is_followed else campaign_id)


def is_owned(cluster: Cluster, ti: RuntimeTaskInstanceProtocol, now: datetime, mine: str, ended: str = "") -> bool:
    """Tell whether a run that has not ended owns the cluster. `mine` is the installation of Airflow that asks.

    Kept hosts are owned between cells too, until they expire, while a run of the campaign lives, except those of the
    campaign `ended`. Owners other than this Airflow's runs own a cluster until it expires, or until they are known
    to have ended.
    """
    # Whoever was given kept hosts last may not be named on them yet: that takes until they have answered.
    owners = (cluster.owner, *(_user_on_record(cluster) if cluster.id.is_kept else ()))
    own = {owner: run.run_id for owner in owners if (run := CellRun.of(owner, mine))}
    others = [owner for owner in owners if owner not in own]
    if cluster.expires_at > now and any(toolkit().owners.is_alive(owner) is not False for owner in others):
        return True
    if own and ti.get_dr_count(CELL_DAG, run_ids=list(own.values()), states=LIVE_STATES):
        return True
    if cluster.owner not in own:
        return False
    may_be_kept = cluster.id.is_kept and cluster.id.campaign_id != ended and cluster.expires_at > now
    return may_be_kept and _goes_on(cluster.id.campaign_id, ti, mine)


def _user_on_record(cluster: Cluster) -> tuple[str, ...]:
    """Return the owner of the attempt that uses the kept cluster by the store's record; none where it can't tell."""
    try:
        use = assignment_under_way(toolkit().store, cluster.id)
    except StoreError:
        return ()
    return (use.owner,) if use else ()


def _goes_on(campaign_id: str, ti: RuntimeTaskInstanceProtocol, mine: str) -> bool:
    """Tell whether a run of this Airflow that works on the campaign lives.

    Other campaigns' runs of its DAG do not count. If the store can't be read, the cluster's expiry decides.
    """
    campaign = CampaignStore(toolkit().store, campaign_id)
    try:
        dag_id = campaign.declared().dag_id
        runs = filter(None, map(CampaignRunOwner.parse, owners_of_runs(campaign.store, campaign_id)))
        own = [run.run_id for run in runs if run.dag_id == dag_id and run.installation == mine]
        # A run is on record once its first task has run, which may be long after it was started.
        own.append(run_of_next_round(campaign))
    except NotFound:
        return False
    except StoreError:
        return True
    return bool(ti.get_dr_count(dag_id, run_ids=own, states=LIVE_STATES))


def _unsent_notices(context: Context, reaped: Reaped, now: datetime) -> Iterator[str]:
    """Send notices of clusters that were destroyed or could not be; yields why a notice could not be sent."""
    if not (reaped.destroyed or reaped.troubles):
        return
    lines = (*log_messages.reaped(reaped, now, dry_run=False), *reaped.troubles)
    title = f"Plimsoll's reaper: destroyed {len(reaped.destroyed)}, in trouble with {len(reaped.troubles)}"
    try:
        notices.send(dict(context), title, "\n".join(lines))
    except notices.NoticeError as error:
        yield str(error)


class RemoveRawFiles(BaseOperator):
    """Remove raw files of campaigns that have ended and are published, by age or to make room."""

    def execute(self, context: Context) -> list[str]:  # noqa: ARG002
        """Return the campaigns whose raw files were removed. A campaign whose raw files stay is no failure."""
        from plimsoll.services.housekeeping.retention import Rule, prune  # late: whoever parses DAGs needs no numpy

        gone: list[str] = []
        with final():
            rule = Rule.of_settings(Settings().raw_days, Settings().raw_gb)
            for raw in prune(toolkit(), rule, f"Airflow's DAG {RETENTION_DAG}"):
                if raw.why_not:
                    self.log.warning("%s: raw files, %s, stay: %s", raw.campaign_id, raw.rule, raw.why_not)
                else:
                    self.log.info("%s: removed %d bytes of raw files, %s", raw.campaign_id, raw.bytes, raw.rule)
                    gone.append(raw.campaign_id)
        return gone


GRACE = timedelta(minutes=15)
"""The time after which a campaign that has not started is late."""
FIRST_LOOK = timedelta(hours=1)
"""The time before now from which on the first run looks."""


class WatchSchedules(BaseOperator):
    """Check every time that was due since the last successful run of this task, and report those at which no run began.

    It also reports campaigns under way that will end too late.
    """

    def execute(self, context: Context) -> list[str]:
        """Return a sentence for each campaign that was missed. A DAG that is paused now misses nothing."""
        # From the start of the last run that succeeded to that of this one, so that each time counts once
        until = context["dag_run"].start_date or datetime.now(UTC)
        since = context["prev_start_date_success"] or until - FIRST_LOOK
        definitions = list(watched())
        self._tell_of_late_ones(list(filter(_may_be_late, definitions)), context)
        since, until = since - GRACE, until - GRACE
        missed = [line for definition in definitions for line in _missed(definition, context["ti"], since, until)]
        for line in missed:
            self.log.warning(line)
        if missed:
            notices.send(dict(context), "Plimsoll: not every scheduled campaign has started", "\n".join(missed))
        return missed

    def _tell_of_late_ones(self, definitions: Sequence[Definition], context: Context) -> None:
        """Tell of their campaigns that run and are late. What was told, or has ended, is not looked at again."""
        store = toolkit().store
        campaigns = campaigns_by_definition(store) if definitions else {}
        for campaign_id in chain.from_iterable(campaigns.get(definition.name, ()) for definition in definitions):
            if layout.LATE.exists(store, campaign_id) or layout.TOTALS.exists(store, campaign_id):
                continue
            try:
                notices.tell_if_late(dict(context), CampaignStore(store, campaign_id), begins=False)
            except (NotFound, DamagedRecord, DefinitionError) as error:  # it says nothing of the other campaigns
                self.log.warning("whether campaign %s is late can't be told: %s", campaign_id, error)


def watched() -> Iterator[Definition]:
    """Yield the definitions that ask for such reports."""
    for definition in sound_definitions(Settings()):
        if (definition.schedule and "missed-schedule" in definition.notify) or _may_be_late(definition):
            yield definition


def _may_be_late(definition: Definition) -> bool:
    return definition.finish_by is not None and "late" in definition.notify


def _missed(definition: Definition, ti: RuntimeTaskInstanceProtocol, since: datetime, until: datetime) -> Iterator[str]:
    schedule = timetable(definition) if "missed-schedule" in definition.notify else None
    due = list(due_times(schedule, since, until)) if schedule else []
    if not due or is_paused(ti, definition.dag_id):
        return
    busy = ti.get_dr_count(definition.dag_id, states=LIVE_STATES)
    # A task can't ask since when the DAG is unpaused
    idle = "none is under way; was Airflow down, short of slots, or the DAG still paused at that time?"
    why = "an earlier one is still under way" if busy else idle
    for at in due:
        if not ti.get_dr_count(definition.dag_id, logical_dates=[at]):
            yield f"{definition.name}: the campaign due at {at:%Y-%m-%d %H:%M %Z} has not started: {why}"
