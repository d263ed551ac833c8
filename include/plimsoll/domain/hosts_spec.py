"""What a provider is asked for. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from plimsoll.domain.process import NodeNeeds


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
