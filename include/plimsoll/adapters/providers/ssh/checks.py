"""Before a cluster is made: what would keep it from running on a definition's groups of hosts, and the hosts that
each group has for it, without those that were unfit before.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain

from plimsoll.adapters.hosts.base import memory_bytes
from plimsoll.adapters.providers.requested import checked_options
from plimsoll.adapters.providers.ssh.connection import Connections
from plimsoll.adapters.providers.ssh.group import Group, SshOptions
from plimsoll.adapters.providers.ssh.member import Member
from plimsoll.domain.campaign.specs import HostsSpec
from plimsoll.domain.hosts.cluster import ClusterRequest, HostInfo
from plimsoll.domain.text.errors import HostError, Problem, SecretError
from plimsoll.domain.text.units import parse_size
from plimsoll.domain.text.wording import plural
from plimsoll.ports.host import at_once

_MIB = 1 << 20


def problems(spec: HostsSpec, connections: Connections) -> list[Problem]:
    options = checked_options(SshOptions, spec.options)
    if isinstance(options, list):
        return options
    groups = [Group(group, options, connections) for group in options.groups]
    members = [(group, member) for group in groups for member in group.members]
    by_host = at_once(members, lambda pair: _host(spec, options, *pair))
    return [*shape(spec, options), *chain.from_iterable(by_host)]


def shape(spec: HostsSpec, options: SshOptions) -> Iterator[Problem]:
    """Yield what is wrong with the groups: too small, too few, shared addresses, or addresses of IPv6. Pure."""
    yield from _addresses(options)
    nodes, loads = spec.node_hosts, spec.load_hosts
    large = [group for group in options.groups if len(group.nodes) >= nodes]
    fitting = [group for group in large if len(group.loads) >= loads]
    if not large:
        most = max(len(group.nodes) for group in options.groups)
        what = f"no group has {plural(nodes, 'node')}; the largest has {most}"
        yield Problem("system.nodes", what, "name more hosts")
    elif not fitting:
        most = max(len(group.loads) for group in large)
        what = f"no group of {plural(nodes, 'node')} has {plural(loads, 'load host')}; the most that one has is {most}"
        yield Problem("load_generator.hosts", what, "name more in the group's `further_load_hosts`, or ask for fewer")
    elif spec.max_parallel > len(fitting):
        cells = f"{spec.max_parallel} cells at once"
        size = f"{plural(nodes, 'node')} and {plural(loads, 'load host')}"
        what = f"{cells} need as many groups of {size}; there are {len(fitting)}"
        yield Problem("max_parallel", what, "name more groups, or run fewer cells at once")


def _addresses(options: SshOptions) -> Iterator[Problem]:
    """Yield addresses of IPv6, and shared ones. A database binds its host's address, and hosts reach each other by it.

    Databases are started for IPv4, and programs of a host, such as its canary, listen on it.
    """
    for number, group in enumerate(options.groups):
        for address, count in Counter(host.address for host in group.hosts).items():
            if ":" in address:
                what = (
                    f"{address} in group {group.name} is an address of IPv6, at which neither databases nor load "
                    "hosts' own programs listen"
                )
                yield Problem(f"provider.options.groups[{number}]", what, "give the host's IPv4 address")
            if count > 1:
                what = f"{address} stands {count} times in group {group.name}: nodes and load hosts share none"
                yield Problem(f"provider.options.groups[{number}]", what, "name another host")


def _memory(spec: HostsSpec, member: Member, memory: int) -> Iterator[Problem]:
    """Yield heaps that are larger than the host's memory; pure. Those of all processes of a node count together."""
    if member.role == "load":
        needed = {"load_generator.heap": parse_size(spec.load_heap)}
    else:
        needed = {f"variants.{variant}.jvm.heap": heap for variant, heap in spec.needs.heaps.items()}
    for where, heap in needed.items():
        if heap > memory:
            what = f"a heap of {heap // _MIB}M is larger than the memory of {member.name}, {memory // _MIB}M"
            yield Problem(where, what, "use a smaller heap or a larger host")


def _host(spec: HostsSpec, options: SshOptions, group: Group, member: Member) -> Sequence[Problem]:
    where = f"provider.options.groups.{group.name}.{member.name}"
    try:
        readings = member.ask("readings", folder=str(member.folder))
        free = member.ask("room", folder=str(member.folder))
    except (HostError, SecretError) as error:
        return [Problem(where, error.headline, error.mend)]
    faults = list(_memory(spec, member, memory_bytes(readings)))
    if free < options.disk_per_host:
        what = f"{free // _MIB}M of disk are free below {member.folder}, {options.disk_per_host // _MIB}M are needed"
        faults.append(Problem(where, what, "free disk space there, name another folder, or set disk_per_host"))
    return faults


def candidates(groups: Sequence[Group], request: ClusterRequest) -> list[tuple[Group, tuple[HostInfo, ...]]]:
    """Return the hosts of each group for the cluster, without those that were unfit.

    Empty where too few others are left. Where that holds for all groups, hosts that were unfit are used again: nothing
    else is left, somebody may have mended them, and each attempt checks its hosts.
    """
    fit = [(group, group.infos(request.nodes, request.load_hosts, request.avoided)) for group in groups]
    if any(hosts for _, hosts in fit):
        return fit
    return [(group, group.infos(request.nodes, request.load_hosts)) for group in groups]


def why_left_out(group: Group, request: ClusterRequest) -> str:
    """Explain why the group has no hosts for the cluster, with the addresses of those that were unfit."""
    every = group.infos(len(group.nodes), len(group.loads))
    unfit = ", ".join(info.address for info in every if info.identity in request.avoided)
    return f"too few hosts are left without those that were unfit: {unfit}"
