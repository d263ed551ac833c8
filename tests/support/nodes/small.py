"""Small real nodes on loopback addresses: their definition, a cluster of them, and their GC logs."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path, PurePosixPath

from tests.support.campaigns.local_definition import ANY_NOISE
from tests.support.nodes.even import SHORT_LIVED, EvenProvider
from tests.support.resolved import only_part

from plimsoll.adapters.artefacts import Artefacts
from plimsoll.adapters.clock import SystemClock
from plimsoll.adapters.products.cassandra import Cassandra
from plimsoll.adapters.providers.local import LocalProvider
from plimsoll.domain.campaign.resolve import variant_spec
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.hosts.cluster import Cluster, ClusterId, ClusterRequest
from plimsoll.domain.hosts.fingerprint import NodeFingerprint
from plimsoll.domain.keys.variant import Variant
from plimsoll.ports.host import Host
from plimsoll.services.cell.collect import files_of_processes

LIFETIME = timedelta(hours=1)
"""Of nodes and jobs; longer than any test, since on a busy machine tests take many times as long."""
QUICK: Mapping[str, object] = {"flags": list(SHORT_LIVED)}
"""Flags for a faster start: with only the first JIT compiler, a node's start takes a quarter less processor time."""


def define(
    nodes: int = 3, settings: Mapping[str, object] | None = None, version: str = "4.0.1", **jvm: object
) -> Definition:
    """Return a definition of small nodes with one variant. `jvm` has options of its JVM."""
    return Definition.model_validate(
        {
            "name": "small",
            "title": "Small",
            "system": {"version": version, "nodes": nodes, "settings": settings or {}},
            "variants": [
                {"id": "v", "jvm": {"jdk": "openjdk-11.0.13", "collector": "G1", "heap": "512M", **QUICK, **jvm}},
            ],
            "loads": ["200/s"],
            "workload": {"partitions": 1000, "populate": 100, "replication_factor": nodes},
            "load_generator": {"threads": 2, "heap": "128M"},
            "timing": {"duration": "6s", "warmup": "1s"},
            "service_levels": [{"interval": "1s"}],
            "disturbance": ANY_NOISE,
        }
    )


@dataclass(frozen=True)
class Deployment:
    """A definition, and the hosts of a cluster for it."""

    definition: Definition
    product: Cassandra
    provider: LocalProvider
    cluster: Cluster
    nodes: list[Host]
    load: Host

    def load_in(self, environment: str) -> Host:
        """Return the load host, with a folder of its own for that environment."""
        return self.provider.host(self.cluster, self.cluster.load_host, environment)

    @property
    def variant(self) -> Variant:
        """Return the only one."""
        return self.definition.variants[0]

    def deploy(self) -> None:
        """Start the nodes, and wait until all are up."""
        self.product.deploy(variant_spec(only_part(self.definition), self.variant), self.nodes, self.load, LIFETIME)

    def fingerprint(self) -> list[NodeFingerprint]:
        """Return the fingerprint of each node."""
        return list(self.product.fingerprint(self.variant, self.nodes))

    def files(self, node: Host) -> Sequence[PurePosixPath]:
        """Return the files that are kept of the one process of a node."""
        [paths] = files_of_processes(node, self.product.processes(self.variant)).values()
        return paths


@contextmanager
def provided(artefacts: Artefacts, folder: Path, definition: Definition, cell_id: str = "cell") -> Iterator[Deployment]:
    """Provide the hosts of a new cluster for a definition.

    It is destroyed at the end, and the provider verifies that.
    """
    with local_cluster(folder, definition, cell_id) as (provider, cluster):
        nodes: list[Host] = [provider.host(cluster, info) for info in cluster.nodes]
        load = provider.host(cluster, cluster.load_host)
        yield Deployment(definition, Cassandra(artefacts, SystemClock()), provider, cluster, nodes, load)


@contextmanager
def local_cluster(folder: Path, definition: Definition, cell_id: str) -> Iterator[tuple[LocalProvider, Cluster]]:
    """Provide a new cluster of any product, which is destroyed at the end."""
    provider, clock = EvenProvider(folder, SystemClock()), SystemClock()
    key = ClusterId(campaign_id="campaign", name=f"{cell_id}/1")
    expires = clock.now() + LIFETIME
    cluster = provider.ensure(ClusterRequest(id=key, owner="test", nodes=definition.system.nodes, expires_at=expires))
    try:
        yield provider, cluster
    finally:
        provider.destroy(key)


def gc_log(deployment: Deployment, node: Host) -> str:
    """Return the complete lines of a running node's GC log."""
    path = next(path for path in deployment.files(node) if path.name == "gc.log")
    return node.read_tail(path, max_bytes=10_000_000).rpartition("\n")[0]


def pauses_counted(log: str) -> int:
    """Return the number of pauses as `grep` would count them: lines with a pause's length, without starts and
    statistics.
    """
    pauses = (line for line in log.splitlines() if " Pause " in line and line.endswith("ms"))
    return sum("gc,start" not in line and "gc,stats" not in line for line in pauses)
