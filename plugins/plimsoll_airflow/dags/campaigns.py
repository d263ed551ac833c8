"""One DAG per definition: plan the missing cells, run each by the DAG `cell`, pass the gate, publish the report.

Invalid definitions are left out here; `require_sound_definitions` reports them.
"""

from datetime import timedelta

from airflow.sdk import DAG, Asset, AssetWatcher, TriggerRule, get_parsing_context

from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.keys.trigger import Trigger
from plimsoll.domain.text.errors import DefinitionError
from plimsoll.ports.artefacts import MOST_FETCH_S
from plimsoll.prefix import report_asset_of
from plimsoll.settings import Settings
from plimsoll_airflow.dags.forms import campaign_params
from plimsoll_airflow.dags.texts import campaign_doc
from plimsoll_airflow.internals.moved import AssetOrTimeSchedule
from plimsoll_airflow.operators.approval import AskApproval
from plimsoll_airflow.operators.campaign import Plan, PublishReport, QualityGate
from plimsoll_airflow.operators.failing import TRIES
from plimsoll_airflow.operators.next_round import NextRound
from plimsoll_airflow.operators.reaper import ReapLeftovers
from plimsoll_airflow.operators.run_cell import RunCell
from plimsoll_airflow.runs.notices import when_incomplete
from plimsoll_airflow.runs.ownership import APPROVE_TASK, CLUSTERS_POOL, NEXT_ROUND_TASK, PLAN_TASK, RUN_CELL_TASK
from plimsoll_airflow.triggers.queue import QueueTrigger
from plimsoll_airflow.wiring.core import run_poll_s
from plimsoll_airflow.wiring.definitions import faults, sound_definitions, timetable

_LIMIT = timedelta(minutes=30)
"""The longest time for a task that fetches nothing and waits for no load."""


def make_campaigns() -> None:
    """Make a DAG for each valid definition; in a task's process for that of its own DAG alone."""
    for definition in sound_definitions(Settings(), get_parsing_context().dag_id):
        make_campaign(definition)


def make_campaign(definition: Definition) -> None:
    campaign, times = resolve(definition), timetable(definition)
    asset = _triggering_asset(definition.trigger) if definition.trigger else None
    both = AssetOrTimeSchedule(timetable=times, assets=asset) if times and asset else None
    with DAG(
        dag_id=definition.dag_id,
        description=definition.title,
        doc_md=campaign_doc(definition),
        tags={"campaign", *definition.tags},
        params=campaign_params(campaign),
        # No start date: with one, unpausing would at once start the campaign that was due last.
        schedule=both or times or asset,
        catchup=False,
        # The next campaign does not start while one runs.
        max_active_runs=1,
        on_failure_callback=when_incomplete(definition),
        default_args={"execution_timeout": _LIMIT, **TRIES},
    ):
        # An inlet: events that wait for the run's beginning are read by `plan`.
        inlets = [asset] if asset else []
        # It fetches the software that values of parameters name: a release, and the archives of variants.
        archives = sum(variant.archive is not None for variant in campaign.variants)
        fetches = max(1, archives) if definition.parameters else 0
        limit = _LIMIT + timedelta(seconds=fetches * MOST_FETCH_S)
        plan = Plan(task_id=PLAN_TASK, definition=definition.name, inlets=inlets, execution_timeout=limit)
        run_cell = RunCell.partial(
            task_id=RUN_CELL_TASK,
            pool=CLUSTERS_POOL,
            # Bounds the cells in flight, where Airflow counts waiting ones; before 3.2.2 `run_cell` does.
            max_active_tis_per_dagrun=definition.max_parallel,
            map_index_template="{{ task.cell_run.cell_id }}",
            poke_interval=run_poll_s(campaign.shortest),
        ).expand(run_id=plan.output)
        if definition.approve:
            plan >> AskApproval(task_id=APPROVE_TASK, within=definition.approve.within) >> run_cell
        # Runs after failed cells too, and says which to run again: a red cell can't end in a green run.
        quality_gate = QualityGate(task_id="quality_gate", trigger_rule=TriggerRule.ALL_DONE)
        report = PublishReport(
            task_id="report",
            definition=definition.name,
            notify=definition.notify,
            outlets=[Asset(report_asset_of(definition.name))],
        )
        # A teardown, so that the run ends as its report does.
        reap = ReapLeftovers(task_id="reap", retries=1, execution_timeout=timedelta(minutes=50))
        run_cell >> quality_gate >> report
        if campaign.chosen_by:
            next_round = NextRound(task_id=NEXT_ROUND_TASK, dag_id=definition.dag_id, trigger_rule=TriggerRule.ALL_DONE)
            # Hosts that are kept for the campaign live on where another round follows.
            run_cell >> next_round >> reap
        run_cell >> reap.as_teardown()


def _triggering_asset(trigger: Trigger) -> Asset:
    """Return the asset with the watcher of its queue.

    Each mention of the asset must have the watcher, inlets too: of several in a file Airflow takes the last one's.
    """
    queue = trigger.queue
    if queue is None:
        return Asset(trigger.asset)
    watcher = AssetWatcher(name=f"{trigger.asset}-queue", trigger=QueueTrigger(queue.url, queue.connection))
    return Asset(trigger.asset, watchers=[watcher])


def require_sound_definitions() -> None:
    """Raise DefinitionError with all faults, unless a task's process asks.

    Airflow marks every DAG of a file with an import error as stale, so the error has a DAG file of its own.
    """
    if get_parsing_context().dag_id is None and (problems := faults(Settings())):
        raise DefinitionError(problems, where="campaign definitions")
