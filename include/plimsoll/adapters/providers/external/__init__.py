"""Clusters that somebody else runs: nothing of them is provided but the hosts that the load comes from, and the
keyspace that a load has there.
"""

from collections.abc import Mapping, Sequence, Set
from copy import copy
from itertools import zip_longest
from pathlib import PurePosixPath
from typing import Self

from plimsoll.adapters.external import Databases, ExternalOptions
from plimsoll.adapters.external.database import read_options
from plimsoll.adapters.external.keyspaces import (
    Mark,
    NewKeyspace,
    drop_marked,
    has_snapshot_option,
    mark_of,
    require_own_keyspace,
)
from plimsoll.adapters.providers.external.checks import LoadHostTariffs, database_problems, load_hosts_alone
from plimsoll.domain.campaign.specs import HostsSpec
from plimsoll.domain.hosts.cluster import Cluster, ClusterId, ClusterRequest, HostInfo, HostsSilent, PartlySeen
from plimsoll.domain.keys.system import EXTERNAL
from plimsoll.domain.text.errors import Problem, ProviderError, reason_of
from plimsoll.ports.clock import Clock
from plimsoll.ports.host import Host
from plimsoll.ports.provider import ExternalDatabase, Occupant, Places, Provider

_FROM = "load_hosts"
"""The fact of a load host that names the provider that it is from."""
_BEGAN = PurePosixPath("keyspace.json")
"""The file on the first load host that says which keyspace its cluster is about to make."""
_MOST_BYTES = 4096

_Named = tuple[ExternalOptions, Set[str]]
"""The options of one database, and the campaigns that name them."""


class ExternalProvider(Provider):
    """An implementation of the Provider port. Load hosts are those of another provider, `hosts_from`.

    `store`: what distinguishes this installation's keyspaces from others'.
    """

    name = EXTERNAL
    is_local = True
    """Whether all load hosts are this machine. Whoever ends what runs on it ends their loads, too."""
    keeps_hosts = False
    replaces_hosts = False

    def __init__(self, databases: Databases, hosts_from: Mapping[str, Provider], clock: Clock, store: str) -> None:
        self._databases, self._hosts_from, self._clock, self._store = databases, hosts_from, clock, store
        self._places = Places()
        self._named: Sequence[_Named] = ()

    def at(self, places: Places) -> Self:
        found = copy(self)
        found._places, found._named = places, _named(places)
        found.is_local = all(options.load_hosts.provider == "local" for options in found._known())
        return found

    def database(self) -> ExternalDatabase:
        [options] = self._known()
        return self._databases.of(options).for_clients()

    def keyspace(self) -> str:
        [options] = self._known()
        return "" if options.is_read_only else options.keyspace_name

    def keeps_copies(self) -> bool:
        """Tell whether tables lack the option that the load generator sets against copies."""
        [options] = self._known()
        with self._databases.of(options).any_session() as session:
            return not has_snapshot_option(session)

    def account(self) -> str:
        return next((account for lender in self._load_hosts() if (account := lender.account())), "")

    def occupant(self) -> Occupant | None:
        [options] = self._known()
        if options.is_read_only:
            return None
        with self._databases.of(options).any_session() as session:
            mark = mark_of(session, options.keyspace_name)
        if mark is None:
            return None
        ours = mark.store == self._store
        return Occupant(options.keyspace_name, ClusterId.parse(mark.cluster), mark.store, ours, mark.owner)

    def check(self, spec: HostsSpec) -> Sequence[Problem]:
        options = read_options(spec.options)
        if not isinstance(options, ExternalOptions):
            return options
        return [*database_problems(spec.nodes, options, self._databases), *self._host_problems(spec, options)]

    def ensure(self, request: ClusterRequest) -> Cluster:
        """Return load hosts, and make the keyspace with its mark. Idempotent by the cluster's id."""
        options = ExternalOptions.model_validate(request.options)
        chosen = options.load_hosts
        hosts = self._hosts_from[chosen.provider].at(Places((chosen.options,)))
        cluster = hosts.ensure(request.model_copy(update={"nodes": 0, "options": chosen.options}))
        if not options.is_read_only:
            self._make_keyspace(options, request, hosts.host(cluster, cluster.load_host))
        return _ours(cluster, chosen.provider)

    def find(self, cluster_id: ClusterId) -> Cluster | None:
        found = ((hosts.find(cluster_id), hosts.name) for hosts in self._load_hosts())
        return next((_ours(cluster, name) for cluster, name in found if cluster), None)

    def why_gone(self, cluster_id: ClusterId) -> str:
        return "; ".join(why for hosts in self._load_hosts() if (why := hosts.why_gone(cluster_id)))

    def clusters(self) -> Sequence[Cluster]:
        """Return clusters by their load hosts, and by the marks of keyspaces in every known database.

        HostsSilent where a database does not answer; PartlySeen where there may be clusters in places not known.
        """
        seen, troubles, silent = self._clusters_with_hosts()
        troubles += [self._places.unknown] if self._places.unknown else []
        for options, campaigns in self._named:
            try:
                marked = self._marked(options, campaigns)
            except Exception as error:  # which says nothing about the other databases
                silent.append(f"{', '.join(options.contact_points)}: {reason_of(error)}")
            else:
                if marked is not None:
                    seen.setdefault(marked.id, marked)
        if troubles:
            raise PartlySeen("; ".join([*troubles, *silent]), list(seen.values()))
        if silent:
            mend = "let the database answer, then try again; what Plimsoll has made there is dropped then"
            raise HostsSilent("; ".join(silent), list(seen.values()), mend=mend)
        return list(seen.values())

    def destroy(self, cluster_id: ClusterId) -> None:
        """End the load, give back its hosts, and drop the keyspace, each even if another fails."""
        errors: list[Exception] = []
        began = self._keyspace_begun(cluster_id)
        for hosts in self._load_hosts():
            try:
                hosts.destroy(cluster_id)
            except Exception as error:  # the first is raised below, once all were tried
                errors.append(error)
        for options in self._known():
            try:
                self._drop_keyspace(options, cluster_id, began=began)
            except Exception as error:
                errors.append(error)
        for first in errors:
            raise first if isinstance(first, ProviderError) else ProviderError(reason_of(first), where=str(cluster_id))

    def host(self, cluster: Cluster, info: HostInfo, environment: str = "") -> Host:
        hosts = next(one for one in self._load_hosts() if one.name == info.facts[_FROM])
        return hosts.host(cluster, info, environment)

    def clear(self, cluster: Cluster, keep: frozenset[str] = frozenset()) -> None:
        """Raise ProviderError: hosts are not kept."""
        raise ProviderError("its load hosts are not kept", where=str(cluster.id), mend="destroy the cluster")

    def _host_problems(self, spec: HostsSpec, options: ExternalOptions) -> Sequence[Problem]:
        """Return the problems of the load hosts alone, at their place among this provider's options."""
        found = self._hosts_from[options.load_hosts.provider].check(load_hosts_alone(spec, options))
        there = "provider.options.load_hosts.options"
        return [Problem(one.where.replace("provider.options", there, 1), one.what, one.mend) for one in found]

    def _make_keyspace(self, options: ExternalOptions, request: ClusterRequest, host: Host) -> None:
        mark = Mark(
            cluster=str(request.id),
            store=self._store,
            owner=request.owner,
            made_at=self._clock.now(),
            expires_at=request.expires_at,
        )
        with self._databases.of(options).any_session() as session:
            if self._places.workload is None:
                raise ProviderError(
                    "no workload says how many replicas there are", where=EXTERNAL, mend="run the cell again"
                )
            require_own_keyspace(
                session,
                mark,
                NewKeyspace(options.keyspace_name, options.data_centre, self._places.workload.replication_factor),
                began=_has_begun(host),
                begin=lambda: host.write(host.root / _BEGAN, mark.model_dump_json()),
            )

    def _drop_keyspace(self, options: ExternalOptions, cluster_id: ClusterId, *, began: bool) -> None:
        if options.is_read_only:
            return
        with self._databases.of(options).any_session() as session:
            drop_marked(session, options.keyspace_name, self._store, str(cluster_id), began=began)

    def _keyspace_begun(self, cluster_id: ClusterId) -> bool:
        """Tell whether the cluster has begun to make its keyspace; false where its load host does not say."""
        try:
            cluster = self.find(cluster_id)
            return cluster is not None and _has_begun(self.host(cluster, cluster.load_host))
        except Exception:  # a password that can't be had keeps neither hosts nor keyspace from being tried
            return False

    def _clusters_with_hosts(self) -> tuple[dict[ClusterId, Cluster], list[str], list[str]]:
        """Return the clusters that have load hosts, why some may be missing, and which hosts could not be asked."""
        seen: dict[ClusterId, Cluster] = {}
        troubles, silent = list[str](), list[str]()
        for hosts in self._load_hosts():
            try:
                found = hosts.clusters()
            except PartlySeen as error:
                found = error.clusters
                (silent if isinstance(error, HostsSilent) else troubles).append(error.text())
            except Exception as error:  # one place's error never keeps another from being asked
                troubles.append(reason_of(error))
                continue
            seen |= {cluster.id: _ours(cluster, hosts.name) for cluster in found}
        return seen, troubles, silent

    def _marked(self, options: ExternalOptions, campaigns: Set[str]) -> Cluster | None:
        """Return the cluster of this installation whose keyspace is there. Raises ProviderError and SecretError."""
        if options.is_read_only or (campaigns and campaigns <= self._places.done):
            return None
        with self._databases.of(options).any_session() as session:
            mark = mark_of(session, options.keyspace_name)
        if mark is None or mark.store != self._store:
            return None
        cluster_id = ClusterId.parse(mark.cluster)
        if campaigns - {""} and cluster_id.campaign_id not in campaigns:
            return None  # of a campaign that has nothing there: somebody else wrote it
        return Cluster(
            id=cluster_id,
            owner=mark.owner,
            provider=EXTERNAL,
            hosts=(),
            created_at=mark.made_at,
            expires_at=mark.expires_at,
        )

    def _known(self) -> Sequence[ExternalOptions]:
        return [options for options, _ in self._named]

    def _load_hosts(self) -> Sequence[Provider]:
        """Return the providers of load hosts, each bound to what definitions say of it; always this machine's."""
        chosen: dict[str, list[Mapping[str, object]]] = {"local": []}
        for options in self._known():
            chosen.setdefault(options.load_hosts.provider, []).append(options.load_hosts.options)
        return [self._hosts_from[name].at(Places(tuple(options))) for name, options in chosen.items()]


def _named(places: Places) -> Sequence[_Named]:
    """Return the options of the places, each once, that can be read; others have never made a cluster.

    With the campaigns that have a keyspace there by their definitions; none where nobody has named any.
    """
    found: dict[str, tuple[ExternalOptions, set[str]]] = {}
    for written, campaign in zip_longest(places.options, places.campaigns):
        options = read_options(written)
        if isinstance(options, ExternalOptions):
            _, campaigns = found.setdefault(str(options), (options, set()))
            campaigns |= set() if campaign is None else {campaign}
    return tuple(found.values())


def _ours(cluster: Cluster, hosts_from: str) -> Cluster:
    """Return the cluster as this provider's, with hosts that say where they are from."""
    hosts = (info.model_copy(update={"facts": {**info.facts, _FROM: hosts_from}}) for info in cluster.hosts)
    return cluster.model_copy(update={"provider": EXTERNAL, "hosts": tuple(hosts)})


def _has_begun(host: Host) -> bool:
    return bool(host.read_tail(host.root / _BEGAN, max_bytes=_MOST_BYTES))


__all__ = ["ExternalProvider", "LoadHostTariffs"]
