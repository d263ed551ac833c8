"""Region servers that leave a real HBase under load: one is stopped, another one is killed."""

import os
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from tests.integration.hbase.small import define
from tests.support.nodes.small import LIFETIME, local_cluster
from tests.support.processes import until
from tests.support.resolved import only_part
from tests.support.suite.requirements import long

from plimsoll.adapters.artefacts import Artefacts
from plimsoll.adapters.clock import SystemClock
from plimsoll.adapters.generators.plimsoll_stress import PlimsollStress
from plimsoll.adapters.hosts.base import process_of
from plimsoll.adapters.products.hbase import HBase
from plimsoll.adapters.products.hbase.events import Departure, HBaseLog
from plimsoll.adapters.products.hbase.roles import RoleFiles
from plimsoll.domain.campaign.resolve import load_spec, product_spec, resolve, variant_spec
from plimsoll.domain.keys.process import Event
from plimsoll.ports.host import Host
from plimsoll.ports.load_generator import LoadRequest, LoadStatus
from plimsoll.settings import Settings

pytestmark = long("takes minutes; its real lines are among the unit tests")

HERE = datetime.now().astimezone().tzinfo or UTC
"""The time zone of the logs."""
DEFINITION = define(
    3,
    {"zookeeper.session.timeout": 20_000},
    workload={"name": "YcsbA", "recordcount": 500, "regions": 9},
    load_generator={"threads": 2, "concurrency": 20, "heap": "128M"},
    timing={"duration": "20m", "warmup": "5s"},
    service_levels=[{"interval": "5s"}],
)


@dataclass(frozen=True)
class Loaded:
    """A deployed HBase, and the load on it."""

    product: HBase
    generator: PlimsollStress
    nodes: list[Host]
    load: Host

    def send(self, node: Host, number: signal.Signals) -> datetime:
        """Send the signal to the node's region server; return the time before that."""
        pid, at = process_of(node, "regionserver"), datetime.now(UTC)
        assert pid is not None
        os.kill(pid, number)
        until(lambda: node.status("regionserver").state == "exited", "the end of the region server")
        return at

    def status(self) -> LoadStatus:
        return self.generator.status(self.load, "load")

    def departure(self, node: Host) -> Departure:
        """Return that of the node's server, once its regions are elsewhere."""

        def over() -> list[Departure]:
            return [one for one in self._departures() if one.host == node.info.address and one.over]

        [found] = until(over, lambda: str([str(one) for one in self._departures()]))
        return found

    def events(self) -> dict[str, Event]:
        """Return those of servers that left, by their kind; of each kind there is one at most."""
        found = HBaseLog().events("master", self._log(), HERE)
        return {one.kind.id: one for one in found if one.kind.id.startswith("server_")}

    def _departures(self) -> Sequence[Departure]:
        return HBaseLog().departures("master", self._log(), HERE)

    def _log(self) -> str:
        first = self.nodes[0]
        return first.read_tail(RoleFiles(first.root, "master").log, max_bytes=8 << 20)


@pytest.fixture(scope="module")
def hbase(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loaded]:
    artefacts = Artefacts(Settings().cache, print)
    product, generator = HBase(artefacts, SystemClock()), PlimsollStress(artefacts)
    product.prepare(product_spec(resolve(DEFINITION), "hbase"))
    generator.prepare(load_spec(only_part(DEFINITION)))
    with local_cluster(tmp_path_factory.mktemp("hbase"), DEFINITION, "cell") as (provider, cluster):
        nodes: list[Host] = [provider.host(cluster, info) for info in cluster.nodes]
        load = provider.host(cluster, cluster.load_host)
        product.deploy(variant_spec(only_part(DEFINITION), DEFINITION.variants[0]), nodes, load, LIFETIME)
        addresses = [node.info.address for node in nodes]
        generator.start(
            load, LoadRequest("load", load_spec(only_part(DEFINITION)), 50, addresses, LIFETIME, protocol="hbase")
        )
        loaded = Loaded(product, generator, nodes, load)
        until(lambda: bool(loaded.status().achieved_ops_s) and loaded.status().phase != "populate", "the load")
        yield loaded


def test_a_region_server_that_is_stopped_is_no_loss(hbase: Loaded) -> None:
    node = hbase.nodes[1]
    hbase.send(node, signal.SIGTERM)
    departure = hbase.departure(node)
    assert departure.is_stop
    assert departure.moved == departure.regions != frozenset()
    assert hbase.events().keys() == {"server_stopped"}
    [sentence] = hbase.product.down(hbase.nodes)
    assert sentence.startswith(f"regionserver of node2 ({node.info.address}) ended with signal 15")
    assert f"\nregion server {departure.server} was stopped at " in sentence


def test_one_that_is_killed_is_named_with_the_time_for_which_its_regions_were_moving(hbase: Loaded) -> None:
    node, failed = hbase.nodes[2], hbase.status().errors or 0
    killed = hbase.send(node, signal.SIGKILL)
    assert hbase.product.down(hbase.nodes)[-1].endswith(
        "\nthe Master had not noticed it yet, so nobody served its regions"
    )
    until(lambda: (hbase.status().errors or 0) > failed, "operations that fail")
    departure = hbase.departure(node)
    assert not departure.is_stop
    assert departure.moved == departure.regions != frozenset()
    lost = hbase.events()["server_lost"]
    assert killed < lost.start < lost.end < datetime.now(UTC)
    [_, sentence] = hbase.product.down(hbase.nodes)
    assert sentence.startswith(f"regionserver of node3 ({node.info.address}) ended with signal 9")
    assert f"\nthe Master gave up region server {departure.server} at " in sentence
    assert f"; {len(departure.moved)} regions moved to others until " in sentence
    assert hbase.status().state == "running"
    until(lambda: (hbase.status().achieved_ops_s or 0) > 40, "a load that one server carries")
