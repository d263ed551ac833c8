"""One real node and a real load on a group of hosts behind a real sshd, by the very adapters of one machine."""

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.support.processes import marked
from tests.support.ssh.sshd import OneKey
from tests.support.ssh.static_hosts import running_hosts

from plimsoll.adapters.artefacts import Artefacts
from plimsoll.adapters.cassandra import Cassandra
from plimsoll.adapters.clock import SystemClock
from plimsoll.adapters.plimsoll_stress import PlimsollStress
from plimsoll.adapters.plimsoll_stress.command import SUMMARY
from plimsoll.adapters.sampler import ProcSampler
from plimsoll.adapters.ssh import Connections, SshProvider
from plimsoll.domain.cluster import ClusterId, ClusterRequest
from plimsoll.domain.definition import Definition
from plimsoll.ports.load_generator import LoadRequest
from plimsoll.ports.provider import Places
from plimsoll.settings import Settings

LIFETIME = timedelta(minutes=10)
PATIENCE_S = 180
KEY = ClusterId(campaign_id="over-ssh", name="cell/1")


def definition_of(options: Any) -> Any:
    return Definition.model_validate(
        {
            "name": "over-ssh",
            "title": "Over SSH",
            "system": {"version": "4.0.1", "nodes": 1},
            "variants": [{"id": "v", "jvm": {"jdk": "openjdk-11.0.13", "collector": "G1", "heap": "512M"}}],
            "loads": ["200/s"],
            "workload": {"partitions": 1000, "populate": 100, "replication_factor": 1},
            "load_generator": {"threads": 2, "heap": "128M"},
            "timing": {"duration": "10s", "warmup": "2s"},
            "service_levels": [{"interval": "1s"}],
            "provider": {"name": "ssh", "options": options},
        }
    )


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Provider, definition, cluster and its hosts, the node up."""
    folder = tmp_path_factory.mktemp("over-ssh")
    with running_hosts(folder) as hosts:
        options = hosts.options
        connections = Connections(OneKey(hosts.key.private))
        provider = SshProvider(connections, SystemClock()).at(Places((options,)))
        definition = definition_of(options)
        artefacts = Artefacts(Settings().cache, print)
        artefacts.prepare(definition)
        assert provider.check(definition) == []
        expires = datetime.now(UTC) + LIFETIME
        cluster = provider.ensure(ClusterRequest(id=KEY, owner="test", nodes=1, expires_at=expires, options=options))
        try:
            (node,) = (provider.host(cluster, info) for info in cluster.nodes)
            load = provider.host(cluster, cluster.load_host)
            database = Cassandra(artefacts, SystemClock())
            database.deploy(definition, definition.variants[0], [node], load, LIFETIME)
            yield hosts.server, definition, artefacts, database, node, load
        finally:
            provider.destroy(KEY)
            connections.close()
            assert not marked("PLIMSOLL_WORK", str(hosts.folder / "clusters"))
            assert not (hosts.folder / "clusters" / "over-ssh").exists()


def test_the_node_is_what_the_definition_says(running: Any) -> None:
    _, definition, _, database, node, load = running
    assert list(database.down([node])) == []
    (fingerprint,) = database.fingerprint(definition.variants[0], [node], load)
    assert fingerprint.database_version == "4.0.1"
    assert fingerprint.jvm.collector == "G1"
    assert fingerprint.jvm.heap_max_bytes == 512 << 20
    assert fingerprint.facts.provider == {"group": "here"}
    assert {path.name for path in database.files(node)} >= {"cassandra.yaml", "system.log", "gc.log", "cassandra.log"}


def test_a_load_runs_to_its_end_although_the_link_is_cut(running: Any, tmp_path: Path) -> None:
    server, definition, artefacts, _, node, load = running
    generator, sampler = PlimsollStress(artefacts), ProcSampler()
    sampler.start(load, LIFETIME)
    request = LoadRequest("load", definition, 200, [node.info.address], LIFETIME)
    generator.start(load, request)
    server.cut()
    generator.start(load, request)
    deadline = time.monotonic() + PATIENCE_S
    while (status := generator.status(load, "load")).state == "running":
        assert time.monotonic() < deadline, "the load does not end"
        time.sleep(0.5)
    assert status.state == "complete", status.reason
    for path in (*generator.files(load), *sampler.files(load)):
        load.fetch(path, tmp_path / path.name)
    summary = generator.summary({SUMMARY: (tmp_path / SUMMARY).read_text()})
    assert summary.complete
    assert sum(summary.operations.values()) > 1000
    assert json.loads((tmp_path / SUMMARY).read_text())["complete"]
    assert len(generator.response_time_logs(path.name for path in tmp_path.iterdir())) == 2
    assert (tmp_path / "host.csv").read_text().count("\n") > 5
