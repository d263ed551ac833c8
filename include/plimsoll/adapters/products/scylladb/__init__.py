"""ScyllaDB as a product under test. It was written by its public documentation, and has met no real ScyllaDB yet.

Nodes are asked over their REST API on their own machines, because it asks nobody for a password.

The lines of stalls have no time, because ScyllaDB writes them inside a signal handler. A stall happened between the
lines before and after it; where these are further apart than `_SURE`, its line is left out.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, tzinfo
from pathlib import PurePosixPath

from pydantic import JsonValue, ValidationError

from plimsoll.adapters.products.nodes import own_machine
from plimsoll.adapters.products.nodes.node_process import TimedLog, refused_settings, shown, time_of
from plimsoll.adapters.products.nodes.node_state import Patience, down, name_of, node_fingerprint
from plimsoll.adapters.products.nodes.own_machine import WHOLE, NodeTool, leftover_work, own_loopback
from plimsoll.adapters.products.scylladb.node import (
    API_PORT,
    METRICS,
    METRICS_PORT,
    NODE,
    PORTS,
    PRODUCT,
    PROGRAM,
    RESERVED,
    NodeFiles,
    command_options,
    start,
)
from plimsoll.domain.attempt.load_summary import LeftoverWork
from plimsoll.domain.campaign.specs import ProductSpec, VariantSpec
from plimsoll.domain.hosts.fingerprint import NodeFingerprint, ProcessFingerprint
from plimsoll.domain.keys.process import Event, EventKind, Process
from plimsoll.domain.keys.variant import Archive, Download, Variant
from plimsoll.domain.text.errors import DeployError, Problem
from plimsoll.ports.artefacts import ArtefactSource, how_to_fetch
from plimsoll.ports.controller import Clock
from plimsoll.ports.host import Host
from plimsoll.ports.product import Evidence, Product

_LISTENS = "Starting listening for CQL clients"
_PATIENCE = timedelta(minutes=15)

_BUILD = re.compile(r"-0\.\d{8}\..*")
"""The end of `4.4.3-0.20210714.ce3b5e9a5`, which is not part of the release's name."""

COMPACTION, STALL = EventKind("compaction", "compaction"), EventKind("reactor_stall", "reactor stall")
ALLOCATION = EventKind("large_allocation", "large allocation", "bytes")

_LINE = re.compile(
    r"[A-Z]+ +(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) +\[shard +\d+[^]]*\] (?P<logger>\S+) - (?P<message>.*)",
    re.ASCII,
)

_COMPACTED = re.compile(r"(\[.*?\] )?Compacted .* in (?P<ms>\d+)ms = ")
_ALLOCATED = re.compile(r"oversized allocation: (?P<bytes>\d+) bytes")
_STALLED = re.compile(r"Reactor stalled for (?P<ms>\d+) ms on shard \d+")
_SURE = timedelta(seconds=10)


class ScyllaDbLog(TimedLog):
    """An implementation of the Evidence port on a node's log, whose times are in its host's `zone`."""

    kinds: Sequence[EventKind] = (COMPACTION, STALL, ALLOCATION)
    pattern = _LINE

    def events(self, process: str, text: str, zone: tzinfo) -> Sequence[Event]:
        return tuple(_events(text, zone))


def _events(text: str, zone: tzinfo) -> Iterator[Event]:
    before: datetime | None = None
    stalls_ms: list[float] = []
    for line in text.splitlines():
        if stall := _STALLED.search(line):
            stalls_ms.append(float(stall["ms"]))
        if (match := _LINE.match(line)) is None:
            continue
        at = time_of(match, zone)
        if before is not None and at - before <= _SURE:
            yield from (Event(STALL, before, at, ms) for ms in stalls_ms)
        if compaction := _COMPACTED.match(match["message"]):
            yield Event(COMPACTION, at - timedelta(milliseconds=int(compaction["ms"])), at, float(compaction["ms"]))
        elif allocation := _ALLOCATED.match(match["message"]):
            yield Event(ALLOCATION, at, at, float(allocation["bytes"]))
        before, stalls_ms = at, []


class ScyllaDb(Product):
    """One program on each node. `patience`: longest time for all nodes to start, where a definition gives none."""

    name = PRODUCT
    ports: Sequence[int] = PORTS
    evidence: Evidence = ScyllaDbLog()
    settles = True

    def __init__(self, artefacts: ArtefactSource, clock: Clock, patience: timedelta = _PATIENCE) -> None:
        self._artefacts, self._clock, self._patience = artefacts, clock, patience
        self._tool = NodeTool(artefacts)

    def check(self, spec: ProductSpec) -> Sequence[Problem]:
        """Return all problems, in the definition's order; missing artefacts come last. Fetches nothing."""
        problems = [*_settings("system.settings", spec.settings)]
        for variant in spec.variants:
            problems += _variant(variant.where, variant.variant, self._artefacts, spec.name)
            problems += _settings(f"{variant.where}.settings", variant.variant.settings)
        return [*problems, *self._artefacts.missing_of_program("node-tool", spec.key, spec.name)]

    def unchecked(self, spec: ProductSpec) -> Sequence[str]:
        return [
            f"Plimsoll has never run a real ScyllaDB: whether variant {variant.variant.id} starts from its archive on "
            "these hosts, and which release the archive has, shows on the hosts only"
            for variant in spec.variants
        ]

    def downloads(self, spec: ProductSpec) -> Sequence[Download]:
        variants = [variant.variant for variant in spec.variants]
        archives = {variant.archive: variant.id for variant in variants if variant.archive}
        downloads = [
            Download(name=f"ScyllaDB of variant {name}", size_bytes=None, is_there=self._artefacts.has_archive(archive))
            for archive, name in archives.items()
        ]
        return [*downloads, *self._artefacts.downloads_of_program("node-tool")]

    def prepare(self, spec: ProductSpec) -> None:
        for variant in spec.variants:
            if variant.variant.archive is not None:
                self._artefacts.unpacked(variant.variant.archive, PROGRAM, thorough=True)
        self._artefacts.prepare_program("node-tool")

    def deploy(self, spec: VariantSpec, nodes: Sequence[Host], load: Host, expires: timedelta) -> None:
        """Start one node after the other, as nodes must join, and wait until clients can use all of them.

        Nodes that were started before are waited for like new ones. A DeployError has the last log lines of a node that
        did not start.
        """
        if spec.variant.archive is None:
            raise DeployError("it names no archive", where=f"variant {spec.variant.id}", mend="run `plimsoll plan`")
        home = self._artefacts.unpacked(spec.variant.archive, PROGRAM)
        patience = Patience(self._clock, self._clock.now() + (spec.start_within or self._patience))
        with ThreadPoolExecutor(len(nodes) + 1) as pool:
            brought = [pool.submit(node.install, home) for node in nodes]
            pool.submit(self._tool.argv, load).result()
            for future in brought:
                future.result()
        for node in nodes:
            start(node, home, spec.settings, nodes, expires)
            patience.await_line([(node, NODE)], _LISTENS)
        self._tool.probe(load, nodes, max(patience.until - self._clock.now(), WHOLE), PRODUCT)

    def processes(self, variant: Variant) -> Sequence[Process]:
        files = NodeFiles(PurePosixPath())
        return [Process(PRODUCT, log=files.console.name, files=(str(files.kept / "*"), str(files.console)))]

    def fingerprint(self, variant: Variant, nodes: Sequence[Host]) -> Sequence[NodeFingerprint]:
        return [fingerprint(node, variant.archive) for node in nodes]

    def hides_leftover_work(self, spec: VariantSpec) -> bool:
        """Return True, because clients can read in no table how many compactions are left."""
        return True

    def leftover_work(self, nodes: Sequence[Host], job_id: str) -> LeftoverWork | None:
        return leftover_work(nodes, job_id, settle_command)

    def down(self, nodes: Sequence[Host]) -> Sequence[str]:
        return [sentence for node in nodes if (sentence := down(node, NODE))]

    def save(self, node: Host) -> None:
        own_machine.save(node, _url(node, METRICS_PORT, "metrics"), NodeFiles(node.root).kept / METRICS)


def fingerprint(node: Host, archive: Archive | None) -> NodeFingerprint:
    """Read what the node reports. Raises DeployError where it does not answer."""
    [build] = own_machine.get(node, _url(node, API_PORT, "storage_service/scylla_release_version"))
    if build is None:
        where = f"{PRODUCT} on {name_of(node)}"
        raise DeployError("its REST API gives no answer", where=where, mend="see whether the node runs")
    version = _BUILD.sub("", build).replace("~", "-")
    return node_fingerprint(node, PRODUCT, version, [ProcessFingerprint(name=PRODUCT, version=build)], archive)


def settle_command(nodes: Sequence[Host]) -> tuple[str, ...]:
    """Return the command that waits until these nodes of one machine have no compactions left."""
    urls = [_url(node, API_PORT, "compaction_manager/metrics/pending_tasks") for node in nodes]
    return own_machine.settle_command((), urls)


def _url(node: Host, port: int, path: str) -> str:
    return f"{own_loopback(node.info.address)}:{port}/{path}"


def _variant(where: str, variant: Variant, artefacts: ArtefactSource, name: str) -> Iterator[Problem]:
    if variant.jvm is not None:
        yield Problem(f"{where}.jvm", "ScyllaDB runs in no JVM", "remove `jvm`")
    if variant.archive is None:
        mend = "name its relocatable archive: `archive: {url: …, sha256: …}`"
        yield Problem(f"{where}.archive", "no registry has ScyllaDB, and the variant names no archive", mend)
    elif not artefacts.has_archive(variant.archive):
        what = f"ScyllaDB of variant {variant.id} is not in the cache"
        yield Problem(f"{where}.archive", what, how_to_fetch(name))


def _settings(where: str, settings: Mapping[str, JsonValue]) -> Iterator[Problem]:
    yield from refused_settings(where, settings, RESERVED)
    try:
        command_options(settings)
    except ValidationError as error:
        for fault in error.errors():
            key = ".".join(map(str, fault["loc"]))
            mend = "write e.g. `smp: 8`, `memory: 16G`, `overprovisioned: true`, or leave it out"
            yield Problem(f"{where}.{key}", f"{fault['msg']}; found {shown(fault['input'])}", mend)
