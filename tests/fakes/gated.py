"""Instant adapters whose phases wait at gates, so that a test can strike while they are under way.

`toolkit` is a factory for `PLIMSOLL_TOOLKIT`, as that of `instant`.
"""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path, PurePosixPath

from tests.fakes.instant import INSTANT, Faults, InstantLoadGenerator, InstantProduct, InstantProvider, NoSampler
from tests.fakes.paid import Prices

from plimsoll.adapters.clock import SystemClock
from plimsoll.adapters.stores.object_store import ObjectStore
from plimsoll.domain.campaign.specs import VariantSpec
from plimsoll.domain.hosts.cluster import Cluster, ClusterId, ClusterRequest
from plimsoll.ports.host import Host
from plimsoll.ports.load_generator import LoadRequest, LoadStatus
from plimsoll.services.store import layout
from plimsoll.services.toolkit import Toolkit
from plimsoll.settings import Settings

LOADING = "loading"
"""The load runs and is followed by its trigger; at all other gates a task's process waits: `provision`, `deploy`,
`start`, `collect`, `judge`, `destroy`."""
DEAR = "dear"
"""The provider whose hosts cost 1 USD an hour, as far as the plan goes. It has no gates."""
_POLL_S = 0.05


def toolkit(settings: Settings) -> Toolkit:
    """Return everything instant but for gates, the store real but for one."""
    faults, gates = Faults(settings.work / "faults"), Gates(settings.work / "gates")
    return Toolkit(
        store=GatedStore(settings.store, gates),
        clock=SystemClock(),
        providers={INSTANT: GatedProvider(settings.work, faults, gates), DEAR: dear_provider(settings.work)},
        tariffs={DEAR: Prices()},
        products={INSTANT: GatedProduct(faults, gates)},
        load_generators={INSTANT: GatedLoadGenerator(faults, gates)},
        sampler=NoSampler(),
    )


class DearProvider(InstantProvider):
    """One with clusters of its own."""

    name = DEAR


def dear_provider(work: Path) -> DearProvider:
    """Return the one that processes with that folder of work get."""
    return DearProvider(work / DEAR, Faults(work / "faults"))


@dataclass(frozen=True)
class Arrival:
    """A process that came to a closed gate. Of the gate `loading` it is whichever process looked at the load."""

    cell: str
    phase: str
    pid: int


@dataclass(frozen=True)
class Gates:
    """A closed gate is a file. Who arrives at it, and what starts, is noted in journals.

    Cells are named by campaign and cell: `<campaign>~<cell>`.
    """

    folder: Path

    def close(self, cell: str, phase: str) -> None:
        """Let that phase of that cell wait in its middle from now on."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._gate(cell, phase).touch()

    def open(self, cell: str, phase: str) -> None:
        """Let it go on. A gate that is open stays open."""
        self._gate(cell, phase).unlink(missing_ok=True)

    def is_closed(self, cell: str, phase: str) -> bool:
        """Tell whether that phase of that cell is to wait; whoever asks so has arrived."""
        if not self._gate(cell, phase).exists():
            return False
        self._note("arrivals", f"{cell} {phase} {os.getpid()}")
        return True

    def wait(self, cell: str, phase: str) -> None:
        """Return once the gate is open."""
        if self.is_closed(cell, phase):
            while self._gate(cell, phase).exists():
                time.sleep(_POLL_S)

    def arrivals(self) -> tuple[Arrival, ...]:
        """Tell who has arrived at closed gates, in that order."""
        fields = (line.split() for line in self._read("arrivals"))
        return tuple(Arrival(cell, phase, int(pid)) for cell, phase, pid in fields)

    def note_start(self, cell: str) -> None:
        """Note that a load was really started, not attached to."""
        self._note("starts", cell)

    def starts(self) -> list[str]:
        """Return cells whose load was started, one for each time."""
        return self._read("starts")

    def _gate(self, cell: str, phase: str) -> Path:
        return self.folder / f"{cell}~{phase}"

    def _note(self, journal: str, line: str) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / f"{journal}.txt").open("a") as file:  # one write of a short line: appends don't mix
            file.write(f"{line}\n")

    def _read(self, journal: str) -> list[str]:
        file = self.folder / f"{journal}.txt"
        return file.read_text().splitlines() if file.exists() else []


class GatedStore(ObjectStore):
    """Waits between an attempt's other results and its verdict."""

    def __init__(self, root: str, gates: Gates) -> None:
        super().__init__(root)
        self._gates = gates

    def write(self, key: str, data: bytes) -> None:
        """Write as any store does."""
        path = PurePosixPath(key)
        if path.name == layout.VERDICT.path:
            campaign_id, _, cell_id, *_ = path.parts
            self._gates.wait(f"{campaign_id}~{cell_id}", "judge")
        super().write(key, data)


class GatedProvider(InstantProvider):
    """Waits when hosts are there and nobody knows yet, and before they go."""

    def __init__(self, work: Path, faults: Faults, gates: Gates) -> None:
        super().__init__(work, faults)
        self._gates = gates

    def ensure(self, request: ClusterRequest) -> Cluster:
        """Make it, then wait."""
        cluster = super().ensure(request)
        self._gates.wait(f"{request.id.campaign_id}~{request.id.purpose}", "provision")
        return cluster

    def clear(self, cluster: Cluster, keep: frozenset[str] = frozenset()) -> None:
        """Clear, then wait."""
        super().clear(cluster, keep)
        self._gates.wait(f"{cluster.id.campaign_id}~{cluster.id.purpose}", "keep" if keep else "release")

    def destroy(self, cluster_id: ClusterId) -> None:
        """Wait, then destroy."""
        self._gates.wait(f"{cluster_id.campaign_id}~{cluster_id.purpose}", "destroy")
        super().destroy(cluster_id)


class GatedProduct(InstantProduct):
    """Waits when its nodes are up and no fingerprint is taken yet."""

    def __init__(self, faults: Faults, gates: Gates) -> None:
        super().__init__(faults)
        self._gates = gates

    def deploy(self, spec: VariantSpec, nodes: Sequence[Host], load: Host, expires: timedelta) -> None:
        """Deploy, then wait."""
        super().deploy(spec, nodes, load, expires)
        self._gates.wait(_cell_of(load), "deploy")


class GatedLoadGenerator(InstantLoadGenerator):
    """Waits when the load runs and nobody follows it yet; can run on; waits in the middle of collecting."""

    def __init__(self, faults: Faults, gates: Gates) -> None:
        super().__init__(faults)
        self._gates = gates

    def start(self, host: Host, request: LoadRequest) -> None:
        """Start, then wait."""
        if not self.has_started(host):
            self._gates.note_start(_cell_of(host))
        super().start(host, request)
        self._gates.wait(_cell_of(host), "start")

    def status(self, host: Host, job_id: str) -> LoadStatus:
        """Return running as long as the gate is closed."""
        if self._gates.is_closed(_cell_of(host), LOADING):
            return LoadStatus("running", "load", achieved_ops_s=1.0, seconds_left=1.0)
        return super().status(host, job_id)

    def files(self, host: Host) -> Sequence[PurePosixPath]:
        """Let collecting wait here, when the nodes' files are stored already."""
        self._gates.wait(_cell_of(host), "collect")
        return super().files(host)


def _cell_of(host: Host) -> str:
    if "~" in host.root.parent.parent.name:  # hosts that are kept: the folder is that of the attempt
        return f"{host.root.parent.parent.name.partition('~')[0]}~{host.root.name.rpartition('-')[0]}"
    return host.root.parent.name.rpartition("~")[0]
