"""A real HBase of two hosts on loopback addresses: HDFS, ZooKeeper, Master and region servers, seven processes."""

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, timedelta
from itertools import pairwise

import pytest
from tests.integration.hbase.small import define
from tests.support.nodes.small import LIFETIME, local_cluster
from tests.support.processes import until
from tests.support.resolved import only_part

from plimsoll.adapters.artefacts import Artefacts
from plimsoll.adapters.clock import SystemClock
from plimsoll.adapters.hosts.base import process_of
from plimsoll.adapters.products.hbase import HBase
from plimsoll.domain.campaign.resolve import product_spec, resolve, variant_spec
from plimsoll.domain.keys.variant import Variant
from plimsoll.ports.host import Host
from plimsoll.services.cell.collect import files_of_processes
from plimsoll.settings import Settings

DEFINITION = define(2)
EVERYWHERE, FIRST_ONLY = {"regionserver", "datanode"}, {"master", "namenode", "zookeeper"}


@dataclass(frozen=True)
class Running:
    """A deployed HBase."""

    product: HBase
    nodes: list[Host]

    @property
    def variant(self) -> Variant:
        """Return the only one."""
        return DEFINITION.variants[0]


@pytest.fixture(scope="module")
def hbase(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    product = HBase(Artefacts(Settings().cache, print), SystemClock())
    product.prepare(product_spec(resolve(DEFINITION), "hbase"))
    assert list(product.check(product_spec(resolve(DEFINITION), "hbase"))) == []
    with local_cluster(tmp_path_factory.mktemp("hbase"), DEFINITION, "cell") as (provider, cluster):
        nodes: list[Host] = [provider.host(cluster, info) for info in cluster.nodes]
        load = provider.host(cluster, cluster.load_host)
        product.deploy(variant_spec(only_part(DEFINITION), DEFINITION.variants[0]), nodes, load, LIFETIME)
        yield Running(product, nodes)


def test_every_process_is_up_and_tells_its_flags_and_versions(hbase: Running) -> None:
    assert list(hbase.product.down(hbase.nodes)) == []
    first, second = hbase.product.fingerprint(hbase.variant, hbase.nodes)
    assert {one.name for one in first.processes} == EVERYWHERE | FIRST_ONLY
    assert {one.name for one in second.processes} == EVERYWHERE
    assert first.database_version == second.database_version == "2.6.4-hadoop3"
    told = {one.name: one for one in first.processes}
    assert {name: one.version for name, one in told.items() if name not in ("master", "regionserver")} == {
        "namenode": "3.4.2",
        "datanode": "3.4.2",
        "zookeeper": "3.8.4",
    }
    declared = {one.name: one.jvm for one in hbase.product.processes(hbase.variant)}
    for name, one in told.items():
        jvm = declared[name]
        assert one.jvm is not None
        assert jvm is not None
        assert (one.jvm.collector, one.jvm.heap_max_bytes) == (jvm.collector, jvm.heap)
        assert set(jvm.flags) <= set(one.jvm.arguments)


def test_it_tells_when_nothing_is_left_of_populating(hbase: Running) -> None:
    while (outcome := hbase.product.leftover_work(hbase.nodes, "settle")) is None:
        time.sleep(0.2)
    assert (outcome.settled, outcome.problem) == (True, "")
    assert set(outcome.left) == {"node1", "node2"}


def test_logs_and_settings_of_each_process_are_kept_and_read(hbase: Running) -> None:
    node = hbase.nodes[0]
    hbase.product.save(node)
    kept = files_of_processes(node, hbase.product.processes(hbase.variant))
    for name, paths in kept.items():
        names = {path.name for path in paths}
        assert {"server.log", f"{name}.log", "gc.log", "command.txt", "log4j.properties"} <= names
        assert not {one for one in names if "password" in one or one == "empty"}
        log = next(path for path in paths if path.name == "server.log")
        told = hbase.product.evidence.lines(name, node.read_tail(log, max_bytes=1 << 20), UTC)
        assert len(told) > 10
        # A thread may be kept from writing a line that it has given its time, and others write later ones meanwhile.
        assert all(before.at - after.at < timedelta(minutes=1) for before, after in pairwise(told))
    assert "metrics.json" in {path.name for path in kept["regionserver"]}


def test_a_region_server_that_is_killed_is_named(hbase: Running) -> None:
    node = hbase.nodes[1]
    pid = process_of(node, "regionserver")
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    until(lambda: node.status("regionserver").state == "exited", "the end of the region server")
    [sentence] = hbase.product.down(hbase.nodes)
    assert sentence.startswith(f"regionserver of node2 ({node.info.address}) ended with signal 9; a person sent it")
