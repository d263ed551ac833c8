"""Every command for ScyllaDB, on real hosts with a stand-in for its server: this machine's own, and over SSH."""

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from tests.support.nodes.scylla_archive import archive, named, served
from tests.support.resolved import only_part
from tests.support.ssh.sshd import OneKey
from tests.support.ssh.static_hosts import running_hosts

from plimsoll.adapters.artefacts import Artefacts
from plimsoll.adapters.clock import SystemClock
from plimsoll.adapters.products.nodes.own_machine import NodeTool
from plimsoll.adapters.products.scylladb import ScyllaDb
from plimsoll.adapters.providers.local import LocalProvider
from plimsoll.adapters.providers.ssh import Connections, SshProvider
from plimsoll.domain.campaign.resolve import variant_spec
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.hosts.cluster import ClusterId, ClusterRequest
from plimsoll.domain.text.errors import DeployError
from plimsoll.ports.host import Host
from plimsoll.ports.provider import Places, Provider
from plimsoll.services.cell.collect import files_of_processes

LIFETIME = timedelta(minutes=10)
KEY = ClusterId(campaign_id="scylla", name="cell/1")


@dataclass(frozen=True)
class Site:
    """Hosts of a cluster for a definition."""

    definition: Definition
    product: ScyllaDb
    nodes: list[Host]
    load: Host

    def deploy(self) -> None:
        self.product.deploy(
            variant_spec(only_part(self.definition), self.definition.variants[0]), self.nodes, self.load, LIFETIME
        )


def define(packed: bytes, nodes: int, provider: dict[str, Any], **settings: object) -> Definition:
    variant = {"id": "v", "product": "scylladb", "version": "4.4.3", "archive": named(packed), "settings": settings}
    return Definition.model_validate(
        {
            "name": "scylla",
            "title": "ScyllaDB",
            "system": {"nodes": nodes},
            "variants": [variant],
            "loads": ["200/s"],
            "workload": {"replication_factor": 1},
            "timing": {"duration": "6s", "warmup": "1s"},
            "service_levels": [{"interval": "1s"}],
            "provider": provider,
        }
    )


@contextmanager
def site(provider: Provider, folder: Path, packed: bytes, definition: Definition) -> Iterator[Site]:
    expires, options = datetime.now(UTC) + LIFETIME, dict(definition.provider.options)
    product = ScyllaDb(Artefacts(folder / "cache", print, archives=served(packed)), SystemClock())
    asked = {"id": KEY, "owner": "test", "nodes": definition.system.nodes, "expires_at": expires, "options": options}
    cluster = provider.ensure(ClusterRequest(**asked, ports=tuple(product.ports)))
    try:
        nodes = [provider.host(cluster, info) for info in cluster.nodes]
        yield Site(definition, product, nodes, provider.host(cluster, cluster.load_host))
    finally:
        provider.destroy(KEY)


@pytest.fixture(scope="module")
def packed() -> bytes:
    return archive()


@pytest.fixture(autouse=True)
def answering_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in speaks no CQL: the probe is content with nodes whose ports are open."""

    def probe(_: NodeTool, load: Host, nodes: list[Host], *rest: object) -> None:
        for node in nodes:
            for port in (9042, 19042):
                socket.create_connection((node.info.address, port), timeout=5).close()

    monkeypatch.setattr(NodeTool, "probe", probe)
    monkeypatch.setattr(NodeTool, "argv", lambda *_: ())


@pytest.fixture(params=["local", "ssh"])
def deployed(request: pytest.FixtureRequest, tmp_path: Path, packed: bytes) -> Iterator[Site]:
    if request.param == "local":
        local = LocalProvider(tmp_path / "work", SystemClock(), claims=tmp_path / "claims")
        with site(local, tmp_path, packed, define(packed, 2, {"name": "local"})) as made:
            made.deploy()
            yield made
        return
    with running_hosts(tmp_path / "ssh") as hosts:
        connections = Connections(OneKey(hosts.key.private))
        over_ssh = SshProvider(connections, SystemClock()).at(Places((hosts.options,)))
        definition = define(packed, 1, {"name": "ssh", "options": hosts.options}, memory="2G")
        with site(over_ssh, tmp_path, packed, definition) as made:
            made.deploy()
            yield made
        connections.close()


def kept(made: Site, node: Host) -> dict[str, str]:
    made.product.save(node)
    [(_, paths)] = files_of_processes(node, made.product.processes(made.definition.variants[0])).items()
    return {path.name: node.read_tail(path, max_bytes=1 << 20) for path in paths}


def test_nodes_start_and_are_asked_watched_collected_and_ended(deployed: Site) -> None:
    product, nodes = deployed.product, deployed.nodes
    deployed.deploy()  # again: nothing more is started
    assert list(product.down(nodes)) == []

    found = product.fingerprint(deployed.definition.variants[0], nodes)
    assert [(one.host, one.database, one.database_version) for one in found] == [
        (node.info.name, "scylladb", "4.4.3") for node in nodes
    ]
    assert {(one.processes[0].jvm, one.processes[0].version[:9]) for one in found} == {(None, "4.4.3-0.2")}
    assert all(one.archive.startswith("scylla-unified-4.4.3.tar.gz, sha256 ") for one in found)

    outcome = product.leftover_work(nodes, "settle")
    while outcome is None:
        time.sleep(0.2)
        outcome = product.leftover_work(nodes, "settle")
    assert outcome.settled
    assert outcome.left == {node.info.name: 0 for node in nodes}

    files = kept(deployed, nodes[0])
    assert "scylla_reactor_stalls 1" in files["metrics.txt"]
    [process] = product.processes(deployed.definition.variants[0])
    events = product.evidence.events(process.name, files[process.log], UTC)
    assert [(event.kind.id, event.amount) for event in events] == [("compaction", 120), ("reactor_stall", 41)]

    nodes[-1].stop("scylladb", grace=timedelta(seconds=5))
    [sentence] = product.down(nodes)
    assert sentence.startswith(f"{nodes[-1].info.name} ")


def test_the_archives_settings_and_the_definitions_are_below_the_nodes_own(deployed: Site) -> None:
    node = deployed.nodes[-1]
    files = kept(deployed, node)
    settings = YAML(typ="safe").load(files["scylla.yaml"])
    assert (settings["num_tokens"], settings["listen_address"]) == (256, node.info.address)
    assert settings["workdir"].startswith(str(node.root))
    argv, shares = files["command.txt"].split(), len(deployed.nodes) > 1
    assert settings["developer_mode"] is shares
    assert ("--overprovisioned" in argv) is ("--smp" in argv) is shares
    assert ("io_properties.yaml" in files) is ("--io-properties-file" in argv) is not shares
    assert shares or argv[argv.index("--memory") + 1] == "2048M"


def test_a_node_that_ends_says_why_and_how_to_mend_it(tmp_path: Path, packed: bytes) -> None:
    provider = LocalProvider(tmp_path / "work", SystemClock(), claims=tmp_path / "claims")
    definition = define(packed, 1, {"name": "local"}, smp=65, developer_mode=True)
    with site(provider, tmp_path, packed, definition) as made, pytest.raises(DeployError) as failed:
        made.deploy()
    assert failed.value.where.startswith("scylladb on node1")
    assert "Could not setup Async I/O" in failed.value.what
    assert failed.value.mend == "raise `fs.aio-max-nr` of the host"
