"""What a cluster has in an endpoint: whatever `set_up`, or the load's `populate`, made there under its own name."""

import secrets
import shutil
import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from plimsoll.adapters.external import Endpoint, EndpointOptions, Endpoints
from plimsoll.adapters.providers.external.checks import hidden_on_this_machine
from plimsoll.domain.hosts.cluster import ClusterId, ClusterRequest, SetUp
from plimsoll.domain.keys.system import program_of
from plimsoll.domain.text.errors import Problem, ProviderError, SecretError
from plimsoll.domain.text.wording import plural
from plimsoll.ports.host import Host
from plimsoll.ports.provider import ExternalDatabase, SetUps

_CONNECT_S = 5.0
_OPTIONS = "provider.options"


@dataclass(frozen=True)
class CellOfEndpoint:
    """What clusters have in the endpoint of these options."""

    options: EndpointOptions
    endpoints: Endpoints
    set_ups: SetUps

    def for_clients(self) -> ExternalDatabase:
        return self.endpoints.of(self.options).for_clients()

    def problems(self, nodes: int) -> Sequence[Problem]:
        """Return what can be seen without running a command, which a load host does later."""
        problems = list(self._declared(nodes))
        try:
            self.endpoints.of(self.options)
        except SecretError as error:
            problems.append(Problem(f"{_OPTIONS}.connection", error.headline, error.mend))
        return [*problems, *self._seen_from_here()]

    def make(self, request: ClusterRequest, host: Host) -> None:
        """Wait until it is ready, and set it up. What an earlier try may have made is removed first. Idempotent.

        The name of what only this cluster has there is drawn and recorded, not computed: another machine may know the
        store by another name, and whoever cleans up must ask for the same.
        """
        endpoint, set_up = self.endpoints.of(self.options), self.set_ups.of(request.id)
        endpoint.require_ready(host)
        if set_up is None:
            set_up = self._drawn(endpoint, request, host)
        elif host.read_tail(host.root / set_up.own, max_bytes=1):
            return
        else:
            endpoint.clean_up(host, set_up.own)
        endpoint.set_up(host, set_up.own)
        # Last of all: without this file, the next try takes the set-up for broken off, and cleans up first
        host.write(host.root / set_up.own, "made")

    def _drawn(self, endpoint: Endpoint, request: ClusterRequest, host: Host) -> SetUp:
        """Record a new name, which `owned` must not find yet."""
        drawn = SetUp(own=f"plimsoll_{secrets.token_hex(6)}", addresses=self.options.addresses)
        if endpoint.is_owned(host, drawn.own):
            mend = "let it end with exit code 0 only if {own} is there"
            what = f"says that {drawn.own} is there, which nobody has made yet"
            raise ProviderError(what, where=f"{_OPTIONS}.owned", mend=mend)
        return self.set_ups.settle(request.id, drawn)

    def clean_up(self, cluster_id: ClusterId, host: Host) -> None:
        """Remove what the cluster made, from a host where nothing loads it any more. Raises ProviderError, StoreError.

        Does nothing where it has made nothing there.
        """
        set_up = self.set_ups.of(cluster_id)
        if set_up is None or set_up.addresses != self.options.addresses:
            return
        if self.options.clean_up:
            endpoint = self.endpoints.of(self.options)
            endpoint.require_ready(host)
            endpoint.clean_up(host, set_up.own)
        self.set_ups.forget(cluster_id)

    def _declared(self, nodes: int) -> Iterator[Problem]:
        if nodes != (count := len(self.options.addresses)):
            what = f"is {nodes}, and the options have {plural(count, 'address', 'addresses')}"
            yield Problem("system.nodes", what, f"write {count}")

    def _seen_from_here(self) -> Iterator[Problem]:
        """Yield what keeps this machine from asking it, where the load comes from here."""
        if self.options.load_hosts.provider != "local":
            return
        for key, line in self.options.lines.items():
            if (program := program_of(line, {})) and shutil.which(program) is None:
                what = f"there is no {program} on this machine"
                yield Problem(f"{_OPTIONS}.{key}", what, "install it, or correct the command")
        for number, address in enumerate(self.options.places):
            try:
                socket.create_connection(address, timeout=_CONNECT_S).close()
            except OSError as error:
                what = f"can't be reached from here: {error}"
                yield Problem(f"{_OPTIONS}.addresses[{number}]", what, "correct it, or start the database")
                return
        for name, port in self.options.places:
            yield from hidden_on_this_machine(self.options, port, [name])
