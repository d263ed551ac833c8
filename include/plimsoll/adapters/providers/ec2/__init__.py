"""Clusters on Amazon EC2: hosts found by their tags."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache, cached_property, partial
from pathlib import PurePosixPath
from typing import Self

from plimsoll.adapters.providers.ec2 import tags
from plimsoll.adapters.providers.ec2.checks import problems
from plimsoll.adapters.providers.ec2.cloud import UNKNOWN, Cloud, CloudRegion, ids_of, is_living
from plimsoll.adapters.providers.ec2.destroying import Destroyer, DestroySince
from plimsoll.adapters.providers.ec2.errors import CloudError
from plimsoll.adapters.providers.ec2.finding import STANDING, TaggedResources, name_of, shown, standing, tagged
from plimsoll.adapters.providers.ec2.instance_types import Ec2Tariffs
from plimsoll.adapters.providers.ec2.launch_plan import ROOT, LaunchPlan, LaunchPlanner
from plimsoll.adapters.providers.ec2.launched import Launched
from plimsoll.adapters.providers.ec2.launching import Launcher, retry_until_known
from plimsoll.adapters.providers.ec2.network import subnets
from plimsoll.adapters.providers.ec2.options import CONNECTION, Ec2Options
from plimsoll.adapters.providers.ec2.placement import Placement, patiently
from plimsoll.adapters.providers.ec2.readiness import SharedHost, await_hosts, clear, in_environment, prolong
from plimsoll.adapters.providers.ec2.user_data import host_key
from plimsoll.adapters.providers.requested import options_of_places, options_of_request, within_ceiling
from plimsoll.adapters.providers.ssh import Connections, Depot, SshHost, Target
from plimsoll.domain.campaign.specs import HostsSpec
from plimsoll.domain.hosts.cluster import Cluster, ClusterId, ClusterRequest, HostInfo, PartlySeen, RecordsUnread
from plimsoll.domain.text.errors import PlimsollError, Problem, ProviderError, SecretError, StoreError
from plimsoll.ports.controller import Clock, Log
from plimsoll.ports.host import Host
from plimsoll.ports.provider import FullZones, Launches, NoneFull, Places, Provider
from plimsoll.ports.secrets import Secrets, SshIdentity

_USER = "plimsoll"

Connect = Callable[[ClusterId, HostInfo, Target], SharedHost]


@dataclass(frozen=True)
class Ec2Provider(Provider):
    """An implementation of the Provider port. Clusters of other stores than `store` are neither seen nor touched.

    `places`: the options that name regions and connections. For clusters of any campaign `further_regions` are searched
    too. The provider remembers nothing else but `destroy_since`; AWS is asked each time.
    """

    secrets: Secrets
    clock: Clock
    connect: Connect
    store: str
    log: Log
    launches: Launches
    further_regions: Sequence[str] = field(default=(), kw_only=True)
    places: Places = field(default=Places(), kw_only=True)
    clouds: dict[CloudRegion, Cloud] = field(default_factory=dict, kw_only=True, repr=False)
    """The clouds of places that were asked so far, each with its client."""
    tariffs: Ec2Tariffs | None = field(default=None, kw_only=True, repr=False)
    """Prices, with the answers of the Pricing API so far; by default the provider makes its own."""
    full_zones: FullZones = field(default=NoneFull(), kw_only=True, repr=False)
    """The zones that any cell has found to be full a few minutes ago."""
    destroy_since: DestroySince = field(default_factory=dict, kw_only=True, repr=False)
    """Cluster and place → the time since when this process has tried to destroy it, while the store is away."""

    name = tags.PROVIDER
    is_local = False
    keeps_hosts = True
    replaces_hosts = True

    @cached_property
    def _tariffs(self) -> Ec2Tariffs:
        return self.tariffs or Ec2Tariffs(self.secrets)

    @property
    def _destroyer(self) -> Destroyer:
        return Destroyer(self.clock, self.store, self.launches, self.log, self.destroy_since)

    def at(self, places: Places) -> Self:
        # With the same prices, so that no copy asks for one again
        return replace(self, places=places, tariffs=self._tariffs)

    def check(self, spec: HostsSpec) -> Sequence[Problem]:
        """Return every problem that AWS can show before anything costs money. SecretError where AWS can't be asked."""
        return problems(spec, self.secrets)

    def account(self) -> str:
        [options] = self.places.options
        return self._cloud(_place(options_of_request(Ec2Options, options, ""))).account()

    def ensure(self, request: ClusterRequest) -> Cluster:
        """Return the cluster's hosts, running, in one zone, and answering as themselves.

        Kept ones live on for the request. Where AWS fails or throttles, everything is asked for again: that finds what
        was launched before.
        """
        options = options_of_request(Ec2Options, request.options, str(request.id))
        self._destroyer.forget(request.id)
        deadline = within_ceiling(request, self.clock.now() + options.patience)
        provided = partial(self._provided, request, options, deadline)
        return patiently(provided, str(request.id), self.clock, deadline, self.log)

    def _provided(self, request: ClusterRequest, options: Ec2Options, deadline: datetime) -> Cluster:
        cloud = self._cloud(_place(options))
        choices = subnets(cloud, options)
        launched = Launched.read(self.launches, request.id, cloud.place, self.clock)
        planner = LaunchPlanner(cloud, self.store, self._identity(options), self._tariffs.of_options(options))
        plan = planner.launch_plan(request, options, choices[0].vpc, launched.image)
        launcher = Launcher(cloud, self.clock, plan, launched)
        instances = Placement(launcher, self.clock, self.log, self.full_zones).placed(choices, deadline)
        cluster = tags.described(request.id, instances, cloud.place, self.clock.now())
        hosts = [self._host(options, cluster, info) for info in cluster.hosts]
        await_hosts(hosts, self.clock, options.startup, launcher.require_alive)
        if not request.id.is_kept:
            return cluster
        launched.prolonged(plan.expires, plan.ends, plan.owner)
        return self._prolonged(cloud, plan, cluster, hosts)

    def find(self, cluster_id: ClusterId) -> Cluster | None:
        """Return the cluster if all its hosts are there. A place that can't be looked at hides no host of others."""
        failed: PlimsollError | None = None
        for cloud in self._clouds():
            # Read once at most, and only where the tags alone do not decide
            launched = cache(partial(Launched.read_if_possible, self.launches, cluster_id, cloud.place, self.clock))
            try:
                instances = standing(cloud, self.clock, tags.of_cluster(self.store, cluster_id), launched)
            except (ProviderError, SecretError) as error:
                failed = failed or error
                continue
            if instances:
                return tags.described(cluster_id, instances, cloud.place, self.clock.now())
        if failed:
            raise failed
        return None

    def why_gone(self, cluster_id: ClusterId) -> str:
        """Return AWS's reasons for the ends of hosts that nobody here has ended; empty where AWS gives none."""
        reasons: list[str] = []
        for cloud in self._clouds():
            with suppress(ProviderError, SecretError):
                launched = Launched.read_if_possible(self.launches, cluster_id, cloud.place, self.clock)
                reasons += [
                    f"{instance['InstanceId']} is {instance['State']['Name']}: {tags.why_ended(instance)}"
                    for instance in shown(cloud, tags.of_cluster(self.store, cluster_id), launched)
                    if instance["State"]["Name"] not in STANDING and not launched.has_ended(instance["InstanceId"])
                ]
        return "; ".join(reasons)

    def clusters(self) -> Sequence[Cluster]:
        """List clusters from everything that carries the tags, and from the record of launches; remains count."""
        unseen = dict.fromkeys(filter(None, [self.places.unknown]))
        unsettled: Sequence[ClusterId] = ()
        try:
            unsettled = self.launches.unsettled()
        except StoreError as error:
            unseen = unseen or {f"hosts that EC2 does not list yet are not known: {error}": None}
        listed = [(cloud, tagged(cloud, tags.of_store(self.store))) for cloud in self._clouds()]
        unread: dict[str, None] = {}
        clusters = [
            cluster for cloud, resources in listed for cluster in self._described(cloud, resources, unsettled, unread)
        ]
        unseen |= {str(error): None for _, resources in listed for error in resources.unseen}
        if unseen:
            raise PartlySeen(f"not all of AWS could be looked at: {'; '.join([*unseen, *unread])}", clusters)
        if unread:
            raise RecordsUnread(f"hosts that EC2 does not list yet are not known: {'; '.join(unread)}", clusters)
        return clusters

    def destroy(self, cluster_id: ClusterId) -> None:
        self._destroyer.destroy(self._clouds(), cluster_id)

    def clear(self, cluster: Cluster, keep: frozenset[str] = frozenset()) -> None:
        options = self._options(cluster)
        clear([self._host(options, cluster, info) for info in cluster.hosts], cluster, keep)

    def host(self, cluster: Cluster, info: HostInfo, environment: str = "") -> Host:
        """Return access by SSH. A host that does not present the cluster's own host key is refused."""
        return in_environment(self._host(self._options(cluster), cluster, info), cluster, environment)

    def _options(self, cluster: Cluster) -> Ec2Options:
        options = next(iter(self.places.options), {})
        return options_of_request(Ec2Options, options, f"campaign {cluster.id.campaign_id}")

    def _prolonged(self, cloud: Cloud, plan: LaunchPlan, cluster: Cluster, hosts: Sequence[SharedHost]) -> Cluster:
        """Return the cluster with its new owner and its new expiry, which may be earlier: nobody else uses it now.

        The hosts' own end is moved first, then their tags. If a process is killed in between, the next call does both.
        The result is what was written, because tags that EC2 shows may lag.
        """
        prolong(hosts, plan.ends)
        ids = [info.identity for info in cluster.hosts]
        new = tags.as_list({tags.OWNER: plan.owner, tags.EXPIRES: plan.expires.isoformat()})
        retry_until_known(self.clock, UNKNOWN, lambda: cloud.call("create_tags", Resources=ids, Tags=new))
        return cluster.model_copy(update={"owner": plan.owner, "expires_at": plan.expires})

    def _host(self, options: Ec2Options, cluster: Cluster, info: HostInfo) -> SharedHost:
        identity = self._identity(options)
        key = host_key(identity, cluster.id).public
        target = Target(info.address, key, options.ssh_connection, port=options.ssh_port, user=identity.user)
        return self.connect(cluster.id, info, target)

    def _identity(self, options: Ec2Options) -> SshIdentity:
        identity = self.secrets.ssh_identity(options.ssh_connection)
        return identity if identity.user else replace(identity, user=_USER)

    def _described(
        self, cloud: Cloud, seen: TaggedResources, unsettled: Sequence[ClusterId], unread: dict[str, None]
    ) -> Iterator[Cluster]:
        """Yield the place's clusters, and what unsettled ones may have unseen. `unread`: why a record can't be read."""
        by_id = tags.by_cluster(seen.resources)
        for cluster_id in sorted({*by_id, *unsettled}, key=str):
            resources = by_id.get(cluster_id, [])
            instances = [resource for resource in resources if "InstanceId" in resource]
            recorded = tags.Recorded()
            # Where all hosts of a cluster show, the record has nothing to add
            if cluster_id in unsettled and not tags.is_whole(instances):
                try:
                    launched = Launched.read(self.launches, cluster_id, cloud.place, self.clock)
                    listed = ids_of(instances) if seen.lists_instances else None
                    unseen = [] if listed is None else [known for known in launched.living() if known not in listed]
                    recorded = launched.not_listed(listed, ids_of(filter(is_living, cloud.of_ids(unseen))))
                except (StoreError, CloudError) as error:
                    unread[str(error)] = None
            if resources or recorded.names:
                names = [name_of(resource) for resource in resources]
                yield tags.described(cluster_id, resources, cloud.place, self.clock.now(), names, recorded)

    def _clouds(self) -> list[Cloud]:
        """Return the cloud of each known place. Where clusters may be anywhere, also those of further regions."""
        known = dict.fromkeys(map(_place, options_of_places(Ec2Options, self.places)))
        if self.places.everywhere or self.places.unknown:
            connections = dict.fromkeys(place.connection for place in known) or [CONNECTION]
            known |= dict.fromkeys(
                CloudRegion(connection, region) for region in self.further_regions for connection in connections
            )
        return [self._cloud(place) for place in known]

    def _cloud(self, place: CloudRegion) -> Cloud:
        return self.clouds.setdefault(place, Cloud(self.secrets, place))


def over_ssh(connections: Connections, depot: Depot | None = None) -> Connect:
    """Return hosts over one kept connection each. They fetch bundles from the depot; without one, they are sent."""

    def connect(cluster_id: ClusterId, info: HostInfo, target: Target) -> SharedHost:
        staged = depot.of_campaign(cluster_id.campaign_id) if depot else None
        return SshHost(info, PurePosixPath(ROOT), connections.to(target), staged=staged)

    return connect


def _place(options: Ec2Options) -> CloudRegion:
    return CloudRegion(options.connection, options.region)


__all__ = ["Ec2Provider", "Ec2Tariffs", "over_ssh"]
