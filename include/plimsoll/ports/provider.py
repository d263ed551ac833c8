"""The source of clusters, with its record of launches, which shows hosts that the cloud does not list yet, its prices,
and a database that somebody else runs, as its clients reach it.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol, Self

from plimsoll.domain.campaign.specs import HostsSpec
from plimsoll.domain.hosts.cluster import Cluster, ClusterId, ClusterRequest, HostInfo, Launch, SetUp
from plimsoll.domain.hosts.cost import Tariff
from plimsoll.domain.keys.workload import Workload
from plimsoll.domain.text.errors import Problem
from plimsoll.ports.host import Host
from plimsoll.ports.secrets import CommandSecrets, DatabaseAccess


@dataclass(frozen=True)
class ExternalDatabase:
    """The addresses of such a database, what clients may use of it, and how they log in. `repr` shows no secret.

    Clients of one that speaks CQL log in by `access`, and commands of a definition by `secrets`.
    """

    contact_points: tuple[str, ...]
    port: int
    data_centre: str = ""
    keyspace: str = ""
    is_read_only: bool = False
    """Whether the keyspace is there already and nothing may be written to it."""
    populate_ops_s: int | None = None
    """The rate at which rows are written before a load; None: the load's own."""
    has_tls: bool = False
    access: DatabaseAccess = field(default=DatabaseAccess(), repr=False)
    addresses: tuple[str, ...] = ()
    """Names or addresses with ports, of an endpoint that commands ask."""
    secrets: CommandSecrets = field(default=CommandSecrets(), repr=False)
    nodes_within: tuple[str, ...] = ()
    """Names, addresses and networks of the only nodes that may be connected to; none: all that the database names."""


@dataclass(frozen=True)
class Occupant:
    """The cluster whose keyspace is in such a database, as the keyspace's mark says."""

    keyspace: str
    cluster: ClusterId
    store: str
    is_ours: bool
    """Whether that is this installation's store."""
    owner: str


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
    """Whether clusters of any campaign are looked for, and so in the places of this installation's settings, too."""
    workload: Workload | None = None
    """What clients ask of the cluster, where the places are those of one definition."""


class Provider(ABC):
    """A source of clusters by their ids. It goes by what is really there (processes, instances), not by a memory."""

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

    @abstractmethod
    def at(self, places: Places) -> Self:
        """Return the same provider, bound to those places. Without this call it looks only on this machine."""

    @abstractmethod
    def check(self, spec: HostsSpec) -> Sequence[Problem]:
        """Return every problem that would keep such clusters from being provided, without providing any."""

    @abstractmethod
    def ensure(self, request: ClusterRequest) -> Cluster:
        """Return the requested cluster, and make it if it is not there yet. Raises ProviderError where it can't."""

    @abstractmethod
    def find(self, cluster_id: ClusterId) -> Cluster | None:
        """Return that cluster, if it lives and is whole."""

    def why_gone(self, cluster_id: ClusterId) -> str:
        """Return the provider's own words on why hosts of that cluster are gone; empty where it has none.

        ProviderError where it can't be asked.
        """
        return ""

    @abstractmethod
    def clusters(self) -> Sequence[Cluster]:
        """Return every cluster alive now, of any campaign, whole or half destroyed.

        PartlySeen where that can't be told of all; it carries the clusters that could be seen. HostsSilent if the only
        reason is that hosts of the user's own could not be asked, RecordsUnread if it is a record that can't be read.
        """

    @abstractmethod
    def destroy(self, cluster_id: ClusterId) -> None:
        """Remove everything of that cluster and verify that it is gone; ProviderError otherwise. Idempotent."""

    @abstractmethod
    def host(self, cluster: Cluster, info: HostInfo, environment: str = "") -> Host:
        """Return access to a host, as far as it belongs to that environment: a folder and jobs of its own.

        The environment has no name where the cluster serves one attempt alone.
        """

    @abstractmethod
    def clear(self, cluster: Cluster, keep: frozenset[str] = frozenset()) -> None:
        """End and remove what all environments but those in `keep` have on the cluster's hosts, and verify that.

        ProviderError otherwise. Idempotent. Only of providers that keep hosts.
        """

    def account(self) -> str:
        """Return the account to which the definition's connection leads; empty where hosts are in none.

        Raises ProviderError and SecretError.
        """
        return ""

    def database(self) -> ExternalDatabase | None:
        """Return the definition's database that somebody else runs, for which the provider has load hosts alone.

        None where Plimsoll deploys it on the provider's own hosts. Raises SecretError.
        """
        return None

    def shared_addresses(self) -> frozenset[str]:
        """Return the addresses of such a database, which loads of all campaigns share; empty where there is none."""
        return frozenset()

    def own(self, cluster_id: ClusterId) -> str:
        """Return the name of what only that cluster makes in an endpoint; empty where it makes nothing in any.

        Raises StoreError.
        """
        return ""

    def keyspace(self) -> str:
        """Return the keyspace of such a database that cells make and drop; empty where they make none."""
        return ""

    def keeps_copies(self) -> bool:
        """Tell whether such a database may keep copies of dropped tables and has no option against that.

        Raises ProviderError and SecretError.
        """
        return False

    def occupant(self) -> Occupant | None:
        """Return the cluster whose keyspace is where that of the definition would be made; None where there is none.

        Raises ProviderError and SecretError.
        """
        return None


class Launches(Protocol):
    """The launches of every cluster, by token. Each method raises StoreError when the record can't be reached."""

    def of(self, cluster_id: ClusterId) -> Sequence[Launch]:
        """Return the cluster's launches, in the order of the requests."""

    def unsettled(self) -> Sequence[ClusterId]:
        """Return the clusters of all campaigns whose account is open, so that they may have hosts that nobody lists."""

    def note(self, launch: Launch) -> None:
        """Record a launch, over any earlier record of it."""


class SetUps(Protocol):
    """What clusters may have made in endpoints. Each method raises StoreError when the record can't be reached."""

    def settle(self, cluster_id: ClusterId, set_up: SetUp) -> SetUp:
        """Record what the cluster is about to make, or return what was recorded first."""

    def of(self, cluster_id: ClusterId) -> SetUp | None:
        """Return what is recorded; None where nothing is, or nothing is left."""

    def forget(self, cluster_id: ClusterId) -> None:
        """Record that nothing of the cluster is left. Idempotent."""


class FullZones(Protocol):
    """A memory that all cells share. It only spares time and money, so that its errors count for nothing."""

    def note(self, zone: str) -> None:
        """Remember that the zone had no room just now. The name tells all that its room depends on."""

    def known(self) -> frozenset[str]:
        """Return the zones that had no room a few minutes ago."""


class NoneFull:
    """An implementation of the FullZones port that remembers nothing."""

    def note(self, zone: str) -> None:
        """Forget it."""

    def known(self) -> frozenset[str]:
        return frozenset()


class Tariffs(Protocol):
    """Prices of one provider."""

    def tariff(self, spec: HostsSpec) -> Tariff | None:
        """Return the prices of the hosts; None where they cost nothing.

        The price of a host is None where nobody knows it. Wrong options are an error.
        """
