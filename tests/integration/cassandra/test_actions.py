"""Actions on real nodes: each ends by what the nodes themselves tell."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.support.nodes.small import LIFETIME, QUICK, Deployment, define
from tests.support.resolved import only_part
from tests.support.suite.requirements import IS_LONG, long

from plimsoll.adapters.artefacts import Artefacts
from plimsoll.adapters.generators.plimsoll_stress import PlimsollStress
from plimsoll.domain.campaign.resolve import load_spec, variant_spec
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.keys.action import Action, ActionEnd, ActionName
from plimsoll.domain.text.errors import ActionError
from plimsoll.ports.host import Host
from plimsoll.ports.load_generator import LoadRequest
from plimsoll.ports.product import ActionRequest

PATIENCE_S = 480.0
"""On a busy machine joining takes minutes."""
RING_DELAY = "-Dcassandra.ring_delay_ms=5000"


@dataclass
class Ring:
    """Two nodes that run, and hosts on which none was started."""

    deployment: Deployment
    nodes: list[Host]
    spares: list[Host]

    def act(self, name: ActionName, spares: int = 0, late_s: float = 0) -> ActionEnd:
        """Return the end of the action, which is looked at until then; nodes and spares are then as it left them.

        Nobody looks for `late_s` after the first look.
        """
        own = self.deployment
        request = ActionRequest(
            Action(name=name),
            variant_spec(only_part(own.definition), own.variant),
            self.nodes,
            self.spares[:spares],
            LIFETIME,
            datetime.now(UTC),
        )
        until = time.monotonic() + PATIENCE_S
        while (end := own.product.act(replace(request, now=datetime.now(UTC))).end) is None:
            assert time.monotonic() < until, f"{name} did not end"
            time.sleep(late_s or 0.5)
            late_s = 0
        self.nodes = [node for node in (*self.nodes, *self.spares) if node.info.name in end.nodes]
        self.spares = self.spares[spares:]
        return end


@pytest.fixture
def ring(hosts_for: Callable[..., AbstractContextManager[Deployment]]) -> Iterator[Ring]:
    wide = define(4, flags=[*QUICK["flags"], RING_DELAY])  # type: ignore[misc]
    with hosts_for(wide) as deployment:
        narrow: Any = define(2, flags=[*QUICK["flags"], RING_DELAY])  # type: ignore[misc]
        two = Deployment(
            narrow, deployment.product, deployment.provider, deployment.cluster, deployment.nodes[:2], deployment.load
        )
        two.deploy()
        yield Ring(two, two.nodes, deployment.nodes[2:])


def populate(deployment: Deployment, artefacts: Artefacts) -> None:
    """Write some rows with a replica on each of two nodes."""
    workload = {"name": "StandardRow", "rows": 1000, "replication_factor": 2, "compaction": "leveled"}
    definition = Definition.model_validate({**deployment.definition.model_dump(mode="json"), "workload": workload})
    generator = PlimsollStress(artefacts)
    request = LoadRequest(
        "sample", load_spec(only_part(definition)), 200, [node.info.address for node in deployment.nodes], LIFETIME
    )
    generator.start_sample(deployment.load, request, "mine")
    while (status := generator.sample_status(deployment.load, "sample")).state == "running":
        time.sleep(0.5)
    assert status.state == "complete", status.reason


def test_nodes_are_compacted_and_repaired_and_one_joins_and_leaves(ring: Ring, artefacts: Artefacts) -> None:
    populate(ring.deployment, artefacts)
    compacted = ring.act("compact")
    assert list(compacted.nodes) == ["node1", "node2"]
    assert compacted.evidence[0].startswith("node1 compacted ")

    end = ring.act("add-node", spares=1)

    assert end.nodes == ("node1", "node2", "node3")
    assert [part.name for part in end.parts] == [
        "node3: start, gossip and fixed waits",
        "node3: streaming",
        "node3: opening to clients",
    ]
    assert end.streamed_bytes is not None
    assert not ring.deployment.product.down(ring.nodes)

    repaired = ring.act("repair")
    assert repaired.evidence[0].startswith("node1 repaired mine with the other replicas in ")

    left = ring.act("decommission")
    assert left.nodes == ("node1", "node2")
    assert [part.name for part in left.parts] == ["node3: handing over"]
    assert not ring.deployment.product.down(ring.nodes)

    if IS_LONG:
        assert ring.act("restart").nodes == ("node1", "node2")
        assert not ring.deployment.product.down(ring.nodes)
        began, replaced = datetime.now(UTC), ring.act("replace-node", spares=1, late_s=60)
        assert replaced.nodes == ("node1", "node4")
        assert replaced.began_at is not None
        assert replaced.began_at - began < timedelta(seconds=30)
        moves_s = sum(part.seconds for part in replaced.parts)
        assert moves_s <= (replaced.at - replaced.began_at).total_seconds() - replaced.waited_s
        assert replaced.waited_s > 0, "that the killed node is down is known within the minute in which nobody looks"
        assert replaced.undated_s == 0
        assert ring.act("kill-node").nodes == ("node1",)


@long("takes a minute; a stand-in of it is among the unit tests")
def test_a_new_node_that_is_killed_while_it_joins_fails_the_action(ring: Ring) -> None:
    own = ring.deployment
    request = ActionRequest(
        Action(name="add-node"),
        variant_spec(only_part(own.definition), own.variant),
        ring.nodes,
        ring.spares[:1],
        LIFETIME,
        datetime.now(UTC),
    )
    assert own.product.act(request).end is None
    ring.spares[0].stop("cassandra", grace=LIFETIME * 0)
    with pytest.raises(ActionError, match=r"node3 \("):
        own.product.act(request)
