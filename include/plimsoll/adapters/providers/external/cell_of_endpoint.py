"""What a cluster has in an endpoint: whatever `set_up`, or the load's `populate`, made there under its own name."""

import shutil
import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from pathlib import PurePosixPath

from plimsoll.adapters.external import EndpointOptions, Endpoints
from plimsoll.adapters.hosts.base import FOLDER
from plimsoll.adapters.providers.external.checks import hidden_on_this_machine
from plimsoll.domain.hosts.cluster import ClusterId, ClusterRequest
from plimsoll.domain.keys.system import program_of
from plimsoll.domain.text.errors import Problem, ProviderError, SecretError
from plimsoll.domain.text.wording import plural
from plimsoll.ports.host import Host
from plimsoll.ports.provider import ExternalDatabase, SetUps

_CONNECT_S = 5.0
_GRACE = timedelta(seconds=5)
_OPTIONS = "provider.options"


def own_name(store: str, cluster_id: ClusterId) -> str:
    """Return the name of what the cluster makes there, and no other of any store: plimsoll_3f9a1c0b7d2e."""
    told = f"{store} {cluster_id}"
    return f"plimsoll_{sha256(told.encode()).hexdigest()[:12]}"


@dataclass(frozen=True)
class CellOfEndpoint:
    """What clusters of this installation, `store`, have in the endpoint of these options."""

    options: EndpointOptions
    endpoints: Endpoints
    set_ups: SetUps
    store: str

    def for_clients(self) -> ExternalDatabase:
        return self.endpoints.of(self.options).for_clients()

    def problems(self, nodes: int) -> Sequence[Problem]:
        """Return what can be seen without running a command, which a load host does later."""
        found = list(self._declared(nodes))
        try:
            self.endpoints.of(self.options)
        except SecretError as error:
            found.append(Problem(f"{_OPTIONS}.connection", error.headline, error.mend))
        return [*found, *self._seen_from_here()]

    def make(self, request: ClusterRequest, host: Host) -> None:
        """Wait until it is ready, and set it up. What an earlier try may have made is removed first. Idempotent."""
        endpoint, own = self.endpoints.of(self.options), own_name(self.store, request.id)
        endpoint.require_ready(host)
        if not self.options.clean_up or host.read_tail(host.root / own, max_bytes=1):
            return
        if self.set_ups.is_noted(request.id):
            endpoint.clean_up(host, own)
        elif endpoint.is_owned(host, own):
            what = f"says that {own} is there already, which no cell has made"
            mend = "let it end with exit code 0 only if {own} is there"
            raise ProviderError(what, where=f"{_OPTIONS}.owned", mend=mend)
        self.set_ups.note(request.id)
        endpoint.set_up(host, own)
        host.write(host.root / own, "made")

    def clean_up(self, cluster_id: ClusterId, host: Host | None) -> None:
        """End what runs on the load host, and remove what the cluster made. Raises ProviderError where it can't."""
        if not self.options.clean_up or not self.set_ups.is_noted(cluster_id):
            return
        own = own_name(self.store, cluster_id)
        if host is None:
            what = f"its load host is gone, so nobody has seen whether {own} is still at {self.options.addresses[0]}"
            raise ProviderError(what, where=str(cluster_id), mend="look there, and remove it by hand")
        for job in _jobs(host):
            host.stop(job, grace=_GRACE)
        endpoint = self.endpoints.of(self.options)
        endpoint.require_ready(host)
        endpoint.clean_up(host, own)
        self.set_ups.forget(cluster_id)

    def _declared(self, nodes: int) -> Iterator[Problem]:
        if nodes != (there := len(self.options.addresses)):
            what = f"is {nodes}, and the options have {plural(there, 'address', 'addresses')}"
            yield Problem("system.nodes", what, f"write {there}")

    def _seen_from_here(self) -> Iterator[Problem]:
        """Yield what keeps this machine from asking it, where the load comes from here."""
        if self.options.load_hosts.provider != "local":
            return
        for key, line in self.options.lines.items():
            if (program := program_of(line, {})) and shutil.which(program) is None:
                what = f"there is no {program} on this machine"
                yield Problem(f"{_OPTIONS}.{key}", what, "install it, or correct the command")
        for number, place in enumerate(self.options.places):
            try:
                socket.create_connection(place, timeout=_CONNECT_S).close()
            except OSError as error:
                what = f"can't be reached from here: {error}"
                yield Problem(f"{_OPTIONS}.addresses[{number}]", what, "correct it, or start the database")
                return
        for name, port in self.options.places:
            yield from hidden_on_this_machine(self.options, port, [name])


def _jobs(host: Host) -> Sequence[str]:
    return [path.stem for path in host.files(PurePosixPath(host.root / FOLDER)) if path.suffix == ".job"]
