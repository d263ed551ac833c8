"""One real Cassandra node that tests may stop and kill."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import psutil
from tests.support.nodes.even import EvenProvider
from tests.support.nodes.small import define
from tests.support.resolved import only_part

from plimsoll.adapters.artefacts import Artefacts
from plimsoll.adapters.clock import SystemClock
from plimsoll.adapters.products.cassandra import Cassandra
from plimsoll.domain.campaign.resolve import variant_spec
from plimsoll.domain.hosts.cluster import ClusterId, ClusterRequest

LIFETIME = timedelta(hours=1)
"""Longer than all tests of the folder take on a busy machine."""
CQL_PORT = 9042


@dataclass(frozen=True)
class Node:
    """A node and its JVM's process."""

    address: str
    process: psutil.Process

    @property
    def is_alive(self) -> bool:
        """Tell whether its process has not ended."""
        with suppress(psutil.NoSuchProcess):
            return self.process.is_running() and self.process.status() != psutil.STATUS_ZOMBIE
        return False

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Within this, the whole process stalls, as in a very long pause."""
        self.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        self.process.kill()


@contextmanager
def running_node(artefacts: Artefacts, folder: Path) -> Iterator[Node]:
    """Provide a fresh one-node cluster, destroyed at the end."""
    provider, clock = EvenProvider(folder, SystemClock()), SystemClock()
    key = ClusterId(campaign_id="stress", name="node/1")
    definition = define(nodes=1, heap="384M")
    cluster = provider.ensure(ClusterRequest(id=key, owner="test", nodes=1, expires_at=clock.now() + LIFETIME))
    try:
        (node,) = [provider.host(cluster, info) for info in cluster.nodes]
        load = provider.host(cluster, cluster.load_host)
        Cassandra(artefacts, clock).deploy(
            variant_spec(only_part(definition), definition.variants[0]), [node], load, LIFETIME
        )
        yield Node(node.info.address, _listener(node.info.address))
    finally:
        provider.destroy(key)


def _listener(address: str) -> psutil.Process:
    """Return the process that answers CQL there."""
    listening = [socket for socket in psutil.net_connections("tcp") if socket.status == psutil.CONN_LISTEN]
    # The JVM's sockets are of version 6, with the address mapped into it.
    (pid,) = {
        socket.pid
        for socket in listening
        if socket.laddr.port == CQL_PORT and socket.laddr.ip.removeprefix("::ffff:") == address
    }
    return psutil.Process(pid)
