"""Resolve a definition into the requests that adapters get: these need not know what kind of campaign it is. Pure.

Each function takes the definition of one part, or a whole one where parts do not differ in what is asked.
"""

from plimsoll.domain.definition import Definition
from plimsoll.domain.hosts_spec import HostsSpec
from plimsoll.domain.load_spec import LoadSpec, OwnedByLoad, Target
from plimsoll.domain.process import NodeNeeds
from plimsoll.domain.product_spec import ProductSpec, VariantSpec
from plimsoll.domain.variant import Variant


def load_spec(definition: Definition) -> LoadSpec:
    """Return what a load generator is asked for."""
    return LoadSpec(
        name=definition.name,
        workload=definition.workload,
        load_generator=definition.load_generator,
        timing=definition.timing,
        service_levels=definition.service_levels,
        stop_when=definition.stop_when,
        is_closed_loop=definition.is_closed_loop,
        targets=_targets(definition),
        owns=_owned(definition),
    )


def _targets(definition: Definition) -> tuple[Target, ...]:
    """Return each product once, in the variants' order."""
    protocols = {definition.product_of(variant): definition.protocol_of(variant) for variant in definition.variants}
    return tuple(
        Target(product, protocols[product], definition.key_of_product(product)) for product in definition.products
    )


def _owned(definition: Definition) -> OwnedByLoad:
    if not definition.provider.is_external:
        return "cluster"
    return "nothing" if isinstance(definition.provider.options.get("keyspace"), dict) else "keyspace"


def product_spec(definition: Definition, product: str) -> ProductSpec:
    """Return what a product is asked for."""
    return ProductSpec(
        name=definition.name,
        key=definition.key_of_product(product),
        settings=definition.settings_of_system(product),
        command=definition.system.command,
        variants=tuple(variant_spec(definition, variant) for _, variant in definition.of_product(product)),
    )


def variant_spec(definition: Definition, variant: Variant) -> VariantSpec:
    """Return what is deployed for a cell of that variant."""
    return VariantSpec(
        variant=variant,
        where=f"variants[{definition.variants.index(variant)}] ({variant.id})",
        product=definition.product_of(variant),
        version=definition.version_of(variant),
        version_key="system.version" if variant.version is None else f"variants.{variant.id}.version",
        settings=definition.settings_of(variant),
        nodes=definition.system.nodes,
        replicas=definition.workload.replication_factor,
        start_within=definition.system.start_within,
        command=definition.system.command,
    )


def hosts_spec(definition: Definition, needs: NodeNeeds) -> HostsSpec:
    """Return what a provider is asked for. `needs`: those of the nodes, as their products tell them."""
    return HostsSpec(
        name=definition.name,
        options=definition.provider.options,
        nodes=definition.system.nodes,
        node_hosts=definition.node_hosts,
        load_hosts=definition.load_generator.hosts,
        load_heap=definition.load_generator.heap,
        max_parallel=definition.max_parallel,
        needs=needs,
    )
