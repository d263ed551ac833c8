"""Clusters of hosts that three programs of the installation make, list and end; all else is done over SSH.

`list` is the truth about what lives. A launch is recorded before its program is called.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, Self

from plimsoll.adapters.providers.command.checks import CommandTariffs, login_of, problems
from plimsoll.adapters.providers.command.contract import AnsweredHost
from plimsoll.adapters.providers.command.launched import Launched, Reach, UnkeptLaunches, as_own, host_info, ssh_options
from plimsoll.adapters.providers.command.launching import Ender, Launcher, is_whole
from plimsoll.adapters.providers.command.options import CommandOptions
from plimsoll.adapters.providers.command.programs import Cloud, FolderPrograms, Programs
from plimsoll.adapters.providers.requested import options_of_places, options_of_request, within_ceiling
from plimsoll.adapters.providers.ssh.login import as_provider_error
from plimsoll.domain.campaign.specs import HostsSpec
from plimsoll.domain.hosts.cluster import Cluster, ClusterId, ClusterRequest, HostInfo, PartlySeen, RecordsUnread
from plimsoll.domain.text.errors import DamagedRecord, Problem, ProviderError, SecretError, StoreError, reason_of
from plimsoll.ports.controller import Clock, Log
from plimsoll.ports.host import Host
from plimsoll.ports.provider import Launches, Places, Provider
from plimsoll.ports.secrets import Secrets

PROVIDER = "command"

_Seen = tuple[Hashable, tuple[AnsweredHost, ...]]


class HostsAnswer(Protocol):
    def await_hosts(self, hosts: Sequence[AnsweredHost], options: CommandOptions) -> None:
        """Raises ProviderError where one can't be used."""


@dataclass(frozen=True)
class CommandProvider(Provider):
    """An implementation of the Provider port. `ssh` uses the hosts; hosts of other stores are neither seen nor touched.

    `seen`: the place and the hosts of clusters as they were listed last, so that access to one needs no further list.
    """

    programs: Programs
    ssh: Provider
    reach: HostsAnswer
    secrets: Secrets
    clock: Clock
    store: str
    log: Log
    launches: Launches
    places: Places = field(default=Places(), kw_only=True)
    seen: dict[ClusterId, _Seen] = field(default_factory=dict, kw_only=True, repr=False)

    name = PROVIDER
    is_local = False
    keeps_hosts = True
    replaces_hosts = False

    def at(self, places: Places) -> Self:
        return replace(self, places=places)

    def check(self, spec: HostsSpec) -> Sequence[Problem]:
        return problems(spec, self.programs, self.secrets, self.store)

    def ensure(self, request: ClusterRequest) -> Cluster:
        """Return the cluster's hosts, launched now or before, once they let us in and nothing of others is on them."""
        options = options_of_request(CommandOptions, request.options, str(request.id))
        # As on EC2, waiting for room takes nothing of the cell's own time, within the ceiling of the definition
        expires_at = within_ceiling(request, request.expires_at + options.patience)
        request = request.model_copy(update={"expires_at": expires_at})
        cloud = Cloud(self.programs, options, self.store)
        launched = Launched.read(self.launches, request.id, cloud.options)
        login = login_of(self.secrets, cloud.options.connection)
        launcher = Launcher(cloud, self.clock, self.log, request, login, self._ender(cloud, launched))
        hosts = launcher.provided()
        self.seen[request.id] = cloud.place, hosts
        if not login.user and (nameless := [str(host) for host in hosts if not host.user]):
            what = f"nobody is named who logs in to {', '.join(nameless)}"
            mend = "print `user` with each host, or name the user in the connection"
            raise ProviderError(what, where=str(request.id), mend=mend)
        self.reach.await_hosts(hosts, cloud.options)
        over_ssh = ssh_options(hosts, cloud.options)
        cluster = self._over_ssh(over_ssh).ensure(request.model_copy(update={"options": over_ssh}))
        if request.id.is_kept:
            launched.prolonged(request.owner, cluster.expires_at)
        return as_own(cluster, hosts, cloud.options, self.name)

    def find(self, cluster_id: ClusterId) -> Cluster | None:
        """Return the cluster if all its hosts are listed, and their lease says that it was made whole."""
        for cloud, hosts in self._listed(cluster_id):
            if hosts and is_whole(hosts, hosts[0].owned.nodes, hosts[0].owned.load_hosts):
                cluster = self._over_ssh(ssh_options(hosts, cloud.options)).find(cluster_id)
                return cluster and as_own(cluster, hosts, cloud.options, self.name)
        return None

    def why_gone(self, cluster_id: ClusterId) -> str:
        """Return which recorded hosts are not listed any more."""
        listed = {host.id for _, hosts in self._listed(cluster_id) for host in hosts}
        try:
            known = [host for launch in self.launches.of(cluster_id) for host in launch.living]
        except StoreError:
            return ""
        gone = ", ".join(f"{host.name} ({host.identity})" for host in known if host.identity not in listed)
        return f"not listed any more: {gone}" if gone else ""

    def clusters(self) -> Sequence[Cluster]:
        """List clusters by their hosts' tags, and launches whose answer was lost, which may still bring hosts."""
        clusters: dict[ClusterId, Cluster] = {}
        unseen = list(filter(None, [self.places.unknown]))
        unread: dict[str, None] = {}
        for cloud in self._clouds():
            try:
                for cluster in self._described(cloud, cloud.living(), unread):
                    clusters.setdefault(cluster.id, cluster)
            except ProviderError as error:
                unseen.append(f"the hosts that {cloud.options.list[0]} lists are not known: {reason_of(error)}")
        try:
            clusters = {**{cluster.id: cluster for cluster in self._unanswered(unread)}, **clusters}
        except StoreError as error:
            unseen.append(f"launches without an answer are not known: {error}")
        if unseen:
            raise PartlySeen("; ".join(dict.fromkeys([*unseen, *unread])), list(clusters.values()))
        if unread:
            raise RecordsUnread(f"records of launches can't be read: {'; '.join(unread)}", list(clusters.values()))
        return list(clusters.values())

    def destroy(self, cluster_id: ClusterId) -> None:
        """End the cluster where it is. Errors of other places say nothing about it, if it was found.

        Options that have changed since make several places, whose programs may list the same hosts: once one of them
        has ended it, those that list nothing of it any more are left alone.
        """
        self.seen.pop(cluster_id, None)
        clouds, errors, has_ended = self._clouds(), list[tuple[Cloud, ProviderError]](), False
        if not clouds:
            mend = "bring the campaign's definition back to the store"
            raise ProviderError("no definition names the programs that end it", where=str(cluster_id), mend=mend)
        homes = [cloud for cloud in clouds if self._lists(cloud, cluster_id)] if len(clouds) > 1 else clouds
        for cloud in homes or clouds:
            if has_ended and self._lists(cloud, cluster_id) is False:
                continue
            try:
                launched = Launched.read(self.launches, cluster_id, cloud.options)
            except StoreError:  # what is listed can be ended all the same
                launched = Launched(self.launches, cluster_id, cloud.options)
            try:
                self._ender(cloud, launched).end()
                has_ended = bool(homes)
            except ProviderError as error:
                errors.append((cloud, error))
        for cloud, first in errors:
            if not (has_ended and self._lists(cloud, cluster_id) is False):
                raise first

    def host(self, cluster: Cluster, info: HostInfo, environment: str = "") -> Host:
        """Return access by SSH. A host that does not present the key that it was listed with is refused."""
        return self._of(cluster, info).host(cluster, info, environment)

    def clear(self, cluster: Cluster, keep: frozenset[str] = frozenset()) -> None:
        self._of(cluster, cluster.load_host).clear(cluster, keep)

    def _of(self, cluster: Cluster, info: HostInfo) -> Provider:
        """Return the provider `ssh` with the cluster's hosts, as they were listed when that one was among them."""
        if not self._has_seen(cluster, info):
            # Listing notes the hosts in `seen`
            list(self._listed(cluster.id))
        if not self._has_seen(cluster, info):
            what = f"host {info.name} ({info.identity}) is not listed any more"
            raise ProviderError(what, where=str(cluster.id), mend="run the cell again")
        place, hosts = self.seen[cluster.id]
        cloud = next(cloud for cloud in self._clouds() if cloud.place == place)
        return self._over_ssh(ssh_options(hosts, cloud.options))

    def _has_seen(self, cluster: Cluster, info: HostInfo) -> bool:
        place, hosts = self.seen.get(cluster.id, ((), ()))
        is_known = place in {cloud.place for cloud in self._clouds()}
        return is_known and info.identity in {host.id for host in hosts}

    def _listed(self, cluster_id: ClusterId) -> Iterator[tuple[Cloud, tuple[AnsweredHost, ...]]]:
        """Yield the cluster's hosts in each place. Raises ProviderError, at last, where one could not be looked at."""
        failed: ProviderError | None = None
        for cloud in self._clouds():
            try:
                hosts = cloud.of_cluster(cluster_id)
            except ProviderError as error:
                failed = error
                continue
            if hosts:
                self.seen[cluster_id] = cloud.place, hosts
            yield cloud, hosts
        if failed:
            raise failed

    def _described(self, cloud: Cloud, hosts: Sequence[AnsweredHost], unread: dict[str, None]) -> Iterator[Cluster]:
        """Yield each cluster that has one of these hosts. Of kept ones the record tells the owner and the expiry.

        Those that began with them stand for them where the record is damaged, and `unread` is told why.
        """
        for cluster_id in dict.fromkeys(host.owned.id for host in hosts):
            own = [host for host in hosts if host.owned.id == cluster_id]
            tags = own[0].owned
            owner, expires = tags.owner, tags.expires
            try:
                for launch in self.launches.of(cluster_id) if cluster_id.is_kept else ():
                    owner, expires = launch.owner, max(expires, launch.expires_at)
            except StoreError as error:
                unread[str(error)] = None
                if not isinstance(error, DamagedRecord):  # their present owner, who is not known, needs them
                    continue
            yield Cluster(
                id=cluster_id,
                owner=owner,
                provider=self.name,
                hosts=tuple(host_info(host, cloud.options) for host in own),
                created_at=tags.created,
                expires_at=expires,
                resources=tuple(f"host {host}" for host in own),
            )

    def _unanswered(self, unread: dict[str, None]) -> Iterator[Cluster]:
        """Yield the clusters of launches without an answer, while these may still bring hosts.

        `unread` is told which records can't be read. Raises StoreError where none can.
        """
        now, every = self.clock.now(), options_of_places(CommandOptions, self.places)
        # Whose definition asked for a launch is not recorded: hosts may show for as long as any definition allows
        patient = max(every, key=lambda options: options.launch_within, default=None)
        if patient is None:
            return
        for cluster_id in self.launches.unsettled():
            try:
                launched = Launched.read(self.launches, cluster_id, patient)
            except StoreError as error:
                unread[str(error)] = None
                continue
            launch, until = launched.unanswered, launched.unknown_until()
            # The record has launches of other providers, too, which name no program
            if launch and until and now < until and launch.is_of_program:
                yield Cluster(
                    id=cluster_id,
                    owner=launch.owner,
                    provider=self.name,
                    hosts=(),
                    created_at=launch.asked_at,
                    expires_at=launch.expires_at,
                    resources=(f"a launch whose answer was lost, which may show until {until:%H:%M:%S} UTC",),
                )

    def _lists(self, cloud: Cloud, cluster_id: ClusterId) -> bool | None:
        """Tell whether the place lists something of the cluster; None where it can't tell."""
        try:
            return bool(cloud.of_cluster(cluster_id))
        except ProviderError:
            return None

    def _ender(self, cloud: Cloud, launched: Launched) -> Ender:
        def clean(hosts: tuple[AnsweredHost, ...]) -> None:
            if any(host.role == "load" for host in hosts):
                try:
                    self._over_ssh(ssh_options(hosts, cloud.options)).destroy(launched.id)
                except SecretError as error:
                    raise as_provider_error(error) from error

        return Ender(cloud, self.clock, self.log, launched, clean)

    def _clouds(self) -> list[Cloud]:
        """Return the cloud of each known place. Raises ProviderError where the only options can't be read."""
        clouds: dict[Hashable, Cloud] = {}
        for options in options_of_places(CommandOptions, self.places):
            cloud = Cloud(self.programs, options, self.store)
            clouds.setdefault(cloud.place, cloud)
        return list(clouds.values())

    def _over_ssh(self, options: dict[str, object]) -> Provider:
        return self.ssh.at(Places((options,)))


__all__ = ["PROVIDER", "CommandProvider", "CommandTariffs", "FolderPrograms", "Reach", "UnkeptLaunches"]
