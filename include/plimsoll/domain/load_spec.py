"""What a load generator is asked for. Pure."""

from dataclasses import dataclass
from typing import Literal

from plimsoll.domain.service_level import ServiceLevel
from plimsoll.domain.stop_rule import StopRule
from plimsoll.domain.system import LoadGeneratorChoice
from plimsoll.domain.timing import Timing
from plimsoll.domain.workload import Workload

OwnedByLoad = Literal["cluster", "keyspace", "nothing"]
"""The part of a database that is the load's own: a cluster that was deployed for it, one keyspace of a cluster of
somebody else, or nothing, so that it only reads.
"""


@dataclass(frozen=True)
class Target:
    """A product that clients ask, with their protocol, and the key of the definition that names the product."""

    product: str
    protocol: str
    key: str


@dataclass(frozen=True)
class LoadSpec:
    """A workload and how it is put on, at whatever load. `name`: the definition's, for advice to people."""

    name: str
    workload: Workload
    load_generator: LoadGeneratorChoice
    timing: Timing
    service_levels: tuple[ServiceLevel, ...]
    stop_when: tuple[StopRule, ...]
    is_closed_loop: bool
    targets: tuple[Target, ...]
    owns: OwnedByLoad = "cluster"
