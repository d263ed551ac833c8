"""The machines of a database that somebody else runs, looked at over SSH while a cluster lasts.

They are a group of hosts of the provider `ssh`, leased like any other, so that two clusters never look at one machine
at once and nothing is left on it.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from pydantic import JsonValue

from plimsoll.adapters.external.observe import Observe
from plimsoll.adapters.hosts.following import check_arguments
from plimsoll.adapters.providers.ssh import Connections, SshProvider
from plimsoll.adapters.providers.ssh.execution import script_command
from plimsoll.adapters.providers.ssh.group import MEMBER, Group, in_parallel
from plimsoll.adapters.providers.ssh.options import SshOptions
from plimsoll.domain.campaign.specs import HostsSpec
from plimsoll.domain.hosts.cluster import OBSERVED, RUNS_AS, Cluster, ClusterId, ClusterRequest, HostInfo
from plimsoll.domain.keys.process import NodeNeeds
from plimsoll.domain.text.errors import HostError, Problem, SecretError
from plimsoll.domain.text.wording import plural
from plimsoll.ports.host import Host
from plimsoll.ports.provider import Places

_GROUP = "observed"
_WHERE = "provider.options.observe"
_ROOM = "64M"
_ANSWER_S = 60.0
_MEMBER_PLACE = re.compile(rf"provider\.options\.groups\.{_GROUP}\.load(\d*)")


@dataclass(frozen=True)
class Observers:
    """Clusters of observed machines, through a provider `ssh` that is made once one is needed."""

    ssh: Callable[[], SshProvider]
    connections: Callable[[], Connections]

    def problems(self, spec: HostsSpec, observe: Observe) -> Sequence[Problem]:
        """Return what keeps its machines from being looked at. Nothing is left there."""
        found = list(_declared(spec, observe))
        asked = replace(
            spec,
            options=_options(observe),
            nodes=0,
            node_hosts=0,
            needs=NodeNeeds(),
            load_hosts=len(observe.hosts),
            load_heap="1M",
            max_parallel=1,
        )
        unreached = [replace(one, where=_there(one.where)) for one in self.ssh().check(asked)]
        if unreached:
            return [*found, *unreached]
        self._leave(observe)
        return [*found, *self._obstacles(observe)]

    def ensure(self, request: ClusterRequest, observe: Observe) -> Cluster:
        """Take the machines for that cluster. Idempotent. Raises ProviderError, with who looks at them already."""
        own = {"nodes": 0, "load_hosts": len(observe.hosts), "options": _options(observe), "ports": ()}
        return _as_observed(self._at([observe]).ensure(request.model_copy(update=own)))

    def find(self, cluster_id: ClusterId, observed: Sequence[Observe]) -> Cluster | None:
        cluster = self._at(observed).find(cluster_id) if observed else None
        return _as_observed(cluster) if cluster else None

    def clusters(self, observed: Sequence[Observe]) -> Sequence[Cluster]:
        """Return the clusters that have such machines. Raises PartlySeen as a provider does."""
        return self._at(observed).clusters() if observed else ()

    def host(self, cluster: Cluster, info: HostInfo, observed: Sequence[Observe]) -> Host:
        return self._at(observed).host(cluster, info)

    def destroy(self, cluster_id: ClusterId, observe: Observe) -> None:
        """End what runs there for the cluster, and remove all that is Plimsoll's where no cluster is left."""
        self._at([observe]).destroy(cluster_id)
        self._leave(observe)

    def _leave(self, observe: Observe) -> None:
        options = SshOptions.model_validate(_options(observe))
        [group] = (Group(one, options, self.connections()) for one in options.groups)
        list(in_parallel(group.members(), lambda member: member.ask("leave", folder=str(member.folder))))

    def _at(self, observed: Sequence[Observe]) -> SshProvider:
        return self.ssh().at(Places(tuple(_options(one) for one in observed)))

    def _obstacles(self, observe: Observe) -> Iterator[Problem]:
        """Yield what is in the way of the logs, and users as whom nothing runs, by machine."""
        line = script_command(*check_arguments(observe.runs_as, list(observe.followed.values())))

        def said(number: int) -> list[Problem]:
            where = f"{_WHERE}.hosts[{number}]"
            target = observe.hosts[number].target(observe.ssh)
            try:
                answer = self.connections().to(target).execute(line, timeout_s=_ANSWER_S)
            except (HostError, SecretError) as error:
                return [Problem(where, error.headline, error.mend)]
            sentences = answer.stdout.decode(errors="replace").splitlines()
            if answer.exit_code != 0:
                sentences.append(answer.stderr.decode(errors="replace").strip()[-300:])
            mend = "correct `runs_as` or the path, or let the user who logs in read it: `usermod -aG adm`"
            return [Problem(where, sentence, mend) for sentence in sentences]

        for problems in in_parallel(range(len(observe.hosts)), said):
            yield from problems


def _declared(spec: HostsSpec, observe: Observe) -> Iterator[Problem]:
    if (there := len(observe.hosts)) > spec.nodes:
        what = f"are {plural(there, 'machine')}, and the definition says {plural(spec.nodes, 'node')}"
        yield Problem(f"{_WHERE}.hosts", what, "name the machine of each node once")
    if spec.max_parallel > 1:
        what = f"is {spec.max_parallel}, and cells at once would be looked at on the same machines"
        yield Problem("max_parallel", what, "write 1, or leave `observe` out")


def _there(where: str) -> str:
    """Return the place in the definition of what the provider `ssh` says of one of its hosts."""
    found = _MEMBER_PLACE.match(where)
    return f"{_WHERE}.hosts[{int(found[1] or 1) - 1}]" if found else where.replace("provider.options", _WHERE, 1)


def _options(observe: Observe) -> dict[str, JsonValue]:
    """Return the options of the provider `ssh` with the machines as the load hosts of one group, which has no nodes."""
    hosts: list[JsonValue] = [
        {**host.model_dump(), "facts": {**host.facts, RUNS_AS: observe.runs_as}} for host in observe.hosts
    ]
    group: dict[str, JsonValue] = {"name": _GROUP, "load": hosts[0], "further_load_hosts": hosts[1:]}
    return {"connection": observe.ssh, "folder": observe.folder, "disk_per_host": _ROOM, "groups": [group]}


def _as_observed(cluster: Cluster) -> Cluster:
    hosts = (
        info.model_copy(update={"name": f"node{number}", "role": OBSERVED, "facts": {**info.facts, MEMBER: info.name}})
        for number, info in enumerate(cluster.load_hosts, start=1)
    )
    return cluster.model_copy(update={"hosts": tuple(hosts)})
