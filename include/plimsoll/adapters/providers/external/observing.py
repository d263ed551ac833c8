"""The machines of a database that somebody else runs, looked at over SSH while a cluster lasts.

Nothing of a cell depends on them: whether they answer decides what is known, and not whether a load goes on.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import PurePosixPath

from plimsoll.adapters.external.options import Observe
from plimsoll.adapters.hosts.following import check_arguments
from plimsoll.adapters.providers.ssh import Connections
from plimsoll.adapters.providers.ssh.execution import script_command
from plimsoll.adapters.providers.ssh.host import SshHost
from plimsoll.adapters.providers.ssh.member import Member, require_nothing_left
from plimsoll.domain.campaign.specs import HostsSpec
from plimsoll.domain.hosts.cluster import OBSERVED, RUNS_AS, Cluster, ClusterId, HostInfo
from plimsoll.domain.text.errors import HostError, Problem, ProviderError, SecretError
from plimsoll.domain.text.wording import plural
from plimsoll.ports.host import at_once

_WHERE = "provider.options.observe"
_ANSWER_S, _CLEAN_S = 60.0, 120.0
_MEND = "correct `observe`, or let the user who logs in do it; `usermod -aG adm USER` opens most logs of Debian"

_log = logging.getLogger("plimsoll")


@dataclass(frozen=True)
class Observers:
    """Access to observed machines, by connections that are made once one is needed."""

    connections: Callable[[], Connections]

    def problems(self, spec: HostsSpec, observe: Observe) -> Sequence[Problem]:
        """Return what keeps its machines from being looked at. Nothing is written there."""
        source, *arguments = check_arguments(observe.folder, observe.runs_as, list(observe.followed.values()))
        line = script_command(source, *arguments, within=PurePosixPath(observe.folder))

        def obstacles(number: int) -> list[Problem]:
            where, target = f"{_WHERE}.hosts[{number}]", observe.hosts[number].target(observe.ssh)
            try:
                answer = self.connections().to(target).execute(line, timeout_s=_ANSWER_S)
            except (HostError, SecretError) as error:
                return [Problem(where, error.headline, error.mend)]
            sentences = answer.stdout.decode(errors="replace").splitlines()
            if answer.exit_code != 0:
                reason = answer.stderr.decode(errors="replace").strip()
                sentences.append(f"can't be looked at: {reason[-300:]}")
            return [Problem(where, sentence, _MEND) for sentence in sentences]

        problems = list(chain.from_iterable(at_once(range(len(observe.hosts)), obstacles)))
        if (count := len(observe.hosts)) > spec.nodes:
            what = f"are {plural(count, 'machine')}, and the definition says {plural(spec.nodes, 'node')}"
            problems.insert(0, Problem(f"{_WHERE}.hosts", what, "name the machine of each node once"))
        return problems

    def host(self, cluster: Cluster, info: HostInfo, observed: Sequence[Observe]) -> SshHost:
        """Return access to a machine. Raises ProviderError where the definition does not name it any more."""
        for member in (member for observe in observed for member in self._members(observe)):
            if (member.name, member.options.address) == (info.name, info.address):
                return member.host(cluster, info, "", None)
        what = f"the definition does not name the machine {info.address} any more"
        raise ProviderError(what, where=str(cluster.id), mend="run the cell again")

    def clean(self, cluster_id: ClusterId, observe: Observe) -> None:
        """End and remove what the cluster has there, and what clusters have left whose time is over.

        Raises HostError where something remains. A machine that lets nobody look is left alone: what runs there ends by
        itself, and the next cell that looks at it removes the rest.
        """

        def ask(member: Member, command: str, **request: str) -> Sequence[str]:
            try:
                left: Sequence[str] = member.ask(command, _CLEAN_S, **request) or ()
            except (HostError, SecretError) as error:
                _log.warning("what %s has there stays until its time is over: %s", cluster_id, error)
                return ()
            return [f"{member.options.address}: {sentence}" for sentence in left]

        key, machines = str(cluster_id), {member.reached: member for member in self._members(observe)}
        members = list(machines.values())
        left = at_once(members, lambda member: ask(member, "clean", work=str(member.work), cluster=key))
        at_once(members, lambda member: ask(member, "leave", work=str(member.work), program=str(member.bundles)))
        require_nothing_left([*chain.from_iterable(left)], key)

    def _members(self, observe: Observe) -> Sequence[Member]:
        folder = PurePosixPath(observe.folder)
        infos = observed_hosts(observe)
        return [
            Member(info.name, OBSERVED, host, observe.ssh, folder, self.connections())
            for info, host in zip(infos, observe.hosts, strict=True)
        ]


def observed_hosts(observe: Observe) -> tuple[HostInfo, ...]:
    """Return its machines as hosts of a cluster, in order: `node1`, `node2`."""
    return tuple(
        HostInfo(
            name=f"node{number}",
            role=OBSERVED,
            address=host.address,
            # Without facts by which hosts are told apart
            facts={name: fact for name, fact in host.facts.items() if name not in ("machine", "instance_id")}
            | {RUNS_AS: observe.runs_as},
        )
        for number, host in enumerate(observe.hosts, start=1)
    )
