"""Waiting by JMX for what populating left."""

import json
from pathlib import Path, PurePosixPath

import pytest
from tests.fakes.artefacts import EmptyArtefacts
from tests.fakes.scripted_host import ScriptedHost

from plimsoll.adapters.clock import SystemClock
from plimsoll.adapters.products.cassandra import Cassandra
from plimsoll.domain.hosts.cluster import HostInfo
from plimsoll.ports.host import JobStatus


@pytest.fixture
def nodes(tmp_path: Path) -> list[ScriptedHost]:
    """Provide two machines, of which the first has two nodes."""
    machines = {"node1": "a", "node2": "a", "node3": "b"}
    return [
        ScriptedHost(
            tmp_path / name, HostInfo(name=name, role="node", address=f"10.0.0.{n}", facts={"machine": machine})
        )
        for n, (name, machine) in enumerate(machines.items(), start=1)
    ]


@pytest.fixture
def product(tmp_path: Path) -> Cassandra:
    return Cassandra(EmptyArtefacts(tmp_path / "artefacts"), SystemClock())


def end(host: ScriptedHost, said: str) -> None:
    host.write(PurePosixPath("jobs/settle.log"), said)
    host.statuses["settle"] = JobStatus("exited", 0)


def answer(*left: int, settled: bool = True, error: str | None = None) -> str:
    by_address = {f"127.0.0.{n}": count for n, count in enumerate(left)}
    return "a warning\n" + json.dumps({"settled": settled, "left": by_address, "waited_s": 3.0, "error": error}) + "\n"


def test_each_machine_waits_once_and_the_answer_comes_when_all_have_ended(
    product: Cassandra, nodes: list[ScriptedHost]
) -> None:
    first, second, other = nodes
    assert product.leftover_work(nodes, "settle") is None
    assert product.leftover_work(nodes, "settle") is None
    assert [list(host.jobs) for host in nodes] == [["settle"], [], ["settle"]]
    ports = first.jobs["settle"].argv[first.jobs["settle"].argv.index("--jmx-port") + 1]
    assert len(ports.split(",")) == 2
    end(first, answer(0, 0))
    assert product.leftover_work(nodes, "settle") is None
    end(other, answer(7, settled=False))
    found = product.leftover_work(nodes, "settle")
    assert found is not None
    assert (found.settled, found.left, found.problem) == (False, {"node1": 0, "node2": 0, "node3": 7}, "")
    assert second.jobs == {}


def test_nodes_that_can_not_tell_hold_nobody_up(product: Cassandra, nodes: list[ScriptedHost]) -> None:
    product.leftover_work(nodes, "settle")
    end(nodes[0], "java: killed\n")
    end(nodes[2], answer(settled=False, error="no answer from the JMX port"))
    found = product.leftover_work(nodes, "settle")
    assert found is not None
    assert not found.settled
    assert found.problem == ("node1: no answer to whether compactions are left; no answer from the JMX port")
