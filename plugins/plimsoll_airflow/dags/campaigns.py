"""One DAG per definition: plan the missing cells, run each by the DAG `cell`, pass the gate, publish the report.

Its documentation in Airflow's UI says what the definition compares, and how long that takes. Invalid definitions are
left out here; `require_sound_definitions` reports them.
"""

from datetime import timedelta

from airflow.sdk import DAG, Asset, AssetWatcher, TriggerRule, get_parsing_context

from plimsoll.domain.campaign.campaign import Campaign, clients_of
from plimsoll.domain.campaign.part import Part
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.keys.trigger import Trigger
from plimsoll.domain.keys.variant import Variant
from plimsoll.domain.text.errors import DefinitionError
from plimsoll.domain.text.units import format_duration, format_size
from plimsoll.domain.text.wording import plural, some_of
from plimsoll.ports.artefacts import MOST_FETCH_S
from plimsoll.prefix import report_asset_of
from plimsoll.settings import Settings
from plimsoll.strategies.stage_plans import shown_loads
from plimsoll_airflow.dags.forms import campaign_params
from plimsoll_airflow.internals.moved import AssetOrTimeSchedule
from plimsoll_airflow.operators.approval import AskApproval
from plimsoll_airflow.operators.campaign import Plan, PublishReport, QualityGate
from plimsoll_airflow.operators.next_round import NextRound
from plimsoll_airflow.operators.regular import ReapLeftovers
from plimsoll_airflow.operators.run_cell import RunCell
from plimsoll_airflow.runs.notices import when_incomplete
from plimsoll_airflow.runs.own_task import TRIES
from plimsoll_airflow.runs.ownership import APPROVE_TASK, CLUSTERS_POOL, NEXT_ROUND_TASK, PLAN_TASK, RUN_CELL_TASK
from plimsoll_airflow.triggers.queue import QueueTrigger
from plimsoll_airflow.wiring.core import faults, run_poll_s, sound_definitions, timetable

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
        # Airflow refuses longer ones, and with them all DAGs of this file
        tags={"campaign", *(tag[:100] for tag in definition.tags)},
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


def campaign_doc(definition: Definition) -> str:
    campaign = resolve(definition)
    rows = "\n".join(_row(campaign, variant) for variant in campaign.variants)
    named, workloads = campaign.workload_ids, {part.workload_id: _of_part(part) for part in campaign.parts}
    times_workloads = f"{plural(len(named), 'workload')} × " if named else ""
    whose = "their" if campaign.stage_ids else "the"
    rounds = f" Only the cells that {whose} {campaign.needed_by} are run, in rounds." if campaign.needed_by else ""
    # Before Python 3.12 an expression in an f-string may not contain a backslash, hence chr(10) for a line end
    return f"""# {campaign.title}

{definition.description}
| variant | JVM | heap | database |
|---|---|---|---|
{rows}

**{plural(campaign.cells, "cell")}**: {plural(len(campaign.variants), "variant")} × {times_workloads}\
{_axes(campaign)}, {campaign.max_parallel} \
at a time at most, {_hosts(campaign)}.{rounds}

{_what_runs(campaign)}
- {"workloads" if named else "workload"}: {"; ".join(workloads.values())}\
{"".join(f"{chr(10)}- {clients}" for clients in clients_of(campaign.parts))}
- provider: {campaign.provider.name}{_begun_by(definition)}
"""


def _begun_by(definition: Definition) -> str:
    if definition.trigger is None:
        return ""
    queue = f", each message of `{definition.trigger.queue.url}`" if definition.trigger.queue else ""
    return f"\n- begins by: an event of the asset `{definition.trigger.asset}`{queue}"


def _axes(campaign: Campaign) -> str:
    if campaign.stage_ids:
        return f"the loads and repeats of {plural(len(campaign.stages), 'stage')}, one after the other"
    part = campaign.stages[0].first
    return f"{plural(len(shown_loads(part)), 'load level')} × {plural(part.repeats, 'repeat')}"


def _hosts(campaign: Campaign) -> str:
    scope, nodes = campaign.cluster_scope, plural(campaign.system.nodes, "node")
    if "nodes" not in campaign.parts[0].knows:
        return f"each on {nodes} that somebody else runs"
    if scope == "cell":
        return f"each on a fresh cluster of {nodes}"
    whose = "all" if scope == "campaign" else f"those of a {scope}"
    return f"{whose} on a cluster of {nodes} that is kept for the {scope}"


def _what_runs(campaign: Campaign) -> str:
    return "\n".join(
        f"- stage `{stage.id}`: {stage.first.stage_title}\n" + "\n".join(f"  {line}" for line in _of_stage(stage.first))
        if campaign.stage_ids
        else "\n".join(_of_stage(stage.first))
        for stage in campaign.stages
    )


def _of_stage(part: Part) -> tuple[str, ...]:
    timing = part.timing
    return (
        f"- load levels: {some_of(shown_loads(part))}",
        f"- each cell: {format_duration(timing.duration)}, of which {format_duration(timing.warmup)} warm-up",
        f"- service levels: {', '.join(map(str, part.service_levels))}",
    )


def _of_part(part: Part) -> str:
    workload = part.workload
    writes = f", {1 - workload.read_share:.0%} writes" if workload.states_read_share else ""
    words = f"{workload.name}{writes}"
    return f"`{part.workload_id}` ({words})" if part.workload_id else words


def _row(campaign: Campaign, variant: Variant) -> str:
    jvm = variant.jvm
    database = f"{campaign.product_of(variant)} {campaign.version_of(variant)}"
    absent = "none" if "nodes" in campaign.parts[0].knows else "not known"
    runtime, heap = (f"{jvm.jdk}, {jvm.collector}", format_size(jvm.heap)) if jvm else (absent, "")
    return f"| `{variant.id}` {variant.title} | {runtime} | {heap} | {database} |"
