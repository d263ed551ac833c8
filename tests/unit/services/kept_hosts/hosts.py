"""Attempts on kept hosts, checks of hosts that find what they are told, and providers of hosts with faults."""

from collections.abc import Sequence

from tests.fakes.installation import Installation
from tests.fakes.instant import Faults, InstantProvider

from plimsoll.domain.hosts.cluster import Cluster, ClusterId, ClusterRequest, HostInfo
from plimsoll.domain.keys.host_bounds import HostFigures
from plimsoll.domain.text.errors import HostsLost
from plimsoll.ports.host import Host
from plimsoll.services.cell import actions, loading
from plimsoll.services.cell.attempts import begin
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.store import layout
from plimsoll.services.toolkit import Toolkit


def started(tools: Toolkit, cell_id: str, owner: str = "me") -> AttemptContext:
    work = begin(tools, "campaign", cell_id, owner)
    actions.provision(work)
    actions.deploy(work)
    loading.start_load(work)
    return work


def cluster_of(tools: Toolkit, work: AttemptContext) -> str:
    fingerprint = layout.FINGERPRINT.read(tools.store, work.key)
    assert fingerprint is not None
    return fingerprint.cluster


def environments(installation: Installation) -> set[str]:
    """Return what any host has a folder of."""
    return {path.name for path in installation.folder.glob("work/alive/*/*/*")}


class Figures:
    """A preflight that finds these figures, MiB/s, one after the other."""

    def __init__(self, found: list[float]) -> None:
        self._found = iter(found)

    def examine(self, hosts: Sequence[Host]) -> Sequence[HostFigures]:
        figure = next(self._found)
        return [_all_alike(host, figure) for host in hosts]


class Worn:
    """A preflight that finds the disk of one host slow, from the second time on that hosts are examined."""

    def __init__(self, address: str) -> None:
        self.asked, self._address = 0, address

    def examine(self, hosts: Sequence[Host]) -> Sequence[HostFigures]:
        self.asked += 1
        return [
            _all_alike(host, 10 if self.asked > 1 and host.info.address == self._address else 200) for host in hosts
        ]


def _all_alike(host: Host, mib_s: float) -> HostFigures:
    names = ("cpu_bytes_s", "disk_write_bytes_s", "disk_read_bytes_s", "network_bytes_s")
    return HostFigures(host=host.info.name, **dict.fromkeys(names, mib_s * 2**20))


class Replacing(InstantProvider):
    """Gives a kept cluster others in the place of hosts that are lost, or unfit."""

    replaces_hosts = True

    def __init__(self, installation: Installation) -> None:
        super().__init__(installation.folder / "work", Faults(installation.folder / "work" / "faults"))
        self.lost: set[str] = set()

    def find(self, cluster_id: ClusterId) -> Cluster | None:
        found = super().find(cluster_id)
        return None if found and self.lost & {info.identity for info in found.hosts} else found

    def ensure(self, request: ClusterRequest) -> Cluster:
        found = super().find(request.id)
        if found is not None:
            assert request.was_whole
            self._describe(found.model_copy(update={"hosts": tuple(self._other(one, request) for one in found.hosts)}))
        return super().ensure(request)

    def _other(self, info: HostInfo, request: ClusterRequest) -> HostInfo:
        if info.identity not in self.lost | request.unfit:
            return info
        return info.model_copy(update={"address": info.address.replace("127.9.9.", "127.9.10.")})


class Fixed(InstantProvider):
    """Clusters of hosts that are always there: where one does not answer, its cluster can't be used nor ended."""

    replaces_hosts = True

    def __init__(self, installation: Installation) -> None:
        super().__init__(installation.folder / "work", Faults(installation.folder / "work" / "faults"))
        self.silent: set[str] = set()

    def ensure(self, request: ClusterRequest) -> Cluster:
        self._require(request.id)
        return super().ensure(request)

    def clear(self, cluster: Cluster, keep: frozenset[str] = frozenset()) -> None:
        self._require(cluster.id)
        super().clear(cluster, keep)

    def destroy(self, cluster_id: ClusterId) -> None:
        self._require(cluster_id)
        super().destroy(cluster_id)

    def _require(self, cluster_id: ClusterId) -> None:
        if cluster_id.name in self.silent:
            raise HostsLost("node2 can't be reached", where=str(cluster_id))
