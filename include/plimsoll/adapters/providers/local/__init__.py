"""Clusters of this machine: a folder, a loopback subnet and tagged processes each."""

import platform
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from plimsoll.adapters.hosts.host_files import require_guarded
from plimsoll.adapters.hosts.onhost import cleaning
from plimsoll.adapters.hosts.processes import ProcessTags, process_tags_of
from plimsoll.adapters.providers.local import folders, subnets
from plimsoll.adapters.providers.local.checks import LocalOptions, problems
from plimsoll.adapters.providers.local.folders import PROVIDER, exclusive, mend, remnant, tagged_processes
from plimsoll.adapters.providers.local.host import NICENESS, LocalHost
from plimsoll.adapters.providers.local.processors import NODE_NICENESS, Groups
from plimsoll.adapters.providers.requested import options_of_request
from plimsoll.domain.campaign.specs import HostsSpec
from plimsoll.domain.hosts.cluster import PROCESSORS, Cluster, ClusterId, ClusterRequest, HostInfo, load_host_name
from plimsoll.domain.text.errors import Problem, ProviderError
from plimsoll.ports.controller import Clock
from plimsoll.ports.provider import Places, Provider


class LocalProvider(Provider):
    """An implementation of the Provider port. Clusters of other work folders are neither seen nor touched.

    `work` holds the clusters' folders. `claims` is where this user's clusters agree on subnets, across work folders.
    """

    name = PROVIDER
    is_local = True
    keeps_hosts = True
    replaces_hosts = True

    def __init__(self, work: Path, clock: Clock, *, claims: Path | None = None) -> None:
        self.work = work.resolve()
        self._clock = clock
        self._claims = claims or subnets.default_claims()
        self._groups = Groups(self._claims)

    def at(self, places: Places) -> Self:
        return self

    def check(self, spec: HostsSpec) -> Sequence[Problem]:
        return problems(spec, self.work)

    def ensure(self, request: ClusterRequest) -> Cluster:
        """Return the cluster's folder, addresses and description; nothing runs yet. Idempotent by the cluster's id."""
        if request.nodes > subnets.MOST_NODES:
            mending = f"ask for at most {subnets.MOST_NODES}"
            raise ProviderError(f"{request.nodes} nodes do not fit one subnet", where=str(request.id), mend=mending)
        with self._explained(), exclusive(self._claims):
            return self._found(request) or self._make(request)

    def find(self, cluster_id: ClusterId) -> Cluster | None:
        with self._explained():
            found = folders.read(self.work, cluster_id)
            return None if found is None or folders.lost(self.work, found) else found

    def clusters(self) -> Sequence[Cluster]:
        """List clusters from running processes and from folders. The remains of a cluster count as one."""
        running: dict[ClusterId, list[ProcessTags]] = {}
        for _, tags in tagged_processes(self.work):
            running.setdefault(tags.cluster_id, []).append(tags)
        with self._explained():
            every = {str(one): one for one in (*running, *folders.ids(self.work))}
            return [self._known(every[name], running) for name in sorted(every)]

    def destroy(self, cluster_id: ClusterId) -> None:
        with self._explained():
            left = self._destroyed(cluster_id, time.monotonic() + cleaning.PATIENCE_S)
        if left:
            raise ProviderError(
                f"the cluster is not gone: {'; '.join(left)}",
                where=f"{cluster_id} in {self.work}",
                mend="end these processes and remove what is left by hand, then destroy it again",
            )

    def host(self, cluster: Cluster, info: HostInfo, environment: str = "") -> LocalHost:
        root = folders.folder_of(self.work, cluster.id) / info.name / environment
        members = self._groups.members(info.address) if PROCESSORS in info.facts else None
        return LocalHost(info, root, process_tags_of(cluster, info, self.work, environment), members)

    def clear(self, cluster: Cluster, keep: frozenset[str] = frozenset()) -> None:
        folder, names = folders.folder_of(self.work, cluster.id), [info.name for info in cluster.hosts]
        with self._explained():
            left = cleaning.clear(self.work, str(cluster.id), [folder / name for name in names], keep)
        if left:
            raise ProviderError(
                f"the hosts are not clear: {'; '.join(left)}",
                where=f"{cluster.id} in {self.work}",
                mend="end these processes and remove what is left by hand, or destroy the cluster",
            )

    def _found(self, request: ClusterRequest) -> Cluster | None:
        """Return the existing cluster with its new owner, and with the later one of both expiries.

        Lost or unfit hosts of a kept cluster are replaced by others with addresses of their own.
        """
        found = folders.read(self.work, request.id)
        if found is None:
            return None
        cluster = found
        if request.id.is_kept:
            lost = {*folders.lost(self.work, found)} if request.was_whole else set()
            lost |= {info.name for info in found.hosts if info.identity in request.unfit}
            expires_at = max(found.expires_at, request.expires_at)
            hosts = subnets.with_others(found.hosts, lost, request.unfit, request.ports)
            cluster = found.model_copy(update={"owner": request.owner, "expires_at": expires_at, "hosts": hosts})
            if cluster != found:
                folders.write(self.work, cluster)
        folders.make_hosts(self.work, cluster)
        # Somebody may have removed them, and nothing starts in a group that is missing
        self._groups.make(cluster)
        return cluster

    def _make(self, request: ClusterRequest) -> Cluster:
        """Make the cluster. If that fails, remove what was made."""
        folder = folders.folder_of(self.work, request.id)
        self.work.mkdir(mode=0o700, parents=True, exist_ok=True)
        require_guarded(self.work)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            subnet = subnets.claim(self._claims, folder, request.nodes, request.load_hosts, request.ports)
            # Groups outlive a work folder that somebody moved or removed. Without a claim they are nobody's.
            self._groups.remove_others(subnets.claimed(self._claims))
            options = options_of_request(LocalOptions, request.options, str(request.id))
            cluster = self._groups.granted(self._described(request, subnet), options.processors_per_node)
            folders.make_hosts(self.work, cluster)
            folders.write(self.work, cluster)
        except BaseException:
            cleaning.remove(folder)
            folders.prune(self.work, request.id)
            self._groups.remove(self._subnets(folder))
            subnets.release(self._claims, folder)
            raise
        return cluster

    def _described(self, request: ClusterRequest, subnet: str) -> Cluster:
        machine = {"machine": platform.node()}
        modest = {**machine, NICENESS: str(NODE_NICENESS)}
        nodes = tuple(
            HostInfo(name=f"node{number}", role="node", address=address, facts=modest)
            for number, address in enumerate(subnets.node_addresses(subnet, request.nodes), start=1)
        )
        loads = tuple(
            HostInfo(name=load_host_name(number), role="load", address=address, facts=machine)
            for number, address in enumerate(subnets.load_addresses(subnet, request.load_hosts), start=1)
        )
        return Cluster(
            id=request.id,
            owner=request.owner,
            provider=PROVIDER,
            hosts=(*nodes, *loads),
            created_at=self._clock.now(),
            expires_at=request.expires_at,
        )

    def _subnets(self, folder: Path) -> set[str]:
        return {path.name for path in subnets.claims_of(self._claims, folder)}

    def _known(self, cluster_id: ClusterId, running: dict[ClusterId, list[ProcessTags]]) -> Cluster:
        folder = folders.folder_of(self.work, cluster_id)
        return folders.read(self.work, cluster_id) or remnant(
            cluster_id, running.get(cluster_id, []), folder, self._clock.now()
        )

    def _destroyed(self, cluster_id: ClusterId, deadline: float) -> list[str]:
        """Destroy the cluster, and name what is left."""
        folder = folders.folder_of(self.work, cluster_id)
        own = self._subnets(folder)

        def end_and_list() -> list[str]:
            cleaning.kill_all(self.work, str(cluster_id), deadline)
            groups = self._groups.remove(own)
            obstacle = cleaning.remove(folder)
            with exclusive(self._claims):
                if not groups:  # they are found by what the cluster has claimed
                    subnets.release(self._claims, folder)
                folders.prune(self.work, cluster_id)
            claims = [f"{path} still claims a subnet" for path in subnets.claims_of(self._claims, folder)]
            return [*cleaning.running(self.work, str(cluster_id)), *groups, *filter(None, [obstacle]), *claims]

        return cleaning.until_nothing_is_left(end_and_list, deadline)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            what, how = f"the work folder can't be used: {error}", mend(error, self.work)
            raise ProviderError(what, where=str(self.work), mend=how) from error


__all__ = ["LocalHost", "LocalProvider"]
