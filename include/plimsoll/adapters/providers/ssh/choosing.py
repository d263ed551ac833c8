"""The hosts that each group has for a new cluster. Hosts that were unfit before are left out. Pure."""

from collections.abc import Sequence

from plimsoll.adapters.providers.ssh.group import Group
from plimsoll.domain.cluster import ClusterRequest, HostInfo


def candidates(groups: Sequence[Group], request: ClusterRequest) -> list[tuple[Group, tuple[HostInfo, ...]]]:
    """Return the hosts of each group for the cluster, without those that were unfit.

    Empty where too few others are left. Where that holds for all groups, hosts that were unfit are used again: nothing
    else is left, somebody may have mended them, and each attempt checks its hosts.
    """
    found = [(group, group.infos(request.nodes, request.load_hosts, request.avoided)) for group in groups]
    if any(hosts for _, hosts in found):
        return found
    return [(group, group.infos(request.nodes, request.load_hosts)) for group in groups]


def why_left_out(group: Group, request: ClusterRequest) -> str:
    """Explain why the group has no hosts for the cluster, with the addresses of those that were unfit."""
    every = group.infos(len(group.nodes), len(group.loads))
    unfit = ", ".join(info.address for info in every if info.identity in request.avoided)
    return f"too few hosts are left without those that were unfit: {unfit}"
