"""Clusters of existing hosts over SSH: each uses a group of hosts that is leased, and cleaned before and after."""

import logging
from collections.abc import Sequence
from copy import copy
from typing import Self

from pydantic import ValidationError

from plimsoll.adapters.hosts.reached import Target
from plimsoll.adapters.providers.ssh.bundles import Depot
from plimsoll.adapters.providers.ssh.checks import candidates, problems, why_left_out
from plimsoll.adapters.providers.ssh.connection import Connections
from plimsoll.adapters.providers.ssh.group import Group, SshOptions
from plimsoll.adapters.providers.ssh.host import SshHost
from plimsoll.adapters.providers.ssh.login import KeyRefused, WrongHostKey, as_provider_error, explained
from plimsoll.adapters.providers.ssh.member import Held, Lease, Place
from plimsoll.domain.campaign.specs import HostsSpec
from plimsoll.domain.hosts.cluster import Cluster, ClusterId, ClusterRequest, HostInfo, HostsSilent, PartlySeen
from plimsoll.domain.text.errors import HostError, HostsLost, Problem, ProviderError, SecretError
from plimsoll.domain.text.wording import plural
from plimsoll.ports.controller import Clock
from plimsoll.ports.host import at_once
from plimsoll.ports.provider import Places, Provider

_log = logging.getLogger("plimsoll")


class SshProvider(Provider):
    """An implementation of the Provider port. Definitions list the groups; the hosts themselves record who has them.

    Hosts download bundles from the `depot`; without one, bundles are sent to them.
    """

    name = "ssh"
    is_local = False
    keeps_hosts = True
    replaces_hosts = True

    def __init__(self, connections: Connections, clock: Clock, depot: Depot | None = None) -> None:
        self._connections, self._clock, self._depot = connections, clock, depot
        self.places = Places()
        self._last_seen: dict[ClusterId, Place] = {}

    def at(self, places: Places) -> Self:
        bound = copy(self)
        bound.places = places
        return bound

    def check(self, spec: HostsSpec) -> Sequence[Problem]:
        return problems(spec, self._connections)

    def ensure(self, request: ClusterRequest) -> Cluster:
        """Take and clean a free group of the definition. ProviderError names each one's holder, or its fault."""
        groups = [group for group in self._groups(request.options) if group.fits(request.nodes, request.load_hosts)]
        holder, silent = self._looked_up(groups, request.id)
        if holder is not None and (whole := self._completed(*holder)) is not None:
            return self._prolonged(*self._without_unfit(*whole, request), request)
        # A group that does not answer can't keep the others from being used, unless it may have the cluster's own data
        # and processes: the cluster would have two groups, and be found on either.
        if silent and request.was_whole:
            raise as_provider_error(silent[0]) from silent[0]
        return self._first_free(groups, request)

    def _first_free(self, groups: Sequence[Group], request: ClusterRequest) -> Cluster:
        """Return the cluster on the first group that can be taken. Raises ProviderError with each one's obstacle."""
        obstacles = []
        for group, hosts in candidates(groups, request):
            try:
                return self._taken(group, hosts, request)
            except (HostError, SecretError) as error:
                obstacles.append(f"{group.name}: {error.text()}")
        raise ProviderError(
            f"no group of {plural(request.nodes, 'node')} and {plural(request.load_hosts, 'load host')} can be had:"
            + "".join(f"\n  - {obstacle}" for obstacle in obstacles),
            where=str(request.id),
            mend="wait until a group is free, run fewer cells at once (max_parallel), or mend the reasons given",
        )

    def find(self, cluster_id: ClusterId) -> Cluster | None:
        """Return the cluster if it is whole, by the lease on its first load host."""
        _, lease = self._holder(cluster_id) or (None, None)
        return lease.cluster if lease and lease.ready else None

    def clusters(self) -> Sequence[Cluster]:
        """Return the clusters by the lease of every group. HostsSilent has the reasons why some could not be asked."""
        groups, unreadable = self._groups_of_places()
        answers = at_once(groups, _held_or_why_not)
        leases = [answer.lease for answer in answers if isinstance(answer, Held)]
        leases.sort(key=lambda lease: str(lease.cluster.id))
        clusters = [lease.cluster.model_copy(update={"expires_at": lease.until}) for lease in leases]
        silent = [*unreadable, *(answer for answer in answers if isinstance(answer, str))]
        if self.places.unknown:
            raise PartlySeen("; ".join((self.places.unknown, *silent)), clusters)
        if silent:
            raise HostsSilent("; ".join(silent), clusters, mend="let these hosts answer, then try again")
        return clusters

    def destroy(self, cluster_id: ClusterId) -> None:
        holder = self._holder(cluster_id)
        while holder is not None:
            group, lease = holder
            with explained():
                group.clean(lease.cluster, lease.key)
                group.release_others(lease)
                group.release(lease)
            # It has taken another one, too, if this one was silent when it was asked for again
            holder, _ = self._looked_up(self._known_groups(), cluster_id)

    def host(self, cluster: Cluster, info: HostInfo, environment: str = "") -> SshHost:
        for group in self._known_groups():
            if group.name == info.facts.get("group") and (member := group.member_of(info)) is not None:
                staged = self._depot.of_campaign(cluster.id.campaign_id) if self._depot else None
                return member.host(cluster, info, environment, staged)
        mend = "bring the campaign's definition back to the store"
        raise ProviderError(f"no definition names host {info.name}", where=str(cluster.id), mend=mend)

    def clear(self, cluster: Cluster, keep: frozenset[str] = frozenset()) -> None:
        holder = self._holder(cluster.id)
        if holder is None:
            raise ProviderError("the cluster is gone", where=str(cluster.id), mend="run the cell again")
        group, lease = holder
        with explained():
            group.clear(lease.cluster, keep)

    def _taken(self, group: Group, hosts: Sequence[HostInfo], request: ClusterRequest) -> Cluster:
        """Take these hosts. Raises HostError, and takes none, where one is another cluster's or useless."""
        if not hosts:
            raise HostError(why_left_out(group, request))
        cluster = Cluster(
            id=request.id,
            owner=request.owner,
            provider=self.name,
            hosts=group.placed(hosts),
            created_at=self._clock.now(),
            expires_at=request.expires_at,
        )
        lease = Lease(key=str(request.id), cluster=cluster).prolonged(request)
        try:
            held = group.take(lease)
            if held.lease.key != lease.key:
                raise HostError(f"is in use by {held}")
            return self._make(group, held.lease)
        except BaseException:
            group.give_up(lease)
            raise

    def _completed(self, group: Group, lease: Lease) -> tuple[Group, Lease] | None:
        """Complete a cluster that was taken but never made whole. None: another has taken a host of it since."""
        if not lease.ready:
            with explained():
                if group.take(lease).lease.key != lease.key:
                    return None
                self._make(group, lease)
        return group, lease.model_copy(update={"ready": True})

    def _without_unfit(self, group: Group, lease: Lease, request: ClusterRequest) -> tuple[Group, Lease]:
        """Return further hosts of the group in the place of unfit ones. HostsLost where there are not enough."""
        unfit = [info for info in lease.cluster.hosts if info.identity in request.unfit]
        if not request.id.is_kept or not unfit:
            return group, lease
        with explained():
            changed = group.with_others(lease, unfit, request.unfit | request.avoided)
        if changed is None:
            names = ", ".join(f"{info.name} ({info.address})" for info in unfit)
            what = f"unfit, and group {group.name} has no other host that is free in its place: {names}"
            raise HostsLost(what, where=str(request.id), mend="name further hosts in the group")
        return group, changed

    def _prolonged(self, group: Group, lease: Lease, request: ClusterRequest) -> Cluster:
        if not request.id.is_kept:
            return lease.cluster
        prolonged = lease.prolonged(request)
        if prolonged != lease:
            with explained():
                group.renew(prolonged)
        return prolonged.cluster

    def _make(self, group: Group, lease: Lease) -> Cluster:
        """Remove everything that was left on the hosts. From then on the cluster is whole."""
        group.clean(lease.cluster, None)
        if not group.ready(lease):
            raise HostError("another has taken it meanwhile", where=f"group {group.name}", mend="run the cell again")
        return lease.cluster

    def _holder(self, cluster_id: ClusterId) -> tuple[Group, Lease] | None:
        """Return the cluster's group. Raises ProviderError where a group that may be the cluster's does not answer."""
        holder, unknown = self._looked_up(self._known_groups(), cluster_id)
        if holder is None and unknown:
            raise as_provider_error(unknown[0]) from unknown[0]
        return holder

    def _looked_up(
        self, groups: Sequence[Group], cluster_id: ClusterId
    ) -> tuple[tuple[Group, Lease] | None, Sequence[HostError | SecretError]]:
        """Return the cluster's group, and why others could not be asked. Its last known group is tried first."""
        unknown: list[HostError | SecretError] = []
        for group in sorted(groups, key=lambda group: group.load.place != self._last_seen.get(cluster_id)):
            try:
                held = group.load.held()
            except (HostError, SecretError) as error:
                unknown.append(error)
                continue
            if held is not None and held.lease.key == str(cluster_id):
                self._last_seen[cluster_id] = group.load.place
                return (group, held.lease), ()
        return None, unknown

    def _groups(self, options: object) -> list[Group]:
        try:
            parsed = SshOptions.model_validate(options)
        except ValidationError as error:
            mend = "run `plimsoll plan`: it names every fault"
            raise ProviderError("the provider's options are wrong", where="provider.options", mend=mend) from error
        return [Group(group, parsed, self._connections) for group in parsed.groups]

    def _known_groups(self) -> list[Group]:
        """Return the groups of every place. The log has the reasons why there may be others."""
        groups, unreadable = self._groups_of_places()
        for why in filter(None, [self.places.unknown, *unreadable]):
            _log.warning("%s", why)
        return groups

    def _groups_of_places(self) -> tuple[list[Group], list[str]]:
        """Return the groups of all places, and why options can't be read. ProviderError if they are the only ones."""
        groups: dict[Place, Group] = {}
        unreadable: list[str] = []
        for options in self.places.options:
            try:
                # By its place, as several campaigns may name a group
                groups.update({group.load.place: group for group in self._groups(options)})
            except ProviderError as error:  # of a campaign that another version of Plimsoll has started
                if len(self.places.options) == 1:
                    raise
                unreadable.append(f"hosts of a campaign can't be asked for clusters: {error}")
        return list(groups.values()), unreadable


def _held_or_why_not(group: Group) -> Held | str | None:
    try:
        return group.load.held()
    except (HostError, SecretError) as error:
        return f"group {group.name} can't be asked for its cluster: {error}"


__all__ = ["Connections", "Depot", "KeyRefused", "SshHost", "SshProvider", "Target", "WrongHostKey"]
