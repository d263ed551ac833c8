"""The definition: everything that declares a campaign; and contradictions between its keys, each reported as a fault at
the key to change.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any, Self

from pydantic import SerializerFunctionWrapHandler, model_serializer, model_validator

from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.campaign.resolve import resolve, setup_of
from plimsoll.domain.definition.stage_contradictions import (
    action_contradictions,
    closed_loops,
    repeated,
    shares_as_percentiles,
    stages_loads_and_intervals,
    stages_taken_from,
    thresholds,
    workloads_of_stages,
)
from plimsoll.domain.keys.definition_keys import DefinitionKeys
from plimsoll.domain.keys.faults import Fault, Path, require_none
from plimsoll.domain.keys.host_bounds import LONGEST_CELL_ID, raise_limit
from plimsoll.domain.keys.system import EXTERNAL
from plimsoll.domain.keys.workload import Workload
from plimsoll.domain.text.units import format_duration, format_rate, format_size
from plimsoll.domain.text.wording import meant_or_known, plural
from plimsoll.prefix import dag_id_of, report_asset_of

_NOT_OURS = "somebody else decides that of an external cluster"


class Definition(DefinitionKeys):
    """A campaign as declared in one YAML file."""

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        require_none(contradictions(self, resolve(self)))
        return self

    @model_serializer(mode="wrap")
    def _without_foreign_options(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out options of protocols that no clients speak, except those that somebody set."""
        fields: dict[str, Any] = dump(self)
        dumped = [
            (self.workload, fields.get("workload")),
            *zip(self.workloads, fields.get("workloads", ()), strict=False),
        ]
        protocols = setup_of(self).protocols
        for workload, options in dumped:
            for key in workload.foreign_options(protocols) - workload.model_fields_set if options else ():
                options.pop(key, None)
        return fields

    @property
    def dag_id(self) -> str:
        return dag_id_of(self.name)


def contradictions(definition: DefinitionKeys, campaign: Campaign) -> Iterator[Fault]:
    """Yield all contradictions between keys of the definition, each as a fault at the key to change."""
    yield from repeated("variants", "variant id", [variant.id for variant in definition.variants])
    yield from repeated("loads", "load", [format_rate(load) for load in definition.loads])
    yield from stages_loads_and_intervals(campaign)
    yield from _unknown_control(definition)
    yield from _without_version(campaign)
    yield from _larger_initial_heaps(definition)
    yield from repeated("workloads", "workload id", [workload.id for workload in definition.workloads])
    yield from _one_workload_and_several(definition)
    yield from repeated("stages", "stage id", [stage.id for stage in definition.stages])
    yield from stages_taken_from(campaign)
    yield from dict.fromkeys(closed_loops(campaign))
    yield from dict.fromkeys(thresholds(campaign))
    yield from workloads_of_stages(definition)
    yield from _same_cell_ids(definition)
    yield from _too_long_cell_ids(definition, campaign)
    yield from _options_of_protocols(definition, campaign)
    yield from _shared_at_once(definition)
    yield from _commands_of_others(campaign)
    yield from _too_many_cells(definition, campaign)
    yield from _too_low_a_ceiling(campaign)
    yield from action_contradictions(campaign)
    yield from external_contradictions(campaign)
    yield from dict.fromkeys(shares_as_percentiles(campaign))
    yield from _trigger_contradictions(definition)


def _unknown_control(definition: DefinitionKeys) -> Iterator[Fault]:
    ids = [variant.id for variant in definition.variants]
    if definition.control is not None and definition.control not in ids:
        what = f"control {definition.control!r} is none of the variants"
        yield Fault(("control",), what, meant_or_known(definition.control, dict.fromkeys(ids)))


def _without_version(campaign: Campaign) -> Iterator[Fault]:
    for number, variant in enumerate(campaign.variants):
        product = campaign.product_of(variant)
        is_of_system = product == campaign.system.database
        is_told = variant.version is not None or (is_of_system and campaign.system.version)
        if not is_told and product != EXTERNAL:
            what = f"nothing says which version of {product} variant {variant.id!r} runs"
            mend = "write it here, or as `system.version`" if is_of_system else "write it here"
            yield Fault(("variants", number, "version"), what, mend)


def _larger_initial_heaps(definition: DefinitionKeys) -> Iterator[Fault]:
    for number, variant in enumerate(definition.variants):
        jvm = variant.jvm
        if jvm is not None and jvm.initial_heap is not None and jvm.initial_heap > jvm.heap:
            what = f"{format_size(jvm.initial_heap)} is more than `heap`, which is {format_size(jvm.heap)}"
            mend = f"write at most {format_size(jvm.heap)}, or a larger `heap`"
            yield Fault(("variants", number, "jvm", "initial_heap"), what, mend)


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
    tails = (f"-{part.level or f'{max(part.loads):05d}'}-r{part.repeats}" for part in campaign.parts)
    length = len("-".join(words)) + max(map(len, tails))
    if length > LONGEST_CELL_ID:
        key = "stages" if len(definition.stages) > 1 else "variants"
        what = f"cells would have ids of up to {length} characters, of {', '.join(words)}, a load and a repeat"
        yield Fault(
            (key,), f"{what}; at most {LONGEST_CELL_ID} are allowed", "give the longest of these a shorter `id`"
        )


def _options_of_protocols(definition: DefinitionKeys, campaign: Campaign) -> Iterator[Fault]:
    several: list[tuple[Path, Workload]] = [
        (("workloads", number), workload) for number, workload in enumerate(definition.workloads)
    ]
    for path, workload in several or [(("workload",), definition.workload)]:
        for fault in workload.faults_of_protocols(campaign.protocols, definition.system.nodes):
            yield replace(fault, path=(*path, *fault.path))


def _shared_at_once(definition: DefinitionKeys) -> Iterator[Fault]:
    if definition.cluster_scope != "cell" and definition.max_parallel > 1:
        what = f"{definition.max_parallel} cells at once, with hosts that are kept for the {definition.cluster_scope}"
        why = "cells that share hosts run one after the other"
        yield Fault(("max_parallel",), f"{what}: {why}", "write 1, or `cluster_scope: cell`")


def _commands_of_others(campaign: Campaign) -> Iterator[Fault]:
    generator = campaign.load_generator
    if generator.command and generator.name != "command":
        what = f"belongs to the load generator `command`, and this is {generator.name}"
        yield Fault(("load_generator", "command"), what, "write `name: command`, or remove this key")
    if campaign.system.command and "command" not in campaign.products:
        what = f"belongs to the database `command`, and this is {', '.join(campaign.products)}"
        mend = "write `database: command` to start it by these, or remove them for one that Plimsoll deploys itself"
        yield Fault(("system", "command"), what, mend)


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


def _too_low_a_ceiling(campaign: Campaign) -> Iterator[Fault]:
    """Yield a fault where no cell of a stage could be over in the time that a cell may take."""
    longest = max(part.timing.duration for part in campaign.parts)
    measured = campaign.at_most.measured if campaign.at_most else None
    if measured is not None and measured <= longest:
        what = f"leaves no time for a load of {format_duration(longest)}, beside what comes before and after it"
        yield Fault(("at_most", "cell"), what, f"write at least an hour more than {format_duration(longest)}")


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


def external_contradictions(campaign: Campaign) -> Iterator[Fault]:
    """Yield the faults of a definition with an external cluster, or with only half of one."""
    if campaign.provider.owns == "cluster":
        if EXTERNAL in campaign.products:
            what = "an external database is reached by the provider of that name alone"
            yield Fault(("provider", "name"), what, f"write `{EXTERNAL}`, with its options")
        return
    yield from _products(campaign)
    yield from _safety(campaign)
    for number, variant in enumerate(campaign.variants):
        for key in ("jvm", "archive", "settings"):
            if getattr(variant, key):
                yield Fault(("variants", number, key), _NOT_OURS, "remove it")
    if campaign.system.settings:
        yield Fault(("system", "settings"), _NOT_OURS, "remove it")


def _products(campaign: Campaign) -> Iterator[Fault]:
    if campaign.products != (EXTERNAL,):
        what = f"Plimsoll deploys {', '.join(campaign.products)}, and nothing is deployed on an external cluster"
        yield Fault(("system", "database"), what, f"write `{EXTERNAL}`, and no `product` in variants")
    if len(campaign.variants) > 1:
        what = "an external cluster is what it is: every variant would be the same"
        yield Fault(("variants",), what, "write one")


def _safety(campaign: Campaign) -> Iterator[Fault]:
    if not campaign.stop_when:
        what = "is missing: people may depend on an external cluster, and a load must end before it harms them"
        mend = "write e.g. `stop_when: [{errors: 5%, within: 10s}, {percentile: 99, above: 1s, within: 30s}]`"
        yield Fault(("stop_when",), what, mend)
    if campaign.max_parallel > 1:
        what = "the cells of an external cluster have one keyspace, one after the other"
        yield Fault(("max_parallel",), what, "write 1")
