"""Clusters that are there at once."""

import shutil
import uuid
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from tests.fakes.hosts import FolderHost
from tests.fakes.instant.faults import INSTANT, Faults

from plimsoll.adapters.clock import SystemClock
from plimsoll.domain.campaign.specs import HostsSpec
from plimsoll.domain.hosts.cluster import Cluster, ClusterId, ClusterRequest, HostInfo, load_host_name
from plimsoll.domain.text.errors import Problem, ProviderError
from plimsoll.ports.host import Host
from plimsoll.ports.provider import Places, Provider


class InstantProvider(Provider):
    """Clusters that are folders; a journal tells how many ever lived at once."""

    name = INSTANT
    is_local = True
    keeps_hosts = True
    replaces_hosts = False

    def __init__(self, work: Path, faults: Faults) -> None:
        self._alive, self._gone = work / "alive", work / "gone"
        self._journal = work / "journal.txt"
        self._faults = faults

    def at(self, places: Places) -> Self:
        """Return this provider, which has all its clusters here."""
        return self

    def check(self, spec: HostsSpec) -> Sequence[Problem]:
        """Return no problem."""
        return ()

    def ensure(self, request: ClusterRequest) -> Cluster:
        """Make the folder, unless it is there."""
        if self._faults.hits(request.id.purpose, "provision"):
            raise ProviderError("was told to fail", where=str(request.id))
        found = self.find(request.id)
        if found is not None:
            return self._prolonged(found, request) if request.id.is_kept else found
        hosts = [HostInfo(name=f"node{n}", role="node", address=f"127.9.9.{n}") for n in range(1, request.nodes + 1)]
        loads = [
            HostInfo(name=load_host_name(n), role="load", address=f"127.9.9.{99 + n}")
            for n in range(1, request.load_hosts + 1)
        ]
        cluster = Cluster(
            id=request.id,
            owner=request.owner,
            provider=self.name,
            hosts=(*hosts, *loads),
            created_at=SystemClock().now(),
            expires_at=request.expires_at,
        )
        self._folder(request.id).mkdir(parents=True, exist_ok=True)
        self._describe(cluster)
        self._note("+", request.id)
        return cluster

    def find(self, cluster_id: ClusterId) -> Cluster | None:
        """Return the cluster whose folder is there."""
        return _cluster(self._folder(cluster_id) / "cluster.json")

    def why_gone(self, cluster_id: ClusterId) -> str:
        """Return the empty text: folders give no reason."""
        return ""

    def clusters(self) -> Sequence[Cluster]:
        """Return all folders, but for those that somebody removes meanwhile."""
        found = [_cluster(file) for file in sorted(self._alive.glob("*/cluster.json"))]
        return [cluster for cluster in found if cluster is not None]

    def destroy(self, cluster_id: ClusterId) -> None:
        """Remove the folder."""
        if self._faults.hits(cluster_id.purpose, "destroy"):
            raise ProviderError("was told to resist", where=str(cluster_id))
        if self.find(cluster_id) is not None:
            self._note("-", cluster_id)
        self._remove(self._folder(cluster_id))

    def host(self, cluster: Cluster, info: HostInfo, environment: str = "") -> Host:
        """Return a folder in the cluster's folder, and in it one for each environment."""
        return FolderHost(self._folder(cluster.id) / info.name / environment, info)

    def clear(self, cluster: Cluster, keep: frozenset[str] = frozenset()) -> None:
        """Remove the folders of other environments."""
        for host in cluster.hosts:
            for folder in (self._folder(cluster.id) / host.name).glob("*"):
                if folder.name not in keep:
                    self._remove(folder)

    def _remove(self, folder: Path) -> None:
        """Move it out of the way first: whoever still looks at a host in it makes the host's folder again."""
        moved = self._gone / uuid.uuid4().hex
        moved.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):
            folder.rename(moved)
            # Whoever was making a host's folder just then may make it in the moved one, once.
            shutil.rmtree(moved, ignore_errors=True)
            shutil.rmtree(moved)

    def _prolonged(self, found: Cluster, request: ClusterRequest) -> Cluster:
        expires_at = max(found.expires_at, request.expires_at)
        cluster = found.model_copy(update={"owner": request.owner, "expires_at": expires_at})
        self._describe(cluster)
        return cluster

    def _describe(self, cluster: Cluster) -> None:
        unfinished = self._folder(cluster.id) / f"cluster.{uuid.uuid4().hex}"
        unfinished.write_text(cluster.model_dump_json())
        unfinished.rename(self._folder(cluster.id) / "cluster.json")

    def most_alive(self, definition: str = "") -> int:
        """Return the greatest number of clusters that lived at once, of campaigns whose names begin so."""
        alive = most = 0
        for line in self._journal_of(definition):
            alive += 1 if line.startswith("+") else -1
            most = max(most, alive)
        return most

    def provided(self, definition: str = "") -> int:
        """Tell how many clusters were ever made for campaigns whose names begin so."""
        return sum(line.startswith("+") for line in self._journal_of(definition))

    def journal(self) -> list[str]:
        """Return a line for each cluster that was made (`+`) or destroyed (`-`), in that order."""
        return self._journal.read_text().splitlines() if self._journal.exists() else []

    def _journal_of(self, definition: str) -> list[str]:
        return [line for line in self.journal() if line[len("+ ") :].startswith(definition)]

    def _folder(self, cluster_id: ClusterId) -> Path:
        return self._alive / f"{cluster_id.campaign_id}~{cluster_id.purpose}~{cluster_id.number}"

    def _note(self, sign: str, cluster_id: ClusterId) -> None:
        with self._journal.open("a") as journal:  # one write of a short line: appends of several processes don't mix
            journal.write(f"{sign} {cluster_id}\n")


def _cluster(file: Path) -> Cluster | None:
    try:
        return Cluster.model_validate_json(file.read_text())
    except FileNotFoundError:
        return None
