"""Clusters that somebody else runs: nothing of them is provided but the hosts that the load comes from, and what a
load has there: a keyspace, or what commands make in an endpoint. Their machines may be looked at.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from copy import copy
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from itertools import zip_longest
from typing import NamedTuple, Self

from plimsoll.adapters.external.database import Databases
from plimsoll.adapters.external.endpoint import Endpoints
from plimsoll.adapters.external.endpoint_options import EndpointOptions, TheirDatabase, read_options
from plimsoll.adapters.external.options import Observe
from plimsoll.adapters.hosts.base import FOLDER
from plimsoll.adapters.providers.external.checks import LoadHostTariffs, load_hosts_alone
from plimsoll.adapters.providers.external.made import CellOfEndpoint, OwnKeyspace, has_begun
from plimsoll.adapters.providers.external.observing import Observers, observed_hosts
from plimsoll.domain.campaign.specs import HostsSpec
from plimsoll.domain.hosts.cluster import (
    OBSERVED,
    Cluster,
    ClusterId,
    ClusterRequest,
    HostInfo,
    HostsSilent,
    PartlySeen,
)
from plimsoll.domain.keys.system import EXTERNAL
from plimsoll.domain.text.errors import Problem, ProviderError, reason_of
from plimsoll.ports.controller import Clock
from plimsoll.ports.host import Host
from plimsoll.ports.provider import ExternalDatabase, Occupant, Places, Provider, SetUps

_FROM = "load_hosts"
"""The fact of a load host that names the provider that it is from."""
_GRACE, _FOR_CLEANING = timedelta(seconds=5), timedelta(hours=1)
_NOBODY = "nobody"
"""The owner of a host that is there only to clean up."""


class _Named(NamedTuple):
    """One database, and the campaigns that name it; an empty name where that is not known."""

    theirs: OwnKeyspace | CellOfEndpoint
    campaigns: Set[str]

    def may_have(self, cluster_id: ClusterId) -> bool:
        return not self.campaigns - {""} or cluster_id.campaign_id in self.campaigns


@dataclass(frozen=True)
class Reach:
    """How databases of somebody else are reached, and which clusters have made something there. `store`: what
    distinguishes what this installation makes from what others do.
    """

    databases: Databases
    endpoints: Endpoints
    set_ups: SetUps
    clock: Clock
    store: str

    def of(self, options: TheirDatabase) -> OwnKeyspace | CellOfEndpoint:
        if isinstance(options, EndpointOptions):
            return CellOfEndpoint(options, self.endpoints, self.set_ups)
        return OwnKeyspace(options, self.databases, self.clock, self.store)


class ExternalProvider(Provider):
    """An implementation of the Provider port. Load hosts are those of another provider, `hosts_from`."""

    name = EXTERNAL
    is_local = True
    """Whether all load hosts are this machine. Whoever ends what runs on it ends their loads, too."""
    keeps_hosts = False
    replaces_hosts = False

    def __init__(self, reach: Reach, hosts_from: Mapping[str, Provider], observers: Observers) -> None:
        self._reach, self._hosts_from, self._observers = reach, hosts_from, observers
        self._places = Places()
        self._named: Sequence[_Named] = ()

    def at(self, places: Places) -> Self:
        bound = copy(self)
        bound._places, bound._named = places, _named(places, self._reach)
        bound.is_local = all(named.theirs.options.load_hosts.provider == "local" for named in bound._named)
        return bound

    def database(self) -> ExternalDatabase:
        return self._only().for_clients()

    def shared_addresses(self) -> frozenset[str]:
        return frozenset(f"{name}:{port}" for named in self._named for name, port in named.theirs.options.places)

    def keyspace(self) -> str:
        only = self._only()
        return only.keyspace() if isinstance(only, OwnKeyspace) else ""

    def keeps_copies(self) -> bool:
        only = self._only()
        return isinstance(only, OwnKeyspace) and only.keeps_copies()

    def account(self) -> str:
        return next((account for lender in self._load_hosts() if (account := lender.account())), "")

    def occupant(self) -> Occupant | None:
        only = self._only()
        if not isinstance(only, OwnKeyspace) or (mark := only.mark()) is None:
            return None
        ours = mark.store == self._reach.store
        return Occupant(only.keyspace(), ClusterId.parse(mark.cluster), mark.store, ours, mark.owner)

    def check(self, spec: HostsSpec) -> Sequence[Problem]:
        options = read_options(spec.options)
        if isinstance(options, list):
            return options
        observed = self._observers.problems(spec, options.observe) if options.observe else ()
        theirs = self._reach.of(options).problems(spec.nodes)
        of_hosts = self._hosts_from[options.load_hosts.provider].check(load_hosts_alone(spec, options))
        # At their place among this provider's options
        key = "provider.options.load_hosts.options"
        hosts = [replace(problem, where=problem.where.replace("provider.options", key, 1)) for problem in of_hosts]
        return [*theirs, *hosts, *observed]

    def ensure(self, request: ClusterRequest) -> Cluster:
        """Return load hosts, and make what the load has there. Idempotent by the cluster's id."""
        options = read_options(request.options)
        if isinstance(options, list):
            raise ProviderError("; ".join(map(str, options)), where=EXTERNAL, mend="correct the definition")
        chosen, theirs = options.load_hosts, self._reach.of(options)
        hosts = self._hosts_from[chosen.provider].at(Places((chosen.options,)))
        cluster = hosts.ensure(request.model_copy(update={"nodes": 0, "options": chosen.options}))
        loaders = [hosts.host(cluster, info) for info in cluster.load_hosts]
        if isinstance(theirs, CellOfEndpoint):
            theirs.make(request, loaders)
        else:
            theirs.make(request, loaders[0], self._places.workload)
        return _ours(cluster, options.observe)

    def find(self, cluster_id: ClusterId) -> Cluster | None:
        """Return the cluster with its load hosts. Whether its observed machines answer is not asked."""
        cluster = self._found(cluster_id)
        return _ours(cluster, next(iter(self._observed_of(cluster_id)), None)) if cluster else None

    def why_gone(self, cluster_id: ClusterId) -> str:
        return "; ".join(why for hosts in self._load_hosts() if (why := hosts.why_gone(cluster_id)))

    def clusters(self) -> Sequence[Cluster]:
        """Return clusters by load hosts and by marks of keyspaces. HostsSilent where a database does not answer."""
        seen, troubles, silent = self._clusters_with_hosts()
        troubles += [self._places.unknown] if self._places.unknown else []
        for theirs, campaigns in self._named:
            if not isinstance(theirs, OwnKeyspace):
                continue  # whoever asks it needs a load host
            try:
                marked = self._marked(theirs, campaigns)
            except Exception as error:  # which says nothing about the other databases
                silent.append(f"{theirs.where}: {reason_of(error)}")
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
        """End the load, give back its hosts, and remove what it has in the database, each even if another fails.

        A load host that is needed to clean up an endpoint stays until that is done, or until it expires.
        """
        errors = _tried(partial(self._clean_up, endpoint, cluster_id) for endpoint in self._endpoints_of(cluster_id))
        # Asked before the load host is given back: a file there alone tells that an unmarked keyspace is the cluster's
        began = self._says_begun(cluster_id)
        if not errors or self._has_expired(cluster_id):
            errors += self._without_load_hosts(cluster_id)
        keyspaces = (named.theirs for named in self._named if isinstance(named.theirs, OwnKeyspace))
        errors += _tried(partial(keyspace.remove, cluster_id, began=began) for keyspace in keyspaces)
        observed = self._observed_of(cluster_id)
        errors += _tried(partial(self._observers.clean, cluster_id, observe) for observe in observed)
        for first in errors:
            raise first if isinstance(first, ProviderError) else ProviderError(reason_of(first), where=str(cluster_id))

    def own(self, cluster_id: ClusterId) -> str:
        set_up = self._reach.set_ups.of(cluster_id) if self._endpoints_of(cluster_id) else None
        return set_up.own if set_up else ""

    def host(self, cluster: Cluster, info: HostInfo, environment: str = "") -> Host:
        if info.role == OBSERVED:
            return self._observers.host(cluster, info, self._observed_of(cluster.id))
        return self._lender(info.facts[_FROM]).host(cluster, info, environment)

    def clear(self, cluster: Cluster, keep: frozenset[str] = frozenset()) -> None:
        raise ProviderError("its load hosts are not kept", where=str(cluster.id), mend="destroy the cluster")

    def _observed_of(self, cluster_id: ClusterId) -> Sequence[Observe]:
        return [observe for theirs in self._theirs_of(cluster_id) if (observe := theirs.options.observe)]

    def _endpoints_of(self, cluster_id: ClusterId) -> Sequence[CellOfEndpoint]:
        return [theirs for theirs in self._theirs_of(cluster_id) if isinstance(theirs, CellOfEndpoint)]

    def _theirs_of(self, cluster_id: ClusterId) -> Sequence[OwnKeyspace | CellOfEndpoint]:
        """Return the databases in which the cluster may have something."""
        return [named.theirs for named in self._named if named.may_have(cluster_id)]

    def _clean_up(self, theirs: CellOfEndpoint, cluster_id: ClusterId) -> None:
        """Remove what the cluster made in the endpoint, from its load host; from this machine where that is gone."""
        cluster = self._found(cluster_id)
        if cluster is not None:
            hosts = [self._lender(cluster.provider).host(cluster, info) for info in cluster.load_hosts]
            for error in _tried(partial(_end_jobs, host) for host in hosts):  # whatever the store says of a set-up
                raise error
            theirs.clean_up(cluster_id, hosts[0])
        elif theirs.set_ups.of(cluster_id) is not None:
            # Where some are gone, the others may still load it, and nobody can clean up from them
            for error in self._without_load_hosts(cluster_id):
                raise error
            self._clean_up_from_here(theirs, cluster_id)

    def _clean_up_from_here(self, theirs: CellOfEndpoint, cluster_id: ClusterId) -> None:
        here, expires_at = self._hosts_from["local"].at(Places()), self._reach.clock.now() + _FOR_CLEANING
        cluster = here.ensure(ClusterRequest(id=cluster_id, owner=_NOBODY, nodes=0, expires_at=expires_at))
        try:
            theirs.clean_up(cluster_id, here.host(cluster, cluster.load_host))
        except ProviderError as error:
            what = f"its load host is gone, and this machine could not clean up in its place: {error.headline}"
            raise ProviderError(what, where=str(cluster_id), mend=error.mend) from error
        finally:
            here.destroy(cluster_id)

    def _without_load_hosts(self, cluster_id: ClusterId) -> list[Exception]:
        """Give back whatever load hosts the cluster has, and return why some stay."""
        return _tried(partial(hosts.destroy, cluster_id) for hosts in self._load_hosts())

    def _found(self, cluster_id: ClusterId) -> Cluster | None:
        """Return the cluster as the provider that lends its hosts has it."""
        return next((cluster for hosts in self._load_hosts() if (cluster := hosts.find(cluster_id))), None)

    def _has_expired(self, cluster_id: ClusterId) -> bool:
        """Tell whether the cluster's load hosts must end, whatever is left; false where they can't be asked for."""
        try:
            cluster = self._found(cluster_id)
        except Exception:  # which has kept it from being cleaned up, too, and is raised for that
            return False
        return cluster is not None and cluster.expires_at <= self._reach.clock.now()

    def _says_begun(self, cluster_id: ClusterId) -> bool:
        """Tell whether the cluster has begun to make its keyspace; false where its load host does not say."""
        try:
            cluster = self.find(cluster_id)
            return cluster is not None and has_begun(self.host(cluster, cluster.load_host))
        except Exception:  # a password that can't be had keeps neither hosts nor keyspace from being tried
            return False

    def _clusters_with_hosts(self) -> tuple[dict[ClusterId, Cluster], list[str], list[str]]:
        """Return the clusters that have load hosts, why some may be missing, and which hosts could not be asked.

        A lender shows others' clusters, too, which only their own provider can end.
        """
        seen: dict[ClusterId, Cluster] = {}
        troubles, silent = list[str](), list[str]()
        for hosts in self._load_hosts():
            try:
                clusters = hosts.clusters()
            except PartlySeen as error:
                clusters = error.clusters
                (silent if isinstance(error, HostsSilent) else troubles).append(error.text())
            except Exception as error:  # one place's error never keeps another from being asked
                troubles.append(reason_of(error))
                continue
            # Any cluster may be ours where no database is known
            ours = [cluster for cluster in clusters if not self._named or self._theirs_of(cluster.id)]
            seen |= {cluster.id: _ours(cluster) for cluster in ours}
        return seen, troubles, silent

    def _marked(self, theirs: OwnKeyspace, campaigns: Set[str]) -> Cluster | None:
        """Return the cluster of this installation whose keyspace is there. Raises ProviderError and SecretError."""
        # Where nothing can be left, nobody logs in
        if campaigns and campaigns <= self._places.done:
            return None
        mark = theirs.mark()
        if mark is None or mark.store != self._reach.store:
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

    def _only(self) -> OwnKeyspace | CellOfEndpoint:
        [only] = self._named
        return only.theirs

    def _load_hosts(self) -> Sequence[Provider]:
        """Return the providers of load hosts, each bound to what definitions say of it; always this machine's."""
        chosen: dict[str, list[Mapping[str, object]]] = {"local": []}
        for lender in (named.theirs.options.load_hosts for named in self._named):
            chosen.setdefault(lender.provider, []).append(lender.options)
        return [self._hosts_from[name].at(Places(tuple(options))) for name, options in chosen.items()]

    def _lender(self, name: str) -> Provider:
        return next(hosts for hosts in self._load_hosts() if hosts.name == name)


def _named(places: Places, reach: Reach) -> Sequence[_Named]:
    """Return the databases of the places, each once, whose options can be read; others have never made a cluster.

    With the campaigns that have something there by their definitions; none where nobody has named any.
    """
    databases: dict[str, tuple[TheirDatabase, set[str]]] = {}
    for written, campaign in zip_longest(places.options, places.campaigns):
        options = read_options(written)
        if not isinstance(options, list):
            # By their text: options hold dictionaries, and so have no hash
            _, campaigns = databases.setdefault(str(options), (options, set()))
            campaigns |= set() if campaign is None else {campaign}
    return tuple(_Named(reach.of(options), campaigns) for options, campaigns in databases.values())


def _ours(cluster: Cluster, observe: Observe | None = None) -> Cluster:
    """Return the cluster as this provider's, with hosts that say where they are from, and observed machines."""
    hosts = [info.model_copy(update={"facts": {**info.facts, _FROM: cluster.provider}}) for info in cluster.hosts]
    observed = observed_hosts(observe) if observe else ()
    return cluster.model_copy(update={"provider": EXTERNAL, "hosts": (*hosts, *observed)})


def _end_jobs(host: Host) -> None:
    for record in host.files(host.root / FOLDER):
        if record.suffix == ".job":
            host.stop(record.stem, grace=_GRACE)


def _tried(actions: Iterable[Callable[[], None]]) -> list[Exception]:
    errors = list[Exception]()
    for action in actions:
        try:
            action()
        except Exception as error:
            errors.append(error)
    return errors


__all__ = ["ExternalProvider", "LoadHostTariffs", "Observers", "Reach"]
