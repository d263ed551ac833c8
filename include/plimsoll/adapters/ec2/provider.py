"""Clusters on EC2: hosts found by their tags."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from pathlib import PurePosixPath

from plimsoll.adapters.ec2.checks import problems
from plimsoll.adapters.ec2.cloud import Cloud, Place, clouds
from plimsoll.adapters.ec2.describing import PROVIDER, Resource, by_cluster, described
from plimsoll.adapters.ec2.finding import standing
from plimsoll.adapters.ec2.host_keys import authorized_key, host_key
from plimsoll.adapters.ec2.images import find_image
from plimsoll.adapters.ec2.launched import Launched
from plimsoll.adapters.ec2.launching import Launcher
from plimsoll.adapters.ec2.network import security_group, subnets
from plimsoll.adapters.ec2.options import CONNECTION, Ec2Options, read_options
from plimsoll.adapters.ec2.placement import Say, placed
from plimsoll.adapters.ec2.prices import Ec2Tariffs
from plimsoll.adapters.ec2.readiness import await_hosts
from plimsoll.adapters.ec2.remnants import remove, tagged, terminate_shown
from plimsoll.adapters.ec2.requests import Wanted
from plimsoll.adapters.ec2.tags import of_cluster, of_store
from plimsoll.adapters.ec2.user_data import HostSetup, cloud_config
from plimsoll.adapters.ssh import Connections, Depot, SshHost, Target
from plimsoll.domain.cluster import Cluster, ClusterId, ClusterRequest, HostInfo, PartlySeen
from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import NotFound, Problem, ProviderError, StoreError
from plimsoll.ports.clock import Clock
from plimsoll.ports.host import Host
from plimsoll.ports.launches import Launches
from plimsoll.ports.provider_options import PartlyKnown, ProviderOptions
from plimsoll.ports.secrets import Secrets, SshIdentity

ROOT = "/var/lib/plimsoll"
"""The folder of everything Plimsoll has on a host; the data disk, where the type has one."""
_USER = "plimsoll"


Connect = Callable[[ClusterId, HostInfo, Target], Host]


@dataclass(frozen=True)
class Ec2Provider:
    """Implements the Provider port. Clusters of other result stores than `store` are neither seen nor touched.

    `options` tells in which region, and through which connections, the clusters of a campaign are; where it can't tell
    of all, clusters are looked for in `further_regions`, too. Nothing else is remembered: what there is, AWS says.
    """

    secrets: Secrets
    options: ProviderOptions
    clock: Clock
    connect: Connect
    store: str
    say: Say
    launches: Launches
    further_regions: Sequence[str] = field(default=(), kw_only=True)

    name = PROVIDER
    is_local = False
    keeps_hosts = False

    @cached_property
    def _cloud(self) -> Callable[[Place], Cloud]:
        return clouds(self.secrets)

    @cached_property
    def _tariffs(self) -> Ec2Tariffs:
        return Ec2Tariffs(self.secrets)

    def check(self, definition: Definition) -> Sequence[Problem]:
        """Everything that AWS can be asked before anything costs money. SecretError where it can't be asked at all."""
        return problems(definition, self.secrets)

    def ensure(self, request: ClusterRequest) -> Cluster:
        """The cluster's hosts, running, in one zone, and answering as themselves."""
        options = read_options(request.options, str(request.id))
        cloud = self._cloud(_place(options))
        found = subnets(cloud, options)
        launched = Launched.read(self.launches, request.id, cloud.place, self.clock)
        wanted = self._wanted(request, options, cloud, found[0].vpc)
        launcher = Launcher(cloud, self.clock, wanted, launched)
        instances = placed(launcher, self.clock, found, self.say)
        cluster = described(request.id, instances, cloud.place, self.clock.now())
        hosts = [self._host(options, cluster, info) for info in cluster.hosts]
        await_hosts(hosts, self.clock, options.startup)
        return cluster

    def find(self, cluster_id: ClusterId) -> Cluster | None:
        """That cluster, if all its hosts are there."""
        for cloud in self._clouds_of(cluster_id):
            launched = cache(partial(Launched.read_if_possible, self.launches, cluster_id, cloud.place, self.clock))
            instances = standing(cloud, self.clock, of_cluster(self.store, cluster_id), launched)
            if instances:
                return described(cluster_id, instances, cloud.place, self.clock.now())
        return None

    def clusters(self) -> Sequence[Cluster]:
        """From everything that carries the tags; what is left of one is a cluster too."""
        known, unread = self._known()
        seen = [(cloud, tagged(cloud, of_store(self.store))) for cloud in known]
        found = [cluster for cloud, each in seen for cluster in self._described(cloud, each.resources)]
        unseen = [*unread, *(str(error) for _, each in seen for error in each.unseen)]
        if unseen:
            raise PartlySeen(f"not all of AWS could be looked at: {'; '.join(unseen)}", found)
        return found

    def destroy(self, cluster_id: ClusterId) -> None:
        """Terminate and delete everything with the cluster's tags, and look whether it is so."""
        # First what shows: the record of launches may be out of reach, and take minutes to be found so.
        told = [
            (cloud, terminate_shown(cloud, of_cluster(self.store, cluster_id))) for cloud in self._clouds_of(cluster_id)
        ]
        for cloud, shown in told:
            since = shown.whole_since or self.clock.now()
            launched = Launched.read_if_possible(self.launches, cluster_id, cloud.place, self.clock, since)
            launched.ended(shown.accepted)
            remove(cloud, self.clock, self.store, launched, cluster_id)

    def clear(self, cluster: Cluster, keep: str = "") -> None:  # noqa: ARG002
        """Not to be had here yet; `plan` refuses definitions that would ask for it."""
        mend = "write `cluster_scope: cell`"
        raise ProviderError("hosts are not kept from cell to cell on EC2 yet", where=str(cluster.id), mend=mend)

    def host(self, cluster: Cluster, info: HostInfo, environment: str = "") -> Host:  # noqa: ARG002
        """Access by SSH. The host key is the cluster's own, or the host is refused."""
        return self._host(self._campaign_options(cluster.id), cluster, info)

    def _host(self, options: Ec2Options, cluster: Cluster, info: HostInfo) -> Host:
        identity = self._identity(options)
        key = host_key(identity, cluster.id).public
        target = Target(info.address, key, options.ssh_connection, port=options.ssh_port, user=identity.user)
        return self.connect(cluster.id, info, target)

    def _identity(self, options: Ec2Options) -> SshIdentity:
        identity = self.secrets.ssh_identity(options.ssh_connection)
        return identity if identity.user else replace(identity, user=_USER)

    def _wanted(self, request: ClusterRequest, options: Ec2Options, cloud: Cloud, vpc: str) -> Wanted:
        """Equal for equal requests. Waiting for room takes nothing from the cell's own time."""
        tariff = self._tariffs.of_options(options)
        return Wanted(
            id=request.id,
            owner=request.owner,
            store=self.store,
            nodes=request.nodes,
            expires=request.expires_at + options.patience,
            options=options,
            image=find_image(cloud, options),
            security_group=security_group(cloud, options, vpc)["GroupId"],
            user_data=cloud_config(self._setup(request, options)),
            usd_per_hour={"node": tariff.node.usd_per_hour, "load": tariff.load.usd_per_hour},
        )

    def _setup(self, request: ClusterRequest, options: Ec2Options) -> HostSetup:
        identity = self._identity(options)
        return HostSetup(
            user=identity.user,
            root=ROOT,
            host_key=host_key(identity, request.id),
            authorized=authorized_key(identity, options.ssh_connection),
            ends_at=request.expires_at + options.patience + options.expiry_margin,
            transparent_huge_pages=options.transparent_huge_pages,
            readahead_kib=options.readahead_kib,
        )

    def _described(self, cloud: Cloud, resources: Iterable[Resource]) -> Iterator[Cluster]:
        clusters = by_cluster(resources)
        for cluster_id in sorted(clusters, key=str):
            its = clusters[cluster_id]
            answers, names = [each.answer for each in its], [each.name for each in its]
            yield described(cluster_id, answers, cloud.place, self.clock.now(), names)

    def _clouds_of(self, cluster_id: ClusterId) -> list[Cloud]:
        """Of the campaign's place; of every known one where the store has lost the campaign, or is out of reach."""
        try:
            return [self._cloud(_place(self._campaign_options(cluster_id)))]
        except NotFound:
            return self._with_further(self._known()[0])
        except StoreError:
            return self._known()[0]

    def _campaign_options(self, cluster_id: ClusterId) -> Ec2Options:
        return read_options(self.options.of_campaign(cluster_id.campaign_id), f"campaign {cluster_id.campaign_id}")

    def _known(self) -> tuple[list[Cloud], list[str]]:
        """Clouds of every known place, and why there may be others."""
        try:
            return self._at(self.options.known(PROVIDER)), []
        except PartlyKnown as error:
            return self._with_further(self._at(error.options)), [str(error)]

    def _at(self, options: Iterable[Mapping[str, object]]) -> list[Cloud]:
        return [self._cloud(place) for place in dict.fromkeys(_places(options))]

    def _with_further(self, known: Sequence[Cloud]) -> list[Cloud]:
        """The clouds, and those of the further regions, each through every connection that is known."""
        connections = dict.fromkeys(cloud.place.connection for cloud in known) or [CONNECTION]
        further = (Place(connection, region) for region in self.further_regions for connection in connections)
        return list(dict.fromkeys([*known, *map(self._cloud, further)]))


def over_ssh(connections: Connections, depot: Depot | None = None) -> Connect:
    """Hosts as they are reached outside tests: one connection each, kept while it is used.

    They fetch bundles from the depot; where there is none, they are sent them.
    """

    def connect(cluster_id: ClusterId, info: HostInfo, target: Target) -> Host:
        staged = depot.of_campaign(cluster_id.campaign_id) if depot else None
        return SshHost(info, PurePosixPath(ROOT), connections.to(target), staged=staged)

    return connect


def _place(options: Ec2Options) -> Place:
    return Place(options.connection, options.region)


def _places(known: Iterable[Mapping[str, object]]) -> Iterator[Place]:
    for options in known:
        try:
            yield _place(read_options(options, ""))
        except ProviderError:  # a definition that never came to a cluster
            continue
