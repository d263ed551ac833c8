"""Clusters of this machine: a folder, a loopback subnet and marked processes each."""

import platform
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from plimsoll.adapters.local import folders
from plimsoll.adapters.local.checks import problems
from plimsoll.adapters.local.files import mend
from plimsoll.adapters.local.host import NICENESS, LocalHost
from plimsoll.adapters.local.mutex import exclusive
from plimsoll.adapters.local.remnants import PROVIDER, remnant
from plimsoll.adapters.local.subnets import (
    MOST_NODES,
    claim,
    claims_of,
    default_claims,
    load_address,
    node_addresses,
    release,
)
from plimsoll.adapters.local.sweep import marked
from plimsoll.adapters.marks import Marks, marks_of
from plimsoll.adapters.onhost import cleaning
from plimsoll.domain.cell import AttemptKey
from plimsoll.domain.cluster import Cluster, ClusterRequest, HostInfo
from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import Problem, ProviderError
from plimsoll.ports.clock import Clock

_PATIENCE_S = 20.0
# The load generator measures: it must not wait for the nodes' CPU, as it would not on a host of its own.
_NODE_NICENESS = 10


class LocalProvider:
    """Implements the Provider port. Clusters of other work folders are neither seen nor touched.

    `work` holds the clusters' folders. `claims` is where this user's clusters agree on subnets, across work folders.
    """

    name = PROVIDER
    is_local = True

    def __init__(self, work: Path, clock: Clock, *, claims: Path | None = None) -> None:
        self._work = work.resolve()
        self._clock = clock
        self._claims = claims or default_claims()

    def check(self, definition: Definition) -> Sequence[Problem]:
        """Options, memory, disk, work folder, loopback addresses and ports."""
        return problems(definition, self._work)

    def ensure(self, request: ClusterRequest) -> Cluster:
        """The cluster's folder, addresses and description; nothing runs yet. Idempotent by the attempt."""
        if request.nodes > MOST_NODES:
            mending = f"ask for at most {MOST_NODES}"
            raise ProviderError(f"{request.nodes} nodes do not fit one subnet", where=str(request.key), mend=mending)
        with self._explained(), exclusive(self._claims):
            return self.find(request.key) or self._make(request)

    def find(self, key: AttemptKey) -> Cluster | None:
        """The cluster of that attempt, if it is whole."""
        with self._explained():
            return folders.read(self._work, key)

    def clusters(self) -> Sequence[Cluster]:
        """From what runs and from what lies there; half of one is a cluster too."""
        running = self._running()
        with self._explained():
            every = {str(key): key for key in (*running, *folders.keys(self._work))}
            return [self._known(every[name], running) for name in sorted(every)]

    def destroy(self, key: AttemptKey) -> None:
        """Kill what runs, remove what lies there, give back the subnet, and look whether it is so."""
        with self._explained():
            left = self._destroyed(key, time.monotonic() + _PATIENCE_S)
        if left:
            raise ProviderError(
                f"the cluster is not gone: {'; '.join(left)}",
                where=f"{key} in {self._work}",
                mend="end these processes and remove what is left by hand, then destroy it again",
            )

    def host(self, cluster: Cluster, info: HostInfo) -> LocalHost:
        """A host: its own folder below the cluster's."""
        root = folders.folder_of(self._work, cluster.key) / info.name
        return LocalHost(info, root, marks_of(cluster, info, self._work))

    def _make(self, request: ClusterRequest) -> Cluster:
        """Whole or not at all."""
        folder = folders.folder_of(self._work, request.key)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            cluster = self._described(request, claim(self._claims, folder, request.nodes))
            folders.write(self._work, cluster)
        except BaseException:
            folders.remove(self._work, request.key)
            folders.prune(self._work, request.key)
            release(self._claims, folder)
            raise
        return cluster

    def _described(self, request: ClusterRequest, subnet: str) -> Cluster:
        machine = {"machine": platform.node()}
        modest = {**machine, NICENESS: str(_NODE_NICENESS)}
        nodes = tuple(
            HostInfo(name=f"node{number}", role="node", address=address, facts=modest)
            for number, address in enumerate(node_addresses(subnet, request.nodes), start=1)
        )
        return Cluster(
            key=request.key,
            owner=request.owner,
            provider=PROVIDER,
            hosts=(*nodes, HostInfo(name="load", role="load", address=load_address(subnet), facts=machine)),
            created_at=self._clock.now(),
            expires_at=request.expires_at,
        )

    def _running(self) -> dict[AttemptKey, list[Marks]]:
        found: dict[AttemptKey, list[Marks]] = {}
        for one in marked(self._work):
            found.setdefault(one.marks.key, []).append(one.marks)
        return found

    def _known(self, key: AttemptKey, running: dict[AttemptKey, list[Marks]]) -> Cluster:
        folder = folders.folder_of(self._work, key)
        return folders.read(self._work, key) or remnant(key, running.get(key, []), folder, self._clock.now())

    def _destroyed(self, key: AttemptKey, deadline: float) -> list[str]:
        """What is left. Goes round until nothing is: someone may have started a job between the kill and the look."""
        while True:
            cleaning.kill_all(self._work, str(key), deadline)
            obstacle = folders.remove(self._work, key)
            self._release(key)
            left = [*cleaning.running(self._work, str(key)), *self._left_on_disk(key, obstacle)]
            if not left or time.monotonic() > deadline:
                return left

    def _release(self, key: AttemptKey) -> None:
        with exclusive(self._claims):
            release(self._claims, folders.folder_of(self._work, key))
            folders.prune(self._work, key)

    def _left_on_disk(self, key: AttemptKey, obstacle: str) -> Iterator[str]:
        folder = folders.folder_of(self._work, key)
        if folder.exists():
            yield obstacle or f"{folder} is there again"
        yield from (f"{path} still claims a subnet" for path in claims_of(self._claims, folder))

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            what, how = f"the work folder can't be used: {error}", mend(error, self._work)
            raise ProviderError(what, where=str(self._work), mend=how) from error
