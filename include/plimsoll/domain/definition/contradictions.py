"""Contradictions between the keys of a definition. Each fault is reported at the key to change."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.campaign.part import Part
from plimsoll.domain.campaign.resolve import stages_of
from plimsoll.domain.definition.cluster_contradictions import action_contradictions, external_contradictions
from plimsoll.domain.keys.definition_keys import DefinitionKeys
from plimsoll.domain.keys.faults import Fault, Path
from plimsoll.domain.keys.host_bounds import LONGEST_CELL_ID, raise_limit
from plimsoll.domain.keys.service_level import meant_percentile
from plimsoll.domain.keys.stage import Stage
from plimsoll.domain.keys.strategy import FEWEST_CELLS, MOST_LOADS, FullGrid, Threshold
from plimsoll.domain.keys.system import EXTERNAL
from plimsoll.domain.keys.workload import Workload
from plimsoll.domain.text.units import format_duration, format_rate, format_size
from plimsoll.domain.text.wording import meant_or_known, plural
from plimsoll.prefix import report_asset_of


def _too_many_cells(definition: DefinitionKeys, campaign: Campaign) -> Iterator[Fault]:
    if campaign.cells <= definition.max_cells:
        return
    key, counted = "stages", "all stages together"
    if not definition.stages:
        variants, loads = plural(len(definition.variants), "variant"), plural(len(definition.loads), "load")
        workloads = f" × {plural(len(definition.workloads), 'workload')}" if definition.workloads else ""
        key, counted = "loads", f"{variants}{workloads} × {loads} × {plural(definition.repeats, 'repeat')}"
    what = f"{counted} are {campaign.cells:,} cells; at most {definition.max_cells:,} are allowed"
    yield Fault((key,), what, f"write fewer loads, variants or repeats{raise_limit(campaign.cells)}")


def _stages(definition: DefinitionKeys, campaign: Campaign) -> Iterator[tuple[Stage | None, Part]]:
    """Yield each stage as it is written, with its first part, which tells everything but its workloads."""
    return ((stage, resolved.first) for stage, resolved in stages_of(definition, campaign))


def _shares_as_percentiles(definition: DefinitionKeys, campaign: Campaign) -> Iterator[Fault]:
    """Yield faults where a percentile is below 1, which no service level is about: a share was meant, such as 0.999."""
    for number, (stage, part) in enumerate(_stages(definition, campaign)):
        own: Path = ("stages", number) if stage and stage.service_levels else ()
        for index, level in enumerate(part.service_levels):
            if meant := meant_percentile(level.percentile):
                what = f"{level.percentile:g} is in per cent: nearly all operations take longer; was {meant} meant?"
                yield Fault((*own, "service_levels", index, "percentile"), what, f"write {meant}")


def contradictions(definition: DefinitionKeys, campaign: Campaign) -> Iterator[Fault]:
    """Yield all contradictions between keys of the definition, each as a fault at the key to change."""
    yield from _repeated("variants", "variant id", [variant.id for variant in definition.variants])
    yield from _repeated("loads", "load", [format_rate(load) for load in definition.loads])
    yield from _faults_of_stages(definition, campaign)
    yield from _unknown_control(definition)
    yield from _without_version(campaign)
    yield from _larger_initial_heaps(definition)
    yield from _repeated("workloads", "workload id", [workload.id for workload in definition.workloads])
    yield from _one_workload_and_several(definition)
    yield from _repeated("stages", "stage id", [stage.id for stage in definition.stages])
    yield from _stages_taken_from(definition, campaign)
    yield from dict.fromkeys(_closed_loops(definition, campaign))
    yield from dict.fromkeys(_thresholds(definition, campaign))
    yield from _workloads_of_stages(definition)
    yield from _same_cell_ids(definition)
    yield from _too_long_cell_ids(definition, campaign)
    yield from _options_of_protocols(definition, campaign)
    yield from _shared_at_once(definition)
    yield from _commands_of_others(campaign)
    yield from _too_many_cells(definition, campaign)
    yield from _too_low_a_ceiling(campaign)
    yield from action_contradictions(definition, campaign)
    yield from external_contradictions(campaign)
    yield from dict.fromkeys(_shares_as_percentiles(definition, campaign))
    yield from _trigger_contradictions(definition)


def _trigger_contradictions(definition: DefinitionKeys) -> Iterator[Fault]:
    """Yield a fault where each campaign would begin another one, by the event of its own report, and where Airflow
    would not read the queue: the asset of reports is also that of tasks, which have no queue.
    """
    if definition.trigger is None:
        return
    if definition.trigger.asset == report_asset_of(definition.name):
        what = "is the asset of this definition's own reports, so that each campaign would begin another one"
        yield Fault(("trigger", "asset"), what, "name another asset")
    elif definition.trigger.queue and definition.trigger.asset.startswith(report_asset_of("")):
        what = "is named like an asset of reports, whose events are no messages of a queue"
        yield Fault(("trigger", "asset"), what, "name another asset, or leave out `queue`")


def _too_low_a_ceiling(campaign: Campaign) -> Iterator[Fault]:
    """Yield a fault where no cell of a stage could be over in the time that a cell may take."""
    longest = max(part.timing.duration for part in campaign.parts)
    measured = campaign.at_most.measured if campaign.at_most else None
    if measured is not None and measured <= longest:
        what = f"leaves no time for a load of {format_duration(longest)}, beside what comes before and after it"
        yield Fault(("at_most", "cell"), what, f"write at least an hour more than {format_duration(longest)}")


def _without_version(campaign: Campaign) -> Iterator[Fault]:
    for number, variant in enumerate(campaign.variants):
        product = campaign.product_of(variant)
        is_of_system = product == campaign.system.database
        is_told = variant.version is not None or (is_of_system and campaign.system.version)
        if not is_told and product != EXTERNAL:
            what = f"nothing says which version of {product} variant {variant.id!r} runs"
            mend = "write it here, or as `system.version`" if is_of_system else "write it here"
            yield Fault(("variants", number, "version"), what, mend)


def _commands_of_others(campaign: Campaign) -> Iterator[Fault]:
    generator = campaign.load_generator
    if generator.command and generator.name != "command":
        what = f"is not for {generator.name}, which has its own commands"
        yield Fault(("load_generator", "command"), what, "write `name: command`, or remove this key")
    if campaign.system.command and "command" not in campaign.products:
        what = f"is not for {', '.join(campaign.products)}, which Plimsoll starts itself"
        yield Fault(("system", "command"), what, "write `database: command`, or remove this key")


def _larger_initial_heaps(definition: DefinitionKeys) -> Iterator[Fault]:
    for number, variant in enumerate(definition.variants):
        jvm = variant.jvm
        if jvm is not None and jvm.initial_heap is not None and jvm.initial_heap > jvm.heap:
            what = f"{format_size(jvm.initial_heap)} is more than `heap`, which is {format_size(jvm.heap)}"
            mend = f"write at most {format_size(jvm.heap)}, or a larger `heap`"
            yield Fault(("variants", number, "jvm", "initial_heap"), what, mend)


def _repeated(key: str, what: str, values: list[str]) -> Iterator[Fault]:
    for value, count in Counter(values).items():
        if count > 1:
            last = len(values) - 1 - values[::-1].index(value)
            path = (key, last) if key == "loads" else (key, last, "id")
            yield Fault(path, f"{what} {value!r} stands {count} times; each must be unique", "change or remove one")


def _faults_of_stages(definition: DefinitionKeys, campaign: Campaign) -> Iterator[Fault]:
    """Yield faults of each stage's own keys together with the keys inherited from the top of the definition."""
    for number, (stage, part) in enumerate(_stages(definition, campaign)):
        if stage and stage.loads and stage.taken is None:
            rates = _repeated("loads", "load", [format_rate(load) for load in part.loads])
            yield from (Fault(("stages", number, *fault.path), fault.what, fault.mend) for fault in rates)
    # Keys that several stages inherit are at fault once.
    yield from dict.fromkeys(
        _in_stage(fault, number, stage)
        for number, (stage, part) in enumerate(_stages(definition, campaign))
        for fault in (*_uneven_intervals(part), *_sliding_windows_first(part))
    )


def _in_stage(fault: Fault, number: int, stage: Stage | None) -> Fault:
    """Move a fault to the stage's own key where the stage has that key, else to the stage's timing or to the top."""
    if stage is None or (stage.service_levels is None and stage.timing is None):
        return fault
    path = fault.path if stage.service_levels else ("timing",)
    return Fault(("stages", number, *path), fault.what, fault.mend)


def _stages_taken_from(definition: DefinitionKeys, campaign: Campaign) -> Iterator[Fault]:
    """Yield faults where a stage takes its loads from a stage that is not before it, or has no loads of its own."""
    earlier: list[str] = []
    for number, (stage, part) in enumerate(_stages(definition, campaign)):
        if stage and stage.taken and stage.taken.source not in earlier:
            key = "of" if stage.taken.of else "slowest_of"
            what = f"{stage.taken.source!r} is no stage before this one that has loads of its own"
            mend = meant_or_known(stage.taken.source, earlier) or "put the stage that it is taken from first"
            yield Fault(("stages", number, "loads", key), what, mend)
        if stage and stage.taken is None and "load" in part.knows:
            earlier.append(stage.id)


def _closed_loops(definition: DefinitionKeys, campaign: Campaign) -> Iterator[Fault]:
    """Yield faults where something is decided by how a closed loop ended, which is asked less if it can't do more."""
    for number, (stage, part) in enumerate(_stages(definition, campaign)):
        own: Path = ("stages", number) if stage else ()
        if "rate" not in part.knows and not isinstance(part.strategy, FullGrid):
            what = f"a {part.strategy.name} asks which loads are carried, which a closed loop can't tell"
            at: Path = (*own, "strategy") if stage and stage.strategy else ("strategy",)
            yield Fault((*at, "name"), what, "remove `strategy`, or write `loop: open`")


def _thresholds(definition: DefinitionKeys, campaign: Campaign) -> Iterator[Fault]:
    """Yield faults where a threshold has too few loads to look between, or too few cells to find anything."""
    for number, (stage, part) in enumerate(_stages(definition, campaign)):
        if isinstance(part.strategy, Threshold) and {"rate", "load"} <= part.knows:
            at: Path = ("stages", number, "loads") if stage and stage.loads is not None else ("loads",)
            # The loads as written: `part.loads` are already all multiples between them
            declared = definition.loads if stage is None or not isinstance(stage.loads, tuple) else stage.loads
            yield from _too_few_to_look_between(part, part.strategy, declared, at)


def _too_few_to_look_between(part: Part, strategy: Threshold, declared: tuple[int, ...], at: Path) -> Iterator[Fault]:
    cells, fewest = len(part.loads) * part.repeats, min(FEWEST_CELLS, strategy.at_most)
    multiples = len(strategy.multiples_between(declared))
    if part.taken is not None:
        what = "a threshold is looked for between several loads, and this stage takes one from an earlier stage"
        yield Fault(at, what, "write the loads between which it lies, or `strategy: full-grid`")
    elif multiples > MOST_LOADS:
        what = f"a threshold may run any of {multiples:,} loads; {MOST_LOADS:,} are allowed"
        yield Fault(at, what, "write a larger `rounded_to` in `strategy`")
    elif len(part.loads) < 2:
        what = "a threshold is looked for between several loads"
        yield Fault(at, what, "write the lowest and the highest load, and `rounded_to` in `strategy`")
    elif cells < fewest:
        what = f"{plural(cells, 'cell')} of a variant are too few for a threshold"
        mend = f"allow {fewest} or more: more loads, `rounded_to` in `strategy`, or more `repeats`"
        yield Fault(at, what, mend)


def _workloads_of_stages(definition: DefinitionKeys) -> Iterator[Fault]:
    """Yield faults where a stage has a workload that the definition lacks, or that its loads' stage has not."""
    known = {workload.id: workload for workload in definition.workloads}
    stages = {stage.id: stage for stage in definition.stages}
    for number, stage in enumerate(definition.stages):
        for index, name in enumerate(stage.workloads):
            if name not in known:
                what = f"{name!r} is none of the `workloads`"
                yield Fault(("stages", number, "workloads", index), what, meant_or_known(name, known))
        source = stages.get(stage.taken.source) if stage.taken else None
        without = [name for name in known if source and stage.has(name) and not source.has(name)]
        if without:
            what = f"the loads come from stage {stage.taken and stage.taken.source}, which has no {without[0]!r}"
            yield Fault(("stages", number, "workloads"), what, "give both stages the same workloads")


def _uneven_intervals(part: Part) -> Iterator[Fault]:
    judged = part.timing.judged
    for number, level in enumerate(part.service_levels):
        if judged % level.interval:
            length, whole = format_duration(level.interval), format_duration(judged)
            what = f"interval {length} does not divide the judged time {whole} (duration less warm-up)"
            yield Fault(("service_levels", number, "interval"), what, "change it, or `timing.duration`")


def _sliding_windows_first(part: Part) -> Iterator[Fault]:
    if part.service_levels[0].windows != "aligned":
        what = "the first service level has sliding windows, which overlap"
        why = "charts, causes and statistics need aligned intervals"
        mend = "put the same service level with aligned ones before it"
        yield Fault(("service_levels", 0, "windows"), f"{what}: {why}", mend)


def _unknown_control(definition: DefinitionKeys) -> Iterator[Fault]:
    ids = [variant.id for variant in definition.variants]
    if definition.control is not None and definition.control not in ids:
        what = f"control {definition.control!r} is none of the variants"
        yield Fault(("control",), what, meant_or_known(definition.control, dict.fromkeys(ids)))


def _options_of_protocols(definition: DefinitionKeys, campaign: Campaign) -> Iterator[Fault]:
    several: list[tuple[Path, Workload]] = [
        (("workloads", number), workload) for number, workload in enumerate(definition.workloads)
    ]
    for path, workload in several or [(("workload",), definition.workload)]:
        for fault in workload.faults_of_protocols(campaign.protocols, definition.system.nodes):
            yield replace(fault, path=(*path, *fault.path))


def _one_workload_and_several(definition: DefinitionKeys) -> Iterator[Fault]:
    if definition.workloads and "workload" in definition.model_fields_set:
        what = "stands beside `workloads`, which say all that clients ask"
        yield Fault(("workload",), what, "remove it, or make it one of `workloads`, with an `id`")


def _same_cell_ids(definition: DefinitionKeys) -> Iterator[Fault]:
    """Yield faults where two cells would have the same id.

    Variant `a-b` with workload `c`, and variant `a` with workload `b-c`, have the same cell ids. The same can happen
    between stages and variants, and between stages and workloads, whose ids together name the parts of the report.
    """
    stages, variants, workloads = (
        {value.id for value in axis} for axis in (definition.stages, definition.variants, definition.workloads)
    )
    for name in _twice(variants, workloads):
        what = f"two pairs of a variant and a workload would have cells of the same ids, {name}-…"
        yield Fault(("workloads",), what, "give a workload another `id`")
    ladders = {"-".join(names) for names in product(variants, workloads)} or variants
    for name in (*_twice(stages, ladders), *_twice(stages, workloads)):
        what = f"two stages would have cells, or parts of the report, of the same names, {name}-…"
        yield Fault(("stages",), what, "give a stage another `id`")


def _twice(first: set[str], second: set[str]) -> Iterator[str]:
    counts = Counter("-".join(names) for names in product(first, second))
    return (name for name, count in counts.items() if count > 1)


def _too_long_cell_ids(definition: DefinitionKeys, campaign: Campaign) -> Iterator[Fault]:
    """Yield faults where stage, variant and workload ids are each short enough but make cells' ids too long."""
    named = [axis for axis in (definition.stages, definition.workloads) if len(axis) > 1]
    words = [max((value.id for value in axis), key=len) for axis in (*named, definition.variants)]
    # Such as `-40000-r3`
    tails = (f"-{part.level or f'{max(part.loads):05d}'}-r{part.repeats}" for _, part in _stages(definition, campaign))
    length = len("-".join(words)) + max(map(len, tails))
    if length > LONGEST_CELL_ID:
        key = "stages" if len(definition.stages) > 1 else "variants"
        what = f"cells would have ids of up to {length} characters, of {', '.join(words)}, a load and a repeat"
        yield Fault(
            (key,), f"{what}; at most {LONGEST_CELL_ID} are allowed", "give the longest of these a shorter `id`"
        )


def _shared_at_once(definition: DefinitionKeys) -> Iterator[Fault]:
    if definition.cluster_scope != "cell" and definition.max_parallel > 1:
        what = f"{definition.max_parallel} cells at once, with hosts that are kept for the {definition.cluster_scope}"
        why = "cells that share hosts run one after the other"
        yield Fault(("max_parallel",), f"{what}: {why}", "write 1, or `cluster_scope: cell`")
