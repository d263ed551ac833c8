"""The documentation of a campaign's DAG in Airflow's UI: what its definition compares, and how long that takes."""

from plimsoll.domain.campaign.campaign import Campaign, clients_of
from plimsoll.domain.campaign.part import Part
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.keys.variant import Variant
from plimsoll.domain.text.units import format_duration, format_size
from plimsoll.domain.text.wording import plural, some_of
from plimsoll.strategies.stage_plans import shown_loads


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
