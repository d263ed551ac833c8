"""What a cluster has in a database that speaks CQL: a keyspace with its mark."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from plimsoll.adapters.external import Databases, ExternalOptions
from plimsoll.adapters.external.keyspaces import (
    Mark,
    NewKeyspace,
    drop_marked,
    has_snapshot_option,
    mark_of,
    require_own_keyspace,
)
from plimsoll.adapters.providers.external.checks import database_problems
from plimsoll.domain.hosts.cluster import ClusterId, ClusterRequest
from plimsoll.domain.keys.system import EXTERNAL
from plimsoll.domain.keys.workload import Workload
from plimsoll.domain.text.errors import Problem, ProviderError
from plimsoll.ports.clock import Clock
from plimsoll.ports.host import Host
from plimsoll.ports.provider import ExternalDatabase

_BEGAN = PurePosixPath("keyspace.json")
"""The file on the first load host that says which keyspace its cluster is about to make."""
_MOST_BYTES = 4096


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
            return not has_snapshot_option(session)

    def mark(self) -> Mark | None:
        """Return the mark that is there, whoever's. Raises ProviderError and SecretError."""
        if self.options.is_read_only:
            return None
        with self.databases.of(self.options).any_session() as session:
            return mark_of(session, self.options.keyspace_name)

    def make(self, request: ClusterRequest, host: Host, workload: Workload | None) -> None:
        """Make the keyspace with its mark. Idempotent."""
        if self.options.is_read_only:
            return
        if workload is None:
            what = "no workload says how many replicas there are"
            raise ProviderError(what, where=EXTERNAL, mend="run the cell again")
        mark = Mark(
            cluster=str(request.id),
            store=self.store,
            owner=request.owner,
            made_at=self.clock.now(),
            expires_at=request.expires_at,
        )
        with self.databases.of(self.options).any_session() as session:
            require_own_keyspace(
                session,
                mark,
                NewKeyspace(self.options.keyspace_name, self.options.data_centre, workload.replication_factor),
                began=has_begun(host),
                begin=lambda: host.write(host.root / _BEGAN, mark.model_dump_json()),
            )

    def remove(self, cluster_id: ClusterId, *, began: bool) -> None:
        """Drop the keyspace if it is that cluster's. `began`: whether its load host said so."""
        if self.options.is_read_only:
            return
        with self.databases.of(self.options).any_session() as session:
            drop_marked(session, self.options.keyspace_name, self.store, str(cluster_id), began=began)


def has_begun(host: Host) -> bool:
    """Tell whether the cluster of that load host has begun to make its keyspace."""
    return bool(host.read_tail(host.root / _BEGAN, max_bytes=_MOST_BYTES))
