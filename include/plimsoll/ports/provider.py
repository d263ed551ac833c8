"""The source of clusters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol, Self, runtime_checkable

from plimsoll.domain.cluster import Cluster, ClusterId, ClusterRequest, HostInfo
from plimsoll.domain.errors import Problem
from plimsoll.domain.hosts_spec import HostsSpec
from plimsoll.domain.workload import Workload
from plimsoll.ports.external_database import ExternalDatabase, Occupant
from plimsoll.ports.host import Host

TIME_TO_PROVISION = timedelta(hours=2)
"""The time limit of `ensure`, with all waiting for room and for hosts."""
TIME_TO_DESTROY = timedelta(minutes=40)
"""The time limit of `destroy`, with all waiting for the ends of hosts."""


@dataclass(frozen=True)
class Places:
    """The places where clusters are looked for: the provider's options of every definition that may have some.
    `unknown` says why there may be clusters in other places, too; it is empty where there are none.
    """

    options: tuple[Mapping[str, object], ...] = ()
    unknown: str = ""
    campaigns: tuple[str, ...] = field(default=(), compare=False)
    """The campaigns that have these options, in the order of these; an empty name where that is not known."""
    done: frozenset[str] = field(default=frozenset(), compare=False)
    """Those of them that have nothing left in a database of somebody else, so that nobody need log in there."""
    everywhere: bool = False
    """Whether clusters of any campaign are looked for, and so in the places, too, that this installation's settings
    name.
    """
    workload: Workload | None = None
    """What clients ask of the cluster, where the places are those of one definition."""


class Provider(Protocol):
    """A source of clusters by their ids. It goes by what is really there (processes, instances), never by a memory of
    its own.
    """

    name: str
    is_local: bool
    """Whether the provider's clusters are processes of this machine, which belong to nobody on other machines."""
    keeps_hosts: bool
    """Whether the provider's clusters can serve one attempt after the other."""
    replaces_hosts: bool
    """Whether `ensure` can replace single hosts of a kept cluster that are lost or unfit, and keep the others.

    It raises HostsLost if it can't. `find` does not return a cluster with lost hosts; `clusters` lists its remaining
    hosts.
    """

    def at(self, places: Places) -> Self:
        """Return the same provider, bound to those places.

        Without this call it looks for clusters only on this machine.
        """

    def check(self, spec: HostsSpec) -> Sequence[Problem]:
        """Return every problem that would keep such clusters from being provided, without providing any."""

    def ensure(self, request: ClusterRequest) -> Cluster:
        """Return the requested cluster, and make it if it is not there yet. Raises ProviderError when it can't be
        had.
        """

    def find(self, cluster_id: ClusterId) -> Cluster | None:
        """Return that cluster, if it lives and is whole."""

    def why_gone(self, cluster_id: ClusterId) -> str:
        """Return the provider's own words on why hosts of that cluster are gone; empty where it has none.

        ProviderError where it can't be asked.
        """

    def clusters(self) -> Sequence[Cluster]:
        """Return every cluster alive now, of any campaign, whole or half destroyed.

        PartlySeen where that can't be told of all; it carries the clusters that could be seen. HostsSilent if the only
        reason is that hosts of the user's own could not be asked, RecordsUnread if it is a record that can't be read.
        """

    def destroy(self, cluster_id: ClusterId) -> None:
        """Remove everything of that cluster and verify that it is gone; ProviderError otherwise. Idempotent."""

    def host(self, cluster: Cluster, info: HostInfo, environment: str = "") -> Host:
        """Return access to one host of a cluster, as far as it belongs to that environment: a folder and jobs of its
        own.

        The environment has no name where the cluster serves one attempt alone.
        """

    def clear(self, cluster: Cluster, keep: frozenset[str] = frozenset()) -> None:
        """End and remove what all environments but those in `keep` have on the cluster's hosts, and verify that.

        ProviderError otherwise. Idempotent. Only of providers that keep hosts.
        """


@runtime_checkable
class AccountProvider(Provider, Protocol):
    """A provider of hosts that are in an account, to which its connection leads."""

    def account(self) -> str:
        """Return the account of the definition that the provider is bound to; empty where its hosts are in none.

        Raises ProviderError and SecretError.
        """


@runtime_checkable
class DatabaseProvider(Provider, Protocol):
    """A provider of load hosts alone, for a database that somebody else runs."""

    def database(self) -> ExternalDatabase:
        """Return the database of the definition that the provider is bound to. Raises SecretError."""

    def keyspace(self) -> str:
        """Return the name of the keyspace that cells make and drop; empty where they only read."""

    def keeps_copies(self) -> bool:
        """Tell whether the database may keep copies of dropped tables and has no option against that.

        Raises ProviderError and SecretError.
        """

    def occupant(self) -> Occupant | None:
        """Return the cluster whose keyspace is where that of the definition would be made; None where there is none.

        Raises ProviderError and SecretError.
        """
