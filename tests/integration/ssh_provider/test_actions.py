"""An action on hosts behind a real sshd: a node joins on a spare host of the group, and leaves again."""

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.support.nodes.small import LIFETIME, QUICK, define
from tests.support.resolved import only_part
from tests.support.ssh.sshd import OneKey
from tests.support.ssh.static_hosts import running_hosts
from tests.support.suite.requirements import long

from plimsoll.adapters.artefacts import Artefacts
from plimsoll.adapters.clock import SystemClock
from plimsoll.adapters.products.cassandra import Cassandra
from plimsoll.adapters.providers.ssh import Connections, SshProvider
from plimsoll.domain.campaign.resolve import product_spec, resolve, variant_spec
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.hosts.cluster import ClusterId, ClusterRequest
from plimsoll.domain.keys.action import Action, ActionEnd, ActionName
from plimsoll.ports.host import Host
from plimsoll.ports.product import ActionRequest
from plimsoll.ports.provider import Places
from plimsoll.settings import Settings

KEY = ClusterId(campaign_id="over-ssh", name="action/1")
PATIENCE_S = 480.0


@long("takes a minute; every command is tried on hosts of this machine")
def test_a_node_joins_on_a_spare_host_and_leaves_again(tmp_path: Path) -> None:
    with running_hosts(tmp_path, nodes=2) as hosts:
        flags = [*QUICK["flags"], "-Dcassandra.ring_delay_ms=5000"]  # type: ignore[misc]
        content = define(1, flags=flags).model_dump(mode="json")
        definition = Definition.model_validate({**content, "provider": {"name": "ssh", "options": hosts.options}})
        artefacts, connections = Artefacts(Settings().cache, print), Connections(OneKey(hosts.key.private))
        product = Cassandra(artefacts, SystemClock())
        product.prepare(product_spec(resolve(definition), "cassandra"))
        provider = SshProvider(connections, SystemClock()).at(Places((hosts.options,)))
        request: dict[str, Any] = {"id": KEY, "owner": "test", "nodes": 2, "options": hosts.options}
        cluster = provider.ensure(ClusterRequest(**request, expires_at=datetime.now(UTC) + LIFETIME))
        try:
            seed, spare = (provider.host(cluster, info) for info in cluster.nodes)
            load = provider.host(cluster, cluster.load_host)
            product.deploy(variant_spec(only_part(definition), definition.variants[0]), [seed], load, LIFETIME)

            joined = acted(product, definition, "add-node", [seed], [spare])
            assert joined.nodes == ("node1", "node2")
            assert [node.host for node in product.fingerprint(definition.variants[0], [seed, spare])] == [
                "node1",
                "node2",
            ]

            left = acted(product, definition, "decommission", [seed, spare], [])
            assert left.nodes == ("node1",)
        finally:
            provider.destroy(KEY)
            connections.close()


def acted(
    product: Cassandra, definition: Definition, name: ActionName, nodes: list[Host], spares: list[Host]
) -> ActionEnd:
    """Return the end of the action, which is looked at until then."""
    variant = definition.variants[0]
    request = ActionRequest(
        Action(name=name), variant_spec(only_part(definition), variant), nodes, spares, LIFETIME, datetime.now(UTC)
    )
    until = time.monotonic() + PATIENCE_S
    while (end := product.act(request).end) is None:
        assert time.monotonic() < until, f"{name} did not end"
        time.sleep(0.5)
    return end
