"""One real node and a real load on a group of hosts behind a real sshd, by the very adapters of one machine."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.support.nodes.slowness import Measured, not_slow, undisturbed
from tests.support.nodes.small import LIFETIME, QUICK
from tests.support.processes import command_line, marked, until
from tests.support.resolved import only_part
from tests.support.ssh.sshd import OneKey, Sshd
from tests.support.ssh.static_hosts import running_hosts
from tests.support.suite.requirements import long

from plimsoll.adapters.artefacts import Artefacts
from plimsoll.adapters.clock import SystemClock
from plimsoll.adapters.generators.cassandra_stress import CassandraStress
from plimsoll.adapters.generators.plimsoll_stress import PlimsollStress
from plimsoll.adapters.generators.plimsoll_stress.command import SUMMARY
from plimsoll.adapters.hosts.sampler import ProcSampler
from plimsoll.adapters.products.cassandra import Cassandra
from plimsoll.adapters.providers.ssh import Connections, SshProvider
from plimsoll.analysis.attempt.judgement import Run
from plimsoll.analysis.attempt.service_level_evaluation import judge_logs
from plimsoll.domain.campaign.resolve import hosts_spec, load_spec, product_spec, resolve, variant_spec
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.hosts.cluster import Cluster, ClusterId, ClusterRequest
from plimsoll.domain.keys.process import NodeNeeds
from plimsoll.ports.host import Host
from plimsoll.ports.load_generator import LoadRequest, LoadStatus
from plimsoll.ports.provider import Places
from plimsoll.services.cell.collect import files_of_processes
from plimsoll.services.cell.load_hosts import clocks, together
from plimsoll.settings import Settings

MAIN = "org.apache.cassandra.stress.Stress"
KEY = ClusterId(campaign_id="over-ssh", name="cell/1")
ONE_REPLICA = "{'class': 'SimpleStrategy', 'replication_factor': 1}"
PROFILE = {
    "keyspace": "mine",
    "keyspace_definition": f"CREATE KEYSPACE mine WITH replication = {ONE_REPLICA}",
    "table": "people",
    "table_definition": "CREATE TABLE people (id bigint PRIMARY KEY, note text)",
    "columnspec": [{"name": "id", "population": "uniform(1..1000)"}, {"name": "note", "size": "fixed(100)"}],
    "queries": {"read": {"cql": "SELECT * FROM people WHERE id = ?", "fields": "samerow"}},
}
USER = {"name": "user", "rows": 1000, "profile": PROFILE, "ops": {"insert": 1, "read": 3}, "replication_factor": 1}
MIXED = {"name": "mixed", "rows": 1000, "replication_factor": 1}


def definition_of(options: Any) -> Any:
    return Definition.model_validate(
        {
            "name": "over-ssh",
            "title": "Over SSH",
            "system": {"version": "4.0.1", "nodes": 1},
            "variants": [{"id": "v", "jvm": {"jdk": "openjdk-11.0.13", "collector": "G1", "heap": "512M", **QUICK}}],
            "loads": ["200/s"],
            "workload": {"partitions": 1000, "populate": 100, "replication_factor": 1},
            "load_generator": {"threads": 2, "heap": "128M"},
            "timing": {"duration": "10s", "warmup": "2s"},
            "service_levels": [{"interval": "1s"}],
            "provider": {"name": "ssh", "options": options},
        }
    )


@dataclass(frozen=True)
class Site:
    """A cluster whose node is up. `work` is where the processes of clusters have their mark."""

    server: Sshd
    definition: Definition
    artefacts: Artefacts
    product: Cassandra
    provider: SshProvider
    cluster: Cluster
    work: str

    @property
    def node(self) -> Host:
        """Return the only one."""
        return self.provider.host(self.cluster, self.cluster.nodes[0])

    def load(self, environment: str = "") -> Host:
        """Return the first load host, with a folder of its own for each environment."""
        return self.provider.host(self.cluster, self.cluster.load_host, environment)

    @property
    def loads(self) -> list[Host]:
        """Return both load hosts."""
        return [self.provider.host(self.cluster, info) for info in self.cluster.load_hosts]

    def request(self, definition: Definition) -> LoadRequest:
        """200/s against the node."""
        return LoadRequest("load", load_spec(only_part(definition)), 200, [self.node.info.address], LIFETIME)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("over-ssh")
    with running_hosts(folder) as hosts:
        options = hosts.options
        connections = Connections(OneKey(hosts.key.private))
        provider = SshProvider(connections, SystemClock()).at(Places((options,)))
        definition = definition_of(options)
        artefacts = Artefacts(Settings().cache, print)
        Cassandra(artefacts, SystemClock()).prepare(product_spec(resolve(definition), "cassandra"))
        PlimsollStress(artefacts).prepare(load_spec(only_part(definition)))
        assert provider.check(hosts_spec(resolve(definition), NodeNeeds())) == []
        expires = datetime.now(UTC) + LIFETIME
        request = ClusterRequest(id=KEY, owner="test", nodes=1, load_hosts=2, expires_at=expires, options=options)
        cluster = provider.ensure(request)
        try:
            product, work = Cassandra(artefacts, SystemClock()), str(hosts.folder / "clusters")
            site = Site(hosts.server, definition, artefacts, product, provider, cluster, work)
            product.deploy(
                variant_spec(only_part(definition), definition.variants[0]), [site.node], site.load(), LIFETIME
            )
            yield site
        finally:
            provider.destroy(KEY)
            connections.close()
            assert not marked("PLIMSOLL_WORK", str(hosts.folder / "clusters"))
            assert not (hosts.folder / "clusters" / "over-ssh").exists()


def test_the_node_is_what_the_definition_says(running: Site) -> None:
    node, product = running.node, running.product
    assert list(product.down([node])) == []
    (fingerprint,) = product.fingerprint(running.definition.variants[0], [node])
    assert fingerprint.database_version == "4.0.1"
    (process,) = fingerprint.processes
    assert process.jvm is not None
    assert process.jvm.collector == "G1"
    assert process.jvm.heap_max_bytes == 512 << 20
    assert fingerprint.facts.provider == {"group": "here"}
    [files] = files_of_processes(node, product.processes(running.definition.variants[0])).values()
    assert {path.name for path in files} >= {
        "cassandra.yaml",
        "system.log",
        "gc.log",
        "cassandra.log",
    }


def test_two_load_hosts_put_on_one_load_to_its_end_although_the_link_is_cut(running: Site, tmp_path: Path) -> None:
    generator, sampler, loads = PlimsollStress(running.artefacts), ProcSampler(), running.loads
    parts = [replace(running.request(running.definition), part=part, parts=2) for part in (1, 2)]
    for load, request in zip(loads, parts, strict=True):
        sampler.start(load, LIFETIME)
        generator.start(load, request)
    running.server.cut()
    for load, request in zip(loads, parts, strict=True):
        generator.start(load, request)

    until(lambda: followed(generator, loads).is_ready, "both are ready")
    readings = clocks(loads)
    assert all(abs(reading.offset_ms) <= reading.error_ms + 1 for reading in readings.values())
    start = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=20)  # both must be told before, on any machine
    for load in loads:
        generator.begin(load, "load", start, start)
    until(lambda: followed(generator, loads).state == "complete", "both are complete")

    for load in loads:
        folder = tmp_path / load.info.name
        folder.mkdir()
        files = fetched(generator, load, folder)
        summary = generator.summary({SUMMARY: files[SUMMARY].read_text()})
        assert (summary.complete, summary.started_at, summary.attempted_ops_s) == (True, start, 100.0)
        assert not_slow(summary.errors) == {}
        run = json.loads(files[SUMMARY].read_text())["run"]
        assert run["scheduled"] == 100 * 10 == run["completed"] + sum(run["errors"].values())
        assert len(generator.response_time_logs(load_spec(only_part(running.definition)), files)) == 2
        until(partial(has_samples, sampler, load, folder), "five samples")


def has_samples(sampler: ProcSampler, load: Host, folder: Path) -> bool:
    """Tell whether the sampler, which goes on, has written five lines and its header.

    They are brought to the folder.
    """
    for path in sampler.files(load):
        load.fetch(path, folder / path.name)
    return (folder / "host.csv").read_text().count("\n") > 5


def followed(generator: PlimsollStress, loads: Sequence[Host]) -> LoadStatus:
    """Tell how the load of both is; it has not failed."""
    status = together({load.info.name: generator.status(load, "load") for load in loads})
    assert status.state != "failed", status.reason
    return status


def by_cassandra_stress(definition: Definition, workload: Any, **timing: str) -> Definition:
    """Return the same load by Cassandra's own generator."""
    generator = {"name": "cassandra-stress", "threads": 2, "concurrency": 10, "heap": "128M"}
    changes = {
        "workload": workload,
        "load_generator": generator,
        "timing": {"duration": "10s", "warmup": "2s"} | timing,
    }
    return Definition.model_validate({**definition.model_dump(mode="json"), **changes})


def at_work(site: Site) -> list[list[str]]:
    """Command lines of the living JVMs of cassandra-stress."""
    lines = map(command_line, marked("PLIMSOLL_WORK", site.work))
    return [line for line in lines if MAIN in line and line[0].endswith("java")]


@long("cassandra-stress runs on local nodes, too")
def test_cassandra_stress_runs_a_user_profile_from_what_was_brought_to_its_host(running: Site, tmp_path: Path) -> None:
    definition = by_cassandra_stress(running.definition, USER)
    generator = CassandraStress(running.artefacts)
    generator.prepare(load_spec(only_part(definition)))
    assert generator.check(load_spec(only_part(definition))) == []
    summary, judgement = undisturbed(
        lambda number: by_profile(running, generator, definition, tmp_path / str(number), f"by-profile-{number}")
    )
    assert (summary.complete, summary.failed, summary.shares) == (True, 0, {"writes": 0.25, "reads": 0.75})
    assert judgement.valid, judgement.reasons
    assert judgement.intervals.operations == ("reads", "writes")


def by_profile(
    site: Site, generator: CassandraStress, definition: Definition, folder: Path, environment: str
) -> Measured:
    """Put on a load in that environment. Its link is cut, it ends, and its files are brought to the folder."""
    load = site.load(environment)
    generator.start(load, site.request(definition))
    (command,) = until(lambda: at_work(site), "cassandra-stress at work")
    cache = str(Settings().cache)
    assert not [word for word in command if cache in word], "it runs from the controller's own files"
    site.server.cut()

    until(lambda: generator.status(load, "load").state != "running", "the end of the load")

    status = generator.status(load, "load")
    assert status.state == "complete", status.reason
    folder.mkdir()
    files = fetched(generator, load, folder)
    summary = generator.summary({name: files[name].read_text() for name in generator.summary_files})
    logs = generator.response_time_logs(load_spec(only_part(definition)), files)
    run = Run(definition.timing.warmup, definition.timing.duration, started_at=summary.started_at)
    contents = {name: files[name].read_bytes() for name in logs.values()}
    return summary, judge_logs(contents, run, definition.service_levels)


@long("a load is cancelled on a cluster of others")
def test_a_cancelled_load_of_cassandra_stress_leaves_its_logs_and_no_process(running: Site, tmp_path: Path) -> None:
    load = running.load("cancelled")
    definition = by_cassandra_stress(running.definition, MIXED, duration="302s")
    generator = CassandraStress(running.artefacts)
    generator.start(load, running.request(definition))
    until(lambda: generator.status(load, "load").phase != "populate", "the timed run")
    until(lambda: at_work(running), "the timed run's process")

    generator.stop(load, "load")

    assert at_work(running) == []
    status = generator.status(load, "load")
    assert status.state == "failed"
    # Its last words may follow.
    assert status.reason.startswith("load: cassandra-stress was ended before its time"), status.reason
    files = fetched(generator, load, tmp_path)
    assert {"load.console", "populate.end", "plan.json"} <= files.keys()
    assert not generator.summary({name: files[name].read_text() for name in files}).complete


def fetched(generator: Any, load: Any, folder: Path) -> dict[str, Path]:
    """What the generator left on its host, brought here."""
    for path in generator.files(load):
        load.fetch(path, folder / path.name)
    return {path.name: path for path in folder.iterdir()}
