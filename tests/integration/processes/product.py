"""A product whose nodes run three real processes: two JVMs of different settings, and a program without a JVM."""

import re
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from pathlib import Path

from tests.fakes.instant.faults import Faults
from tests.fakes.instant.product import InstantProduct
from tests.support.processes import until

from plimsoll.domain.campaign.specs import VariantSpec
from plimsoll.domain.hosts.fingerprint import JvmFacts, NodeFingerprint, ProcessFingerprint
from plimsoll.domain.keys.process import Event, EventKind, LogLine, Process
from plimsoll.domain.keys.variant import Collector, JvmConfiguration, Variant
from plimsoll.ports.host import Host, Job
from plimsoll.ports.product import Evidence

THREE = "three"
_FLUSH = EventKind("flush", "flush")
_FLAGS: Mapping[Collector | None, str] = {"G1": "-XX:+UseG1GC", "Serial": "-XX:+UseSerialGC"}
_GATEWAY = """
import time
from datetime import datetime
while True:
    with open("own.log", "a") as log:
        log.write(f"{datetime.now().isoformat()} flushed in 30 ms\\n")
    time.sleep(0.2)
"""
_LINE = re.compile(r"(?P<time>\S+) flushed in (?P<ms>\d+) ms")


class OwnLog(Evidence):
    """Implements the Evidence port on what the programs write."""

    kinds: Sequence[EventKind] = (_FLUSH,)

    def events(self, process: str, text: str, zone: tzinfo) -> Sequence[Event]:
        """What a log calls flushes."""
        return [
            Event(_FLUSH, at - timedelta(milliseconds=float(match["ms"])), at, float(match["ms"]))
            for match in _LINE.finditer(text)
            for at in [_time(match, zone)]
        ]

    def lines(self, process: str, text: str, zone: tzinfo) -> Sequence[LogLine]:
        """Return all of a log."""
        return [LogLine(_time(match, zone), match[0]) for match in _LINE.finditer(text)]


class ThreeProcesses(InstantProduct):
    """Implements the Product port with processes of this machine. `classes`: the folder of the class Churn."""

    evidence: Evidence = OwnLog()

    def __init__(self, java: Path, classes: Path, faults: Faults) -> None:
        super().__init__(faults, THREE)
        self._java, self._classes = java, classes

    def processes(self, variant: Variant) -> Sequence[Process]:
        """Return a server in the variant's JVM, one in a JVM of its own, and one without."""
        assert variant.jvm is not None
        other = variant.jvm.model_copy(update={"collector": "Serial", "heap": 24 << 20})
        return [
            Process("region-server", variant.jvm, "own.log", "gc.log", ("region-server/*",)),
            Process("data-node", other, "own.log", "gc.log", ("data-node/*",)),
            Process("gateway", None, "own.log", files=("gateway/*",)),
        ]

    def deploy(self, spec: VariantSpec, nodes: Sequence[Host], load: Host, expires: timedelta) -> None:
        """Start all of them, and wait until they have written their logs. Two files of each have the same name."""
        for node in nodes:
            for one in self.processes(spec.variant):
                folder = node.root / one.name
                for file in ("settings.txt", "old/settings.txt"):
                    node.write(folder / file, file)
                node.start(Job(id=one.name, argv=self._argv(one.jvm), expires=expires, cwd=folder))
        for node in nodes:
            for one in self.processes(spec.variant):
                log = node.root / one.name / "own.log"
                until(lambda node=node, log=log: node.read_tail(log, max_bytes=1), str(log))  # type: ignore[misc]

    def fingerprint(self, variant: Variant, nodes: Sequence[Host]) -> Sequence[NodeFingerprint]:
        """As the JVMs tell of themselves."""
        return [
            node.model_copy(update={"processes": tuple(_fingerprint(host, one) for one in self.processes(variant))})
            for node, host in zip(super().fingerprint(variant, nodes), nodes, strict=True)
        ]

    def down(self, nodes: Sequence[Host]) -> Sequence[str]:
        """Return all that no longer run."""
        names = ("region-server", "data-node", "gateway")
        return [
            f"{name} of {node.info.name}" for node in nodes for name in names if node.status(name).state != "running"
        ]

    def _argv(self, jvm: JvmConfiguration | None) -> Sequence[str]:
        if jvm is None:
            return (sys.executable, "-c", _GATEWAY)
        heap, collector = f"-Xmx{jvm.heap >> 20}m", _FLAGS[jvm.collector]
        log = "-Xlog:gc*,safepoint:file=gc.log:time,uptime,level,tags"
        return (str(self._java), heap, collector, *jvm.flags, log, "-cp", str(self._classes), "Churn")


def _time(match: re.Match[str], zone: tzinfo) -> datetime:
    return datetime.fromisoformat(match["time"][:26]).replace(tzinfo=zone)


def _fingerprint(host: Host, declared: Process) -> ProcessFingerprint:
    told = host.read_tail(host.root / declared.name / "facts.txt", max_bytes=10_000).splitlines()
    if not told:
        return ProcessFingerprint(name=declared.name, version="7.1")
    version, vendor, name, heap, beans, arguments = told
    facts = JvmFacts(
        version=version,
        vendor=vendor,
        name=name,
        collector="G1" if "G1" in beans else "Serial",
        collector_beans=tuple(beans.split(",")),
        heap_max_bytes=int(heap),
        arguments=tuple(arguments.split()),
        flags={"MaxHeapSize": heap},
    )
    return ProcessFingerprint(name=declared.name, jvm=facts)
