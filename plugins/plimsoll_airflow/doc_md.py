"""The documentation of a campaign's DAG in Airflow's UI: what its definition compares, and how long that takes."""

from plimsoll.domain.clients import clients_of
from plimsoll.domain.definition import Definition
from plimsoll.domain.parts import Part, only_strategy, parts, stage_ids, workload_ids
from plimsoll.domain.plurals import plural
from plimsoll.domain.units import format_duration, format_size
from plimsoll.domain.variant import Variant
from plimsoll.services.campaign.stage_plans import StagePlan, stage_plans


def campaign_doc(definition: Definition) -> str:
    """Return the definition as Markdown: what it compares, and how long it takes."""
    cells = definition.cells
    rows = "\n".join(_row(definition, variant) for variant in definition.variants)
    return f"""# {definition.title}

{definition.description}
| variant | JVM | heap | database |
|---|---|---|---|
{rows}

**{plural(cells, "cell")}**: {plural(len(definition.variants), "variant")} × {_workloads(definition)}\
{_axes(definition)}, {definition.max_parallel} \
at a time at most, {_hosts(definition)}.{_searched(definition)}

{_what_runs(definition)}
- {"workloads" if workload_ids(definition) else "workload"}: {_workload(definition)}\
{"".join(f"{chr(10)}- {one}" for one in clients_of(definition))}
- provider: {definition.provider.name}
"""


def _axes(definition: Definition) -> str:
    """Return the axes of the grid besides variants: loads and repeats, or stages with their own."""
    if stage_ids(definition):
        return f"the loads and repeats of {plural(len(definition.stages), 'stage')}, one after the other"
    [stage] = stage_plans(definition)
    return f"{plural(len(stage.loads), 'load level')} × {plural(stage.repeats, 'repeat')}"


def _hosts(definition: Definition) -> str:
    """Tell on which hosts cells run, and for how long these are kept."""
    scope, nodes = definition.cluster_scope, plural(definition.system.nodes, "node")
    if scope == "cell":
        return f"each on a fresh cluster of {nodes}"
    whose = "all" if scope == "campaign" else f"those of a {scope}"
    return f"{whose} on a cluster of {nodes} that is kept for the {scope}"


def _what_runs(definition: Definition) -> str:
    """Describe loads, duration and service levels; with several stages one line for each."""
    plans = zip(stage_plans(definition), definition.of_stages, strict=True)
    return "\n".join(
        f"- stage `{plan.id}`: {plan.title}\n" + "\n".join(f"  {line}" for line in _of_stage(plan, alone))
        if stage_ids(definition)
        else "\n".join(_of_stage(plan, alone))
        for plan, (_, alone) in plans
    )


def _of_stage(plan: StagePlan, alone: Definition) -> tuple[str, ...]:
    timing = alone.timing
    return (
        f"- load levels: {', '.join(plan.loads)}",
        f"- each cell: {format_duration(timing.duration)}, of which {format_duration(timing.warmup)} warm-up",
        f"- service levels: {', '.join(map(str, alone.service_levels))}",
    )


def _workload(definition: Definition) -> str:
    [first, *_] = definition.of_stages
    return "; ".join(_of_part(part) for part in parts(first[1]))


def _of_part(part: Part) -> str:
    workload = part.definition.workload
    writes = f", {1 - workload.read_share:.0%} writes" if workload.states_read_share else ""
    words = f"{workload.name}{writes}"
    return f"`{part.workload}` ({words})" if part.workload else words


def _workloads(definition: Definition) -> str:
    named = workload_ids(definition)
    return f"{plural(len(named), 'workload')} × " if named else ""


def _searched(definition: Definition) -> str:
    if not definition.has_rounds:
        return ""
    needs = "their strategies need" if stage_ids(definition) else f"the {only_strategy(definition)} needs"
    return f" Only the cells that {needs} are run, in rounds."


def _row(definition: Definition, variant: Variant) -> str:
    jvm = variant.jvm
    database = f"{definition.product_of(variant)} {definition.version_of(variant)}"
    runtime, heap = (f"{jvm.jdk}, {jvm.collector}", format_size(jvm.heap)) if jvm else ("none", "")
    return f"| `{variant.id}` {variant.title} | {runtime} | {heap} | {database} |"
