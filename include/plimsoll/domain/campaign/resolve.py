"""Resolve what somebody wrote: a definition into a campaign, and a campaign into the requests that adapters get. Pure.

Whoever gets these need not know what kind of campaign it is.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from plimsoll.domain.campaign.campaign import Campaign, CampaignStage
from plimsoll.domain.campaign.part import Part, Setup
from plimsoll.domain.campaign.specs import HostsSpec, LoadSpec, ProductSpec, Target, VariantSpec
from plimsoll.domain.keys.definition_keys import DefinitionKeys
from plimsoll.domain.keys.loads import CLOSED
from plimsoll.domain.keys.process import NodeNeeds
from plimsoll.domain.keys.strategy import Stage, Threshold
from plimsoll.domain.keys.variant import Variant
from plimsoll.domain.keys.workload import NamedWorkload

OF_A_STAGE = ("strategy", "loads", "loop", "repeats", "timing", "service_levels", "action")
"""Keys that a stage may have of its own, and else those at the top of the definition."""


def setup_of(definition: DefinitionKeys) -> Setup:
    return Setup(**{key.name: getattr(definition, key.name) for key in fields(Setup)})


def resolve(definition: DefinitionKeys) -> Campaign:
    """Return the campaign that the definition declares, in which no stage has started."""
    shared = vars(setup_of(definition))
    numbered = enumerate(definition.stages or (None,))
    stages = tuple(_stage(definition, shared, number, stage) for number, stage in numbered)
    named = tuple(workload.id for workload in definition.workloads) if len(definition.workloads) > 1 else ()
    return Campaign(**shared, stages=stages, workload_ids=named)


def _stage(definition: DefinitionKeys, shared: Mapping[str, Any], number: int, stage: Stage | None) -> CampaignStage:
    own = {**shared, **_keys_of(definition, stage)}
    if stage is not None:
        own["stage"] = stage.id if len(definition.stages) > 1 else ""
        own["stage_title"], own["taken"] = stage.label, stage.taken
        own["own_keys"] = frozenset(key for key in Stage.model_fields if getattr(stage, key) is not None) - {"id"}
        source = stage.taken.source if stage.taken else None
        own["of_closed_loop"] = any(
            other.id == source and (other.loop or definition.loop) == CLOSED for other in definition.stages
        )
    # A stage that names none of the workloads is refused; until then it has the one that every definition has.
    workloads: list[tuple[int, NamedWorkload | None]] = [
        (index, workload)
        for index, workload in enumerate(definition.workloads)
        if stage is None or stage.has(workload.id)
    ]
    parts = (_part(definition, own, (number, index), workload) for index, workload in workloads or [(0, None)])
    return CampaignStage("" if stage is None else stage.id, tuple(parts))


def _keys_of(definition: DefinitionKeys, stage: Stage | None) -> dict[str, Any]:
    """Return the keys of a stage: its own, else those at the top. Where it takes its load, `loads` are empty."""
    keys = {name: getattr(definition, name) for name in OF_A_STAGE}
    if stage is not None:
        keys |= {name: value for name in OF_A_STAGE if (value := getattr(stage, name)) is not None}
        keys |= {"loads": ()} if stage.taken else {}
    if isinstance(keys["strategy"], Threshold):
        keys["loads"] = keys["strategy"].loads_between(keys["loads"])
    return keys


def _part(
    definition: DefinitionKeys, own: Mapping[str, Any], places: tuple[int, int], workload: NamedWorkload | None
) -> Part:
    workload_id = workload.id if workload is not None and len(definition.workloads) > 1 else ""
    clients = definition.workload if workload is None else workload.alone
    if workload is not None:
        own = {**own, "own_keys": own.get("own_keys", frozenset()) | {"workload"}}
    return Part(**own, places=places, workload_id=workload_id, workload=clients)


def load_spec(part: Part) -> LoadSpec:
    protocols = {part.product_of(variant): part.protocol_of(variant) for variant in part.variants}
    return LoadSpec(
        name=part.in_commands,
        workload=part.workload,
        load_generator=part.load_generator,
        timing=part.timing,
        service_levels=part.service_levels,
        stop_when=part.stop_when,
        loop=part.loop,
        most_ops_s=max(part.loads, default=0),
        targets=tuple(Target(product, protocols[product], part.key_of_product(product)) for product in part.products),
        owns=part.provider.owns,
    )


def product_spec(campaign: Campaign, product: str) -> ProductSpec:
    """Return what a product is asked for. The parts do not differ in it, except in how many replicas rows have."""
    return ProductSpec(
        name=campaign.in_commands,
        key=campaign.key_of_product(product),
        settings=campaign.settings_of_system(product),
        command=campaign.system.command,
        variants=tuple(variant_spec(campaign.parts[0], variant) for _, variant in campaign.of_product(product)),
    )


def variant_spec(part: Part, variant: Variant) -> VariantSpec:
    return VariantSpec(
        variant=variant,
        where=f"variants[{part.variants.index(variant)}] ({variant.id})",
        product=part.product_of(variant),
        version=part.version_of(variant),
        version_key="system.version" if variant.version is None else f"variants.{variant.id}.version",
        settings=part.settings_of(variant),
        nodes=part.system.nodes,
        replicas=part.workload.replication_factor,
        start_within=part.system.start_within,
        command=part.system.command,
    )


def hosts_spec(asked: Campaign | Part, needs: NodeNeeds) -> HostsSpec:
    """Return what a provider is asked for. `needs`: those of the nodes, as their products tell them."""
    return HostsSpec(
        name=asked.name,
        options=asked.provider.options,
        nodes=asked.system.nodes,
        node_hosts=asked.node_hosts,
        load_hosts=asked.load_generator.hosts,
        load_heap=asked.load_generator.heap,
        max_parallel=asked.max_parallel,
        needs=needs,
    )
