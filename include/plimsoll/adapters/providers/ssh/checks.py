"""Before a cluster is made: what would keep it from running on a definition's groups of hosts, and the hosts that
each group has for it, without those that were unfit before.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from pydantic import ValidationError

from plimsoll.adapters.hosts.base import memory_bytes
from plimsoll.adapters.providers.ssh.connection import Connections
from plimsoll.adapters.providers.ssh.group import Group, in_parallel
from plimsoll.adapters.providers.ssh.member import Member
from plimsoll.adapters.providers.ssh.options import SshOptions
from plimsoll.domain.campaign.specs import HostsSpec
from plimsoll.domain.hosts.cluster import ClusterRequest, HostInfo
from plimsoll.domain.keys.faults import as_written, problems_of
from plimsoll.domain.text.errors import HostError, Problem, SecretError
from plimsoll.domain.text.units import parse_size
from plimsoll.domain.text.wording import plural

_MIB = 1 << 20
_ANSWER_S = 60.0


def problems(spec: HostsSpec, connections: Connections) -> list[Problem]:
    """Return every problem found; clusters themselves are not touched."""
    try:
        options = SshOptions.model_validate(as_written(spec.options, SshOptions))
    except ValidationError as error:
        return problems_of(error, SshOptions, "provider.options")
    groups = [Group(group, options, connections) for group in options.groups]
    asked = [(group, member) for group in groups for member in group.members()]
    found = in_parallel(asked, lambda one: _host(spec, options, *one))
    return [*shape(spec, options), *(problem for several in found for problem in several)]


def shape(spec: HostsSpec, options: SshOptions) -> Iterator[Problem]:
    """Tell whether the groups are large and many enough, and each of their hosts has an address of its own: pure."""
    yield from _twice(options)
    nodes, loads = spec.node_hosts, spec.load_hosts
    large = [group for group in options.groups if len(group.nodes) >= nodes]
    fitting = [group for group in large if len(group.loads) >= loads]
    if not large:
        most = max(len(group.nodes) for group in options.groups)
        yield Problem(
            "system.nodes", f"no group has {plural(nodes, 'node')}; the largest has {most}", "name more hosts"
        )
    elif not fitting:
        most = max(len(group.loads) for group in large)
        what = f"no group of {plural(nodes, 'node')} has {plural(loads, 'load host')}; the most that one has is {most}"
        yield Problem("load_generator.hosts", what, "name more in the group's `further_load_hosts`, or ask for fewer")
    elif spec.max_parallel > len(fitting):
        cells = f"{spec.max_parallel} cells at once"
        size = f"{plural(nodes, 'node')} and {plural(loads, 'load host')}"
        what = f"{cells} need as many groups of {size}; there are {len(fitting)}"
        yield Problem("max_parallel", what, "name more groups, or run fewer cells at once")


def _twice(options: SshOptions) -> Iterator[Problem]:
    """Yield a database binds a host's address, and hosts reach each other by it: two nodes can't have the same one."""
    for number, group in enumerate(options.groups):
        for address, count in Counter(host.address for host in group.hosts).items():
            if count > 1:
                what = f"{address} stands {count} times in group {group.name}: nodes and load hosts share none"
                yield Problem(f"provider.options.groups[{number}]", what, "name another host")


def _memory(spec: HostsSpec, member: Member, there: int) -> Iterator[Problem]:
    """Yield heaps that are larger than the host's memory; pure. Those of all processes of a node count together."""
    if member.role == "load":
        needed = {"load_generator.heap": parse_size(spec.load_heap)}
    else:
        needed = {f"variants.{variant}.jvm.heap": heap for variant, heap in spec.needs.heaps.items()}
    for where, heap in needed.items():
        if heap > there:
            what = f"a heap of {heap // _MIB}M is larger than the memory of {member.name}, {there // _MIB}M"
            yield Problem(where, what, "use a smaller heap or a larger host")


def _host(spec: HostsSpec, options: SshOptions, group: Group, member: Member) -> Sequence[Problem]:
    where = f"provider.options.groups.{group.name}.{member.name}"
    try:
        readings = member.ask("readings", _ANSWER_S, folder=str(member.folder))
        free = member.ask("room", _ANSWER_S, folder=str(member.folder))
    except (HostError, SecretError) as error:
        return [Problem(where, error.headline, error.mend)]
    found = list(_memory(spec, member, memory_bytes(readings)))
    if free < options.disk_per_host:
        what = f"{free // _MIB}M of disk are free below {member.folder}, {options.disk_per_host // _MIB}M are needed"
        found.append(Problem(where, what, "free disk space there, name another folder, or set disk_per_host"))
    return found


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
