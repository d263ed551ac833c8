"""Real nodes on loopback addresses. Every cluster is destroyed after its test, and that is verified by the provider."""

from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import pytest

from plimsoll.adapters.artefacts import Artefacts
from plimsoll.adapters.cassandra import Cassandra
from plimsoll.adapters.clock import SystemClock
from plimsoll.adapters.local import LocalProvider
from plimsoll.domain.cluster import Cluster, ClusterId, ClusterRequest
from plimsoll.domain.definition import Definition
from plimsoll.ports.host import Host
from plimsoll.settings import Settings

LIFETIME = timedelta(minutes=10)


def define(nodes=3, settings=None, version="4.0.1", **jvm):
    """A definition of small nodes; `jvm` is the one variant's."""
    return Definition.model_validate(
        {
            "name": "small",
            "title": "Small",
            "system": {"version": version, "nodes": nodes, "settings": settings or {}},
            "variants": [
                {"id": "v", "jvm": {"jdk": "openjdk-11.0.13", "collector": "G1", "heap": "512M", **jvm}},
            ],
            "loads": ["200/s"],
            "workload": {"partitions": 1000, "populate": 100, "replication_factor": nodes},
            "load_generator": {"threads": 2, "heap": "128M"},
            "timing": {"duration": "6s", "warmup": "1s"},
            "service_levels": [{"interval": "1s"}],
        }
    )


@dataclass(frozen=True)
class Deployment:
    """A definition, and the hosts of a cluster for it."""

    definition: Definition
    database: Cassandra
    cluster: Cluster
    nodes: list[Host]
    load: Host

    @property
    def variant(self):
        return self.definition.variants[0]

    def deploy(self):
        self.database.deploy(self.definition, self.variant, self.nodes, self.load, LIFETIME)

    def fingerprint(self):
        return self.database.fingerprint(self.variant, self.nodes, self.load)


@pytest.fixture(scope="session")
def artefacts():
    """From the cache that the demo uses too: big downloads happen once on a machine."""
    artefacts = Artefacts(Settings().cache, print)
    artefacts.prepare(define())
    return artefacts


@pytest.fixture(scope="session")
def hosts_for(artefacts, tmp_path_factory):
    """A context: the hosts of a fresh cluster for a definition, destroyed at its end."""

    @contextmanager
    def provided(definition, cell_id="cell"):
        provider = LocalProvider(tmp_path_factory.mktemp("clusters"), SystemClock())
        key = ClusterId(campaign_id="cassandra", name=f"{cell_id}/1")
        request = ClusterRequest(
            id=key, owner="test", nodes=definition.system.nodes, expires_at=SystemClock().now() + LIFETIME
        )
        cluster = provider.ensure(request)
        try:
            nodes: list[Host] = [provider.host(cluster, info) for info in cluster.nodes]
            database = Cassandra(artefacts, SystemClock())
            yield Deployment(definition, database, cluster, nodes, provider.host(cluster, cluster.load_host))
        finally:
            provider.destroy(key)

    return provided


def gc_log(deployment, node) -> str:
    """The whole lines of a running node's GC log."""
    path = next(path for path in deployment.database.files(node) if path.name == "gc.log")
    return node.read_tail(path, max_bytes=10_000_000).rpartition("\n")[0]


def pauses_counted(log: str) -> int:
    """As one counts them with `grep`: lines that tell a pause's length; beginnings and statistics tell them again."""
    told = (line for line in log.splitlines() if " Pause " in line and line.endswith("ms"))
    return sum("gc,start" not in line and "gc,stats" not in line for line in told)
