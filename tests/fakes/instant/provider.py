"""Clusters that are there at once."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from tests.fakes.hosts import FolderHost
from tests.fakes.instant.faults import INSTANT, Faults

from plimsoll.adapters.clock import SystemClock
from plimsoll.domain.cell import AttemptKey
from plimsoll.domain.cluster import Cluster, ClusterRequest, HostInfo
from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import Problem, ProviderError
from plimsoll.ports.host import Host


class InstantProvider:
    """Clusters that are folders; a journal tells how many ever lived at once."""

    name = INSTANT
    is_local = True

    def __init__(self, work: Path, faults: Faults) -> None:
        self._alive = work / "alive"
        self._journal = work / "journal.txt"
        self._faults = faults

    def check(self, definition: Definition) -> Sequence[Problem]:
        """Everything can be provided."""
        return ()

    def ensure(self, request: ClusterRequest) -> Cluster:
        """Make the folder, unless it is there."""
        if self._faults.hits(request.key.cell_id, "provision"):
            raise ProviderError("was told to fail", where=str(request.key))
        found = self.find(request.key)
        if found is not None:
            return found
        hosts = [HostInfo(name=f"node{n}", role="node", address=f"127.9.9.{n}") for n in range(1, request.nodes + 1)]
        cluster = Cluster(
            key=request.key,
            owner=request.owner,
            provider=self.name,
            hosts=(*hosts, HostInfo(name="load", role="load", address="127.9.9.100")),
            created_at=SystemClock().now(),
            expires_at=request.expires_at,
        )
        self._folder(request.key).mkdir(parents=True)
        unfinished = self._folder(request.key) / "cluster.part"
        unfinished.write_text(cluster.model_dump_json())
        unfinished.rename(self._folder(request.key) / "cluster.json")
        self._note("+", request.key)
        return cluster

    def find(self, key: AttemptKey) -> Cluster | None:
        """The cluster whose folder is there."""
        return _cluster(self._folder(key) / "cluster.json")

    def clusters(self) -> Sequence[Cluster]:
        """All folders, but for those that somebody removes meanwhile."""
        found = [_cluster(file) for file in sorted(self._alive.glob("*/cluster.json"))]
        return [cluster for cluster in found if cluster is not None]

    def destroy(self, key: AttemptKey) -> None:
        """Remove the folder."""
        if self._faults.hits(key.cell_id, "destroy"):
            raise ProviderError("was told to resist", where=str(key))
        if self._folder(key).exists():
            self._note("-", key)
            shutil.rmtree(self._folder(key))

    def host(self, cluster: Cluster, info: HostInfo) -> Host:
        """A folder in the cluster's folder."""
        return FolderHost(self._folder(cluster.key) / info.name, info)

    def most_alive(self, definition: str = "") -> int:
        """The greatest number of clusters that lived at once, of campaigns whose names begin so."""
        alive = most = 0
        for line in self._journal_of(definition):
            alive += 1 if line.startswith("+") else -1
            most = max(most, alive)
        return most

    def provided(self, definition: str = "") -> int:
        """How many clusters were ever made for campaigns whose names begin so."""
        return sum(line.startswith("+") for line in self._journal_of(definition))

    def journal(self) -> list[str]:
        """A line for each cluster that was made (`+`) or destroyed (`-`), in that order."""
        return self._journal.read_text().splitlines() if self._journal.exists() else []

    def _journal_of(self, definition: str) -> list[str]:
        return [line for line in self.journal() if line[len("+ ") :].startswith(definition)]

    def _folder(self, key: AttemptKey) -> Path:
        return self._alive / f"{key.campaign_id}~{key.cell_id}~{key.attempt}"

    def _note(self, sign: str, key: AttemptKey) -> None:
        with self._journal.open("a") as journal:  # one write of a short line: appends of several processes don't mix
            journal.write(f"{sign} {key}\n")


def _cluster(file: Path) -> Cluster | None:
    try:
        return Cluster.model_validate_json(file.read_text())
    except FileNotFoundError:
        return None
