"""The start of a three-node Cassandra cluster on this machine, from nothing to all-up, and its destruction.

    .venv/bin/python -m benchmarks.cluster_start [--definition local-azul] [--variant g1] [--rounds N]

All-up means that every node accepts clients, sees the other nodes, has the same schema, and has coordinated a write at
ALL. CPU is the CPU time (user and system) of all processes: the nodes, the probe and the controller. Artefacts
exist before. Other work on the same machine makes the figures worse, even CPU seconds.
"""

import argparse
import resource
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from statistics import median

import psutil
from tests.support.campaigns.small_definition import SMALL
from tests.support.resolved import only_part

from plimsoll.adapters.artefacts import Artefacts
from plimsoll.adapters.clock import SystemClock
from plimsoll.adapters.products.cassandra import Cassandra
from plimsoll.adapters.providers.local import LocalProvider
from plimsoll.adapters.providers.local.folders import tagged_processes
from plimsoll.bootstrap import load_definition
from plimsoll.domain.campaign.resolve import product_spec, resolve, variant_spec
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.hosts.cluster import Cluster, ClusterId, ClusterRequest
from plimsoll.domain.keys.variant import Variant
from plimsoll.settings import Settings

_LIFETIME = timedelta(minutes=15)
_MIB = 1 << 20


@dataclass(frozen=True)
class Started:
    """One cluster's cost: seconds, CPU seconds, MiB of each node (proportional set size)."""

    wall_s: float
    nodes_cpu_s: float
    other_cpu_s: float
    node_mib: float
    teardown_s: float

    @property
    def cpu_s(self) -> float:
        """Return CPU seconds of all processes together."""
        return self.nodes_cpu_s + self.other_cpu_s


def main() -> None:
    """Print the figures of each round, and the medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--definition", default=str(SMALL), help="name or path; without it the tests' small one")
    parser.add_argument("--variant", help="one of its variants; the first unless given")
    parser.add_argument("--rounds", type=int, default=3, help="how many clusters, one after another")
    options = parser.parse_args()
    settings = Settings()
    definition = load_definition(settings, options.definition)
    variant = resolve(definition).variant(options.variant) if options.variant else definition.variants[0]
    product = _product(settings, definition)
    with tempfile.TemporaryDirectory(prefix="plimsoll-cluster-start-") as work:
        rounds = [_round(product, definition, variant, Path(work), number) for number in range(1, options.rounds + 1)]
    print(f"median of {len(rounds)}: {_line(_median(rounds))}")


def _product(settings: Settings, definition: Definition) -> Cassandra:
    product = Cassandra(Artefacts(settings.cache, print), SystemClock())
    product.prepare(product_spec(resolve(definition), "cassandra"))
    return product


def _round(product: Cassandra, definition: Definition, variant: Variant, work: Path, number: int) -> Started:
    provider = LocalProvider(work, SystemClock())
    key = ClusterId(campaign_id="cluster-start", name=f"{variant.id}/{number}")
    wall, cpu = time.monotonic(), _own_cpu_s()
    cluster = provider.ensure(_request(key, definition))
    try:
        _deploy(product, provider, definition, variant, cluster)
        wall, cpu = time.monotonic() - wall, _own_cpu_s() - cpu
        nodes = list(_nodes(work))
        nodes_cpu = sum(_cpu_s(process) for process in nodes)
        memory = median(process.memory_full_info().pss / _MIB for process in nodes)
    finally:
        teardown = time.monotonic()
        provider.destroy(key)
    started = Started(wall, nodes_cpu, cpu, memory, time.monotonic() - teardown)
    print(f"{variant.id}, cluster {number}: {_line(started)}")
    return started


def _deploy(
    product: Cassandra, provider: LocalProvider, definition: Definition, variant: Variant, cluster: Cluster
) -> None:
    nodes = [provider.host(cluster, info) for info in cluster.nodes]
    spec = variant_spec(only_part(definition), variant)
    product.deploy(spec, nodes, provider.host(cluster, cluster.load_host), _LIFETIME)


def _request(key: ClusterId, definition: Definition) -> ClusterRequest:
    return ClusterRequest(
        id=key, owner="benchmark", nodes=definition.system.nodes, expires_at=SystemClock().now() + _LIFETIME
    )


def _nodes(work: Path) -> Sequence[psutil.Process]:
    """Return the nodes' JVMs. The CPU time of their supervisors is negligible."""
    found = []
    for process, _ in tagged_processes(work):
        with suppress(psutil.NoSuchProcess):
            if process.name() == "java":
                found.append(process)
    return found


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _own_cpu_s() -> float:
    """Return the CPU seconds of this process and of its ended children, such as the probe."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def _median(rounds: Sequence[Started]) -> Started:
    return Started(
        wall_s=median(one.wall_s for one in rounds),
        nodes_cpu_s=median(one.nodes_cpu_s for one in rounds),
        other_cpu_s=median(one.other_cpu_s for one in rounds),
        node_mib=median(one.node_mib for one in rounds),
        teardown_s=median(one.teardown_s for one in rounds),
    )


def _line(started: Started) -> str:
    return (
        f"{started.wall_s:.1f} s to all-up, {started.cpu_s:.1f} CPU s "
        f"(nodes {started.nodes_cpu_s:.1f}, probe and controller {started.other_cpu_s:.1f}), "
        f"{started.node_mib:.0f} MiB a node, {started.teardown_s:.1f} s to tear down"
    )


if __name__ == "__main__":
    main()
