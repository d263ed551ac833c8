"""What adapters are asked for: a provider, a product, a load generator. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from pydantic import JsonValue

from plimsoll.domain.keys.loads import Loop
from plimsoll.domain.keys.process import NodeNeeds
from plimsoll.domain.keys.service_level import ServiceLevel
from plimsoll.domain.keys.system import DatabaseCommand, LoadGeneratorChoice, OwnedByLoad
from plimsoll.domain.keys.timing import StopRule, Timing
from plimsoll.domain.keys.variant import Variant
from plimsoll.domain.keys.workload import Workload


@dataclass(frozen=True)
class HostsSpec:
    """The hosts of a campaign's clusters. `name`: the definition's; `options`: of the provider.

    `nodes`: number of database nodes, whoever runs them; `node_hosts`: of hosts for them, `load_hosts`: of load hosts
    of one cluster; `load_heap`: heap of the load generator, such as `1G`; `max_parallel`: clusters at once.
    """

    name: str
    options: Mapping[str, JsonValue]
    nodes: int
    node_hosts: int
    load_hosts: int
    load_heap: str
    max_parallel: int
    needs: NodeNeeds = field(default_factory=NodeNeeds)


@dataclass(frozen=True)
class VariantSpec:
    """A variant, as somebody wrote it, with all that it has from its system: what is deployed for one cell.

    `settings`: the system's and its own. `where`: its place in the definition; `version_key`: the key that names its
    release. `start_within`: longest time for all nodes to start; None: the product's own.
    """

    variant: Variant
    where: str
    product: str
    version: str
    version_key: str
    settings: Mapping[str, JsonValue]
    nodes: int
    replicas: int
    start_within: timedelta | None = None
    command: DatabaseCommand | None = None


@dataclass(frozen=True)
class ProductSpec:
    """A product and the variants that run it. `name`: the definition's, with the campaign's values, for advice to
    people; `key`: the key that names the product; `settings`: those that the system gives to each of its variants.
    """

    name: str
    key: str
    settings: Mapping[str, JsonValue]
    command: DatabaseCommand | None
    variants: tuple[VariantSpec, ...]


@dataclass(frozen=True)
class Target:
    """A product that clients ask, with their protocol, and the key of the definition that names the product."""

    product: str
    protocol: str
    key: str


@dataclass(frozen=True)
class LoadSpec:
    """A workload and how it is put on. `name`: as in a ProductSpec; `most_ops_s`: the highest of its loads, ops/s; 0
    where none is known yet.
    """

    name: str
    workload: Workload
    load_generator: LoadGeneratorChoice
    timing: Timing
    service_levels: tuple[ServiceLevel, ...]
    stop_when: tuple[StopRule, ...]
    loop: Loop
    most_ops_s: int
    targets: tuple[Target, ...]
    owns: OwnedByLoad = "cluster"
