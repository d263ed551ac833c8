"""What a cluster makes in a database that somebody else runs: in one that speaks CQL a keyspace with its mark; in an
endpoint whatever `set_up`, or the load's `populate`, makes there under the cluster's own name.
"""

import secrets
import shutil
import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath

from plimsoll.adapters.external import keyspaces
from plimsoll.adapters.external.database import Databases
from plimsoll.adapters.external.endpoint import Endpoint, Endpoints
from plimsoll.adapters.external.endpoint_options import EndpointOptions
from plimsoll.adapters.external.options import ExternalOptions
from plimsoll.adapters.providers.external.checks import database_problems, hidden_on_this_machine
from plimsoll.domain.hosts.cluster import ClusterId, ClusterRequest, SetUp
from plimsoll.domain.keys.system import EXTERNAL, program_of
from plimsoll.domain.keys.workload import Workload
from plimsoll.domain.text.errors import Problem, ProviderError, SecretError
from plimsoll.domain.text.wording import plural
from plimsoll.ports.controller import Clock
from plimsoll.ports.host import Host
from plimsoll.ports.provider import ExternalDatabase, SetUps

_BEGAN = PurePosixPath("keyspace.json")
"""The file on the first load host that says which keyspace its cluster is about to make."""
_MOST_BYTES = 4096
_CONNECT_S = 5.0
_OPTIONS = "provider.options"


@dataclass(frozen=True)
class OwnKeyspace:
    """The keyspace of these options. `store`: what distinguishes this installation's keyspaces from others'."""

    options: ExternalOptions
    databases: Databases
    clock: Clock
    store: str

    @property
    def where(self) -> str:
        return ", ".join(self.options.contact_points)

    def for_clients(self) -> ExternalDatabase:
        return self.databases.of(self.options).for_clients()

    def problems(self, nodes: int) -> Sequence[Problem]:
        return database_problems(nodes, self.options, self.databases)

    def keyspace(self) -> str:
        return "" if self.options.is_read_only else self.options.keyspace_name

    def keeps_copies(self) -> bool:
        """Tell whether tables lack the option that the load generator sets against copies."""
        with self.databases.of(self.options).any_session() as session:
            return not keyspaces.has_snapshot_option(session)

    def mark(self) -> keyspaces.Mark | None:
        """Return the mark that is there, whoever's. Raises ProviderError and SecretError."""
        if self.options.is_read_only:
            return None
        with self.databases.of(self.options).any_session() as session:
            return keyspaces.mark_of(session, self.options.keyspace_name)

    def make(self, request: ClusterRequest, host: Host, workload: Workload | None) -> None:
        """Make the keyspace with its mark. Idempotent."""
        if self.options.is_read_only:
            return
        if workload is None:
            what = "no workload says how many replicas there are"
            raise ProviderError(what, where=EXTERNAL, mend="run the cell again")
        mark = keyspaces.Mark(
            cluster=str(request.id),
            store=self.store,
            owner=request.owner,
            made_at=self.clock.now(),
            expires_at=request.expires_at,
        )
        new = keyspaces.NewKeyspace(self.options.keyspace_name, self.options.data_centre, workload.replication_factor)
        begin = partial(host.write, host.root / _BEGAN, mark.model_dump_json())
        with self.databases.of(self.options).any_session() as session:
            keyspaces.require_own_keyspace(session, mark, new, began=has_begun(host), begin=begin)

    def remove(self, cluster_id: ClusterId, *, began: bool) -> None:
        """Drop the keyspace if it is that cluster's. `began`: whether its load host said so."""
        if self.options.is_read_only:
            return
        with self.databases.of(self.options).any_session() as session:
            keyspaces.drop_marked(session, self.options.keyspace_name, self.store, str(cluster_id), began=began)


def has_begun(host: Host) -> bool:
    return bool(host.read_tail(host.root / _BEGAN, max_bytes=_MOST_BYTES))


@dataclass(frozen=True)
class CellOfEndpoint:
    options: EndpointOptions
    endpoints: Endpoints
    set_ups: SetUps

    def for_clients(self) -> ExternalDatabase:
        return self.endpoints.of(self.options).for_clients()

    def problems(self, nodes: int) -> Sequence[Problem]:
        """Return what can be seen without running a command, which a load host does later."""
        problems: list[Problem] = []
        if nodes != (count := len(self.options.addresses)):
            what = f"is {nodes}, and the options have {plural(count, 'address', 'addresses')}"
            problems.append(Problem("system.nodes", what, f"write {count}"))
        try:
            self.endpoints.of(self.options)
        except SecretError as error:
            problems.append(Problem(f"{_OPTIONS}.connection", error.headline, error.mend))
        return [*problems, *self._seen_from_here()]

    def make(self, request: ClusterRequest, hosts: Sequence[Host]) -> None:
        """Wait until it is ready for each load host, and set it up from the first. What an earlier try may have made is
        removed first. Idempotent.

        The name of what only this cluster has there is drawn and recorded, not computed: another machine may know the
        store by another name, and whoever cleans up must ask for the same.
        """
        endpoint, set_up, host = self.endpoints.of(self.options), self.set_ups.of(request.id), hosts[0]
        for loader in hosts:
            endpoint.require_ready(loader)
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
        """Remove what the cluster made, if anything, from a host that loads it no more. ProviderError, StoreError."""
        set_up = self.set_ups.of(cluster_id)
        if set_up is None or set_up.addresses != self.options.addresses:
            return
        if self.options.clean_up:
            endpoint = self.endpoints.of(self.options)
            endpoint.require_ready(host)
            endpoint.clean_up(host, set_up.own)
        self.set_ups.forget(cluster_id)

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
