"""Listed hosts as a group of the provider `ssh`, which does all else: leases, cleaning, files, programs and jobs."""

from collections.abc import Sequence

from plimsoll.adapters.hosts.reached import HostOptions
from plimsoll.adapters.providers.command.contract import AnsweredHost
from plimsoll.adapters.providers.command.launched import facts_of, host_info
from plimsoll.adapters.providers.command.launching import poll_pauses
from plimsoll.adapters.providers.command.options import CommandOptions
from plimsoll.adapters.providers.requested import looks
from plimsoll.adapters.providers.ssh import Connections, WrongHostKey
from plimsoll.adapters.providers.ssh.group import in_parallel
from plimsoll.domain.hosts.cluster import Cluster
from plimsoll.domain.text.errors import HostError, ProviderError
from plimsoll.ports.clock import Clock

_NAME = "hosts"
_ANSWER_S = 20.0


def ssh_options(hosts: Sequence[AnsweredHost], options: CommandOptions) -> dict[str, object]:
    """Return the options of the provider `ssh` for one cluster's hosts. It must have a load host."""
    nodes = [_host_options(host) for host in hosts if host.role == "node"]
    load, *further = [_host_options(host) for host in hosts if host.role == "load"]
    group = {"name": _NAME, "nodes": nodes, "load": load, "further_load_hosts": further}
    return {"connection": options.connection, "folder": options.folder, "groups": [group]}


def _host_options(host: AnsweredHost) -> dict[str, object]:
    return {**host.model_dump(include=set(HostOptions.model_fields)), "facts": facts_of(host)}


def as_own(cluster: Cluster, hosts: Sequence[AnsweredHost], options: CommandOptions, provider: str) -> Cluster:
    """Return a cluster of the provider `ssh` as one of hosts that are paid for, since their launch."""
    known = {host.name: host_info(host, options) for host in hosts}
    paid = (
        info.model_copy(update={"since": known[info.name].since, "usd_per_hour": known[info.name].usd_per_hour})
        for info in cluster.hosts
    )
    return cluster.model_copy(update={"provider": provider, "hosts": tuple(paid)})


class Reach:
    """Waits until new hosts prove their identity and let us in."""

    def __init__(self, connections: Connections, clock: Clock) -> None:
        self._connections, self._clock = connections, clock

    def await_hosts(self, hosts: Sequence[AnsweredHost], options: CommandOptions) -> None:
        """Raises ProviderError when one does not let us in within `startup`, at once where another answers."""
        left = list(hosts)
        for _ in looks(self._clock, poll_pauses(), options.startup):
            errors = in_parallel(left, lambda host: self._why_not(host, options.connection))
            waiting = [(host, why) for host, why in zip(left, errors, strict=True) if why is not None]
            if not waiting:
                return
            left = [host for host, _ in waiting]
            if wrong := next((why for _, why in waiting if isinstance(why, WrongHostKey)), None):
                raise ProviderError(wrong.what, where=wrong.where, mend=wrong.mend) from wrong
        reasons = "; ".join(f"{host}: {why.what}" for host, why in waiting)
        mend = f"{waiting[0][1].mend}; `launch` is given the public key to let in"
        raise ProviderError(f"hosts did not let us in within {options.startup}: {reasons}", mend=mend)

    def _why_not(self, host: AnsweredHost, connection: str) -> HostError | None:
        try:
            self._connections.to(host.target(connection)).execute("true", timeout_s=_ANSWER_S)
        except HostError as error:
            return error
        return None
