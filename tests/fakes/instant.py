"""An instant provider, database and load generator: whole campaigns without processes, hosts or waiting.

They keep everything in files below the settings' `work` folder, so that many processes can share them, and fail where
they are told to. `toolkit` is a factory for `PLIMSOLL_TOOLKIT`.
"""

import json
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path, PurePosixPath

from tests.fakes.hdr import FAST_US, SLOW_US, interval_log
from tests.fakes.hosts import FolderHost

from plimsoll.adapters.clock import SystemClock
from plimsoll.adapters.object_store import ObjectStore
from plimsoll.domain.cell import AttemptKey
from plimsoll.domain.cluster import Cluster, ClusterRequest, HostInfo
from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import DeployError, Problem, ProviderError
from plimsoll.domain.fingerprint import JvmFacts, NodeFingerprint
from plimsoll.domain.happening import Event, GeneratorSecond
from plimsoll.domain.load_summary import LoadSummary
from plimsoll.domain.variant import Variant
from plimsoll.ports.host import Host
from plimsoll.ports.load_generator import LoadRequest, LoadStatus
from plimsoll.services.toolkit import Toolkit
from plimsoll.settings import Settings

INSTANT = "instant"
"""The name under which definitions ask for all of them."""

_STATE = PurePosixPath("load.json")
_STOPPED = PurePosixPath("stopped")
_SHARES = {"mutations": 0.8, "selects": 0.2}


def toolkit(settings: Settings) -> Toolkit:
    """Everything instant, the store real."""
    faults = Faults(settings.work / "faults")
    return Toolkit(
        store=ObjectStore(settings.store),
        clock=SystemClock(),
        providers={INSTANT: InstantProvider(settings.work, faults)},
        databases={INSTANT: InstantDatabase(faults)},
        load_generators={INSTANT: InstantLoadGenerator(faults)},
        sampler=NoSampler(),
    )


@dataclass(frozen=True)
class Faults:
    """Cells that are to fail: a file each, naming the phase (`provision`, `deploy`, `down`, `load`, `destroy`).

    `slow` lets the cell succeed, and miss its service level.
    """

    folder: Path

    def plant(self, cell_id: str, phase: str) -> None:
        """From now on that phase of that cell fails."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / cell_id).write_text(phase)

    def heal(self, cell_id: str) -> None:
        """From now on the cell succeeds."""
        (self.folder / cell_id).unlink(missing_ok=True)

    def hits(self, cell_id: str, phase: str) -> bool:
        """Whether that phase of that cell is to fail."""
        file = self.folder / cell_id
        return file.exists() and file.read_text() == phase


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

    def most_alive(self) -> int:
        """The greatest number of clusters that lived at once."""
        alive = most = 0
        for line in self.journal():
            alive += 1 if line.startswith("+") else -1
            most = max(most, alive)
        return most

    def provided(self) -> int:
        """How many clusters were ever made."""
        return sum(line.startswith("+") for line in self.journal())

    def journal(self) -> list[str]:
        """A line for each cluster that was made (`+`) or destroyed (`-`), in that order."""
        return self._journal.read_text().splitlines()

    def _folder(self, key: AttemptKey) -> Path:
        return self._alive / f"{key.campaign_id}~{key.cell_id}~{key.attempt}"

    def _note(self, sign: str, key: AttemptKey) -> None:
        with self._journal.open("a") as journal:  # one write of a short line: appends of several processes don't mix
            journal.write(f"{sign} {key}\n")


class InstantDatabase:
    """A database that is up at once and reports what the definition asks for."""

    log_file = "system.log"

    def __init__(self, faults: Faults, name: str = INSTANT) -> None:
        self._faults, self.name = faults, name

    def check(self, definition: Definition) -> Sequence[Problem]:
        """Nothing is missing."""
        return ()

    def prepare(self, definition: Definition) -> None:
        """Nothing is needed."""

    def deploy(
        self, definition: Definition, variant: Variant, nodes: Sequence[Host], load: Host, expires: timedelta
    ) -> None:
        """Leave a log on each node."""
        for node in nodes:
            if self._faults.hits(_cell_of(node), "deploy"):
                raise DeployError("was told to fail", where=node.info.name)
            node.write(PurePosixPath("logs/system.log"), "up\n")

    def fingerprint(self, variant: Variant, nodes: Sequence[Host], load: Host) -> Sequence[NodeFingerprint]:
        """As defined."""
        return [
            NodeFingerprint(
                host=node.info.name,
                address=node.info.address,
                facts=node.facts(),
                jvm=_jvm(variant),
                database=self.name,
                database_version="4.0.1",
            )
            for node in nodes
        ]

    def down(self, nodes: Sequence[Host]) -> Sequence[str]:
        """All are up unless they were told otherwise."""
        return [f"{node.info.name} was told to be down" for node in nodes if self._faults.hits(_cell_of(node), "down")]

    def files(self, node: Host) -> Sequence[PurePosixPath]:
        """The log, if it came so far."""
        return node.files(PurePosixPath("logs"))

    def events(self, text: str, zone: tzinfo) -> Sequence[Event]:
        """Its log tells nothing."""
        return ()


class InstantLoadGenerator:
    """A load that is complete at once, or after the provider's option `load_s`; its logs cover the defined duration."""

    name = INSTANT
    summary_file = "summary.json"
    progress_file = "progress.json"

    def __init__(self, faults: Faults) -> None:
        self._faults = faults

    def check(self, definition: Definition) -> Sequence[Problem]:
        """It does everything."""
        return ()

    def start(self, host: Host, request: LoadRequest) -> None:
        """Write the logs of the whole run, unless it was started before."""
        if self.has_started(host):
            return
        began, took_us = time.time(), SLOW_US if self._faults.hits(_cell_of(host), "slow") else FAST_US
        for operation, count in _per_second(request).items():
            log = interval_log(began, _seconds(request), count, took_us)
            for measure in ("", "intended-"):
                host.write(PurePosixPath(f"load.hdr-{measure}{operation}"), log)
        host.write(PurePosixPath(self.summary_file), _summary(request, began).model_dump_json())
        takes = float(str(request.definition.provider.options.get("load_s", 0)))
        host.write(_STATE, json.dumps({"ends": began + takes, "rate": request.load_ops_s}))

    def has_started(self, host: Host) -> bool:
        """Whether a load was started there."""
        return bool(host.read_tail(_STATE, max_bytes=1))

    def status(self, host: Host, job_id: str) -> LoadStatus:
        """Running until its time is over."""
        if self._faults.hits(_cell_of(host), "load"):
            return LoadStatus("failed", reason="the load generator was told to fail")
        if host.read_tail(_STOPPED, max_bytes=10):
            return LoadStatus("failed", reason="the load was stopped")
        state, left = self._state(host)
        if left <= 0:
            return LoadStatus("complete")
        return LoadStatus("running", "load", achieved_ops_s=state["rate"], seconds_left=left)

    def stop(self, host: Host, job_id: str) -> None:
        """End a load that runs."""
        if self._state(host)[1] > 0:
            host.write(_STOPPED, "stopped")

    def files(self, host: Host) -> Sequence[PurePosixPath]:
        """The interval logs and the summary."""
        return [path for path in host.files(PurePosixPath()) if ".hdr-" in path.name or path.name == self.summary_file]

    def describe(self, host: Host) -> str:
        """A name and version."""
        return "instant 1.0"

    def summary(self, text: str) -> LoadSummary:
        """As written by `start`."""
        if not text:
            return LoadSummary(complete=False, reason="the run left no summary", attempted_ops_s=0)
        return LoadSummary.model_validate_json(text)

    def seconds(self, text: str) -> Sequence[GeneratorSecond]:
        """It keeps no account of itself."""
        return ()

    def response_time_logs(self, names: Iterable[str]) -> Mapping[str, str]:
        """Named like tlp-stress' files."""
        kinds = {"selects": "reads", "mutations": "writes"}
        return {kinds[name.rpartition("-")[2]]: name for name in names if ".hdr-intended-" in name}

    def _state(self, host: Host) -> tuple[dict[str, float], float]:
        """What was started, and how many seconds of it are left; nothing is left of a load that wasn't."""
        state = json.loads(host.read_tail(_STATE, max_bytes=10_000) or '{"ends": 0}')
        return state, state["ends"] - time.time()


class NoSampler:
    """Samples nothing."""

    def start(self, host: Host, expires: timedelta) -> None:
        """Nothing to start."""

    def files(self, host: Host) -> Sequence[PurePosixPath]:
        """None."""
        return ()


def _cluster(file: Path) -> Cluster | None:
    try:
        return Cluster.model_validate_json(file.read_text())
    except FileNotFoundError:
        return None


def _seconds(request: LoadRequest) -> int:
    return round(request.definition.timing.duration.total_seconds())


def _per_second(request: LoadRequest) -> dict[str, int]:
    return {operation: round(request.load_ops_s * share) for operation, share in _SHARES.items()}


def _summary(request: LoadRequest, began: float) -> LoadSummary:
    timing = request.definition.timing
    judged_s = timing.judged.total_seconds()
    return LoadSummary(
        complete=True,
        generator="instant 1.0",
        started_at=datetime.fromtimestamp(began, UTC),
        duration_s=timing.duration.total_seconds(),
        warmup_s=timing.warmup.total_seconds(),
        attempted_ops_s=request.load_ops_s,
        achieved_ops_s=request.load_ops_s,
        answered=_seconds(request) * sum(_per_second(request).values()),
        operations={
            "writes": round(_per_second(request)["mutations"] * judged_s),
            "reads": round(_per_second(request)["selects"] * judged_s),
        },
        cpu_cores=0.1,
        schedule_lag_p99_ms=0.1,
        schedule_lag_max_ms=0.2,
        hiccup_max_ms=0.1,
        in_flight_max=4,
    )


def _cell_of(host: Host) -> str:
    """Empty where the host is more than a folder of the instant provider."""
    return host.root.parent.name.partition("~")[2].partition("~")[0]


def _jvm(variant: Variant) -> JvmFacts:
    return JvmFacts(
        version=f"{variant.jvm.jdk_version}+8",
        vendor="made up",
        name="OpenJDK 64-Bit Server VM",
        collector=variant.jvm.collector,
        collector_beans=(variant.jvm.collector,),
        heap_max_bytes=variant.jvm.heap,
        arguments=variant.jvm.flags,
        flags={"MaxHeapSize": str(variant.jvm.heap)},
    )
