"""Clusters on this machine: folders, loopback addresses and marked processes."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock

from plimsoll.adapters.local.files import mend, write_whole
from plimsoll.adapters.local.host import LocalHost
from plimsoll.adapters.local.marks import Mark
from plimsoll.adapters.local.options import check_machine
from plimsoll.adapters.local.subnets import Subnets
from plimsoll.adapters.local.sweep import kill_all, marked_processes
from plimsoll.domain.cell import AttemptKey
from plimsoll.domain.cluster import Cluster, ClusterRequest, HostInfo
from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import Problem, ProviderError
from plimsoll.ports.clock import Clock
from plimsoll.ports.host import Host

_RECORD = "cluster.json"
_LOAD_HOST = 250
_LOCK_TIMEOUT_S = 60.0


class LocalProvider:
    """Implements the Provider port. What lives below `work` is its own; other work folders it never touches."""

    name = "local"

    def __init__(self, work: Path, clock: Clock, subnets: Subnets | None = None) -> None:
        self._work = work.absolute()
        self._clock = clock
        self._subnets = subnets or Subnets()

    def check(self, definition: Definition) -> Sequence[Problem]:
        """Memory, disk, the work folder and the options, asked of this machine."""
        return check_machine(definition, self._work)

    def ensure(self, request: ClusterRequest) -> Cluster:
        """Folders and addresses of the cluster's hosts; nothing runs on them yet."""
        with self._explained(request.key), self._locked():
            found = self.find(request.key)
            return found if found is not None else self._make(request)

    def find(self, key: AttemptKey) -> Cluster | None:
        """The cluster whose record is there."""
        record = self._folder(key) / _RECORD
        try:
            return Cluster.model_validate_json(record.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None

    def clusters(self) -> Sequence[Cluster]:
        """Every cluster that has a folder or a living process, half destroyed ones too."""
        owners = {mark.key: mark.owner for _, mark in marked_processes() if mark.work == self._work}
        keys = sorted({*owners, *self._keys_of_folders()}, key=str)
        return [self.find(key) or self._remains(key, owners.get(key, "")) for key in keys]

    def destroy(self, key: AttemptKey) -> None:
        """Kill every process of the cluster, remove its folder, and look again."""
        with self._explained(key), self._locked():
            resisting = kill_all(lambda mark: mark.work == self._work and mark.key == key)
            if resisting:
                raise ProviderError(
                    f"processes {', '.join(str(process.pid) for process in resisting)} survive SIGKILL",
                    where=str(key),
                    mend="look for processes in state D (`ps`), then destroy the cluster again",
                )
            self._remove(self._folder(key))

    def host(self, cluster: Cluster, info: HostInfo) -> Host:
        """A folder of the cluster, and processes with its mark."""
        mark = Mark(cluster.key, self._work, cluster.owner)
        return LocalHost(info, self._folder(cluster.key) / info.name, mark.environment(info.name))

    def _make(self, request: ClusterRequest) -> Cluster:
        folder = self._folder(request.key)
        folder.mkdir(parents=True, exist_ok=True)
        subnet = self._subnets.reserve(folder)
        if subnet is None:
            raise ProviderError(
                "every loopback subnet is taken: ports 7000 and 9042 can't be bound on any of them",
                where=str(request.key),
                mend="stop what listens on all addresses (0.0.0.0) at these ports: `ss -ltnp` names it",
            )
        cluster = Cluster(
            key=request.key,
            owner=request.owner,
            provider=self.name,
            hosts=tuple(_hosts(subnet, request.nodes)),
            created_at=self._clock.now(),
            expires_at=request.expires_at,
        )
        for info in cluster.hosts:
            (folder / info.name).mkdir(exist_ok=True)
        # Written last: a cluster that has a record is whole.
        write_whole(folder / _RECORD, cluster.model_dump_json(indent=1))
        return cluster

    def _remains(self, key: AttemptKey, owner: str) -> Cluster:
        """What is left of a cluster without a record: enough to name and destroy it."""
        folder = self._folder(key)
        since = datetime.fromtimestamp(folder.stat().st_mtime, UTC) if folder.exists() else self._clock.now()
        return Cluster(key=key, owner=owner, provider=self.name, hosts=(), created_at=since, expires_at=since)

    def _keys_of_folders(self) -> Iterator[AttemptKey]:
        for folder in self._work.glob("*/*/*/"):
            with suppress(ValueError):  # a folder of something else
                yield AttemptKey.parse(str(folder.relative_to(self._work)))

    def _remove(self, folder: Path) -> None:
        if folder.exists():
            shutil.rmtree(folder)
        for parent in (folder.parent, folder.parent.parent):
            with suppress(OSError):  # other attempts or cells are still there
                parent.rmdir()

    def _folder(self, key: AttemptKey) -> Path:
        return self._work / key.campaign_id / key.cell_id / str(key.attempt)

    def _locked(self) -> FileLock:
        """One at a time makes or destroys here: two who destroy the same cluster don't stumble over each other."""
        self._work.mkdir(parents=True, exist_ok=True)
        return FileLock(self._work / ".lock", timeout=_LOCK_TIMEOUT_S)

    @contextmanager
    def _explained(self, key: AttemptKey) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise ProviderError(str(error), where=str(key), mend=mend(error, self._work)) from error


def _hosts(subnet: str, nodes: int) -> Iterator[HostInfo]:
    # One machine, so one sampler: the hosts say which machine they are.
    facts = {"machine": "local"}
    for number in range(1, nodes + 1):
        yield HostInfo(name=f"node{number}", role="node", address=f"{subnet}.{number}", facts=facts)
    yield HostInfo(name="load", role="load", address=f"{subnet}.{_LOAD_HOST}", facts=facts)
