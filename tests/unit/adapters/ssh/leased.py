"""Groups of hosts over SSH, and clusters that take them."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from plimsoll.adapters.providers.ssh import SshProvider
from plimsoll.domain.hosts.cluster import Cluster, ClusterId, ClusterRequest

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIF0rF0rF0rF0rF0rF0rF0rF0rF0rF0rF0rF0rF0rF0rF"
LOAD, FURTHER_LOAD = "10.0.0.9", "10.0.0.8"
NODES = [f"10.0.0.{number}" for number in (1, 2, 3, 4)]
HOSTS = ClusterId.kept("demo-1", "", 1)


def group_of(name: str, nodes: Sequence[str], loads: Sequence[str]) -> dict[str, Any]:
    """Return a group's options by the addresses of its hosts."""
    hosts = {address: {"address": address, "host_key": KEY} for address in (*nodes, *loads)}
    first, *further = (hosts[address] for address in loads)
    return {"name": name, "nodes": [hosts[one] for one in nodes], "load": first, "further_load_hosts": further}


def ensured(provider: SshProvider, *unfit: str, nodes: int = 2, hosts: ClusterId = HOSTS) -> list[str]:
    """Return addresses of the nodes that a cluster of that many has once these hosts are unfit."""
    return [info.address for info in cluster_without(provider, *unfit, nodes=nodes, hosts=hosts).nodes]


def cluster_without(provider: SshProvider, *unfit: str, nodes: int = 2, hosts: ClusterId = HOSTS) -> Cluster:
    """Return a cluster of that many nodes once these hosts are unfit."""
    wanted = asked_for(provider, nodes=nodes, hosts=hosts)
    cluster = provider.ensure(wanted.model_copy(update={"was_whole": True, "unfit": frozenset(unfit)}))
    assert provider.find(hosts) == cluster
    return cluster


def asked_for(provider: SshProvider, *avoided: str, nodes: int = 2, hosts: ClusterId = HOSTS) -> ClusterRequest:
    """Return a request for a cluster of that many nodes, in a campaign in which these hosts were unfit before."""
    options = dict(provider.places.options[0])
    expires = datetime.now(UTC) + timedelta(hours=1)
    wanted = ClusterRequest(id=hosts, owner="run-7", nodes=nodes, expires_at=expires, options=options)
    return wanted.model_copy(update={"avoided": frozenset(avoided)})
