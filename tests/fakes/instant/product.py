"""A product that needs no process."""

from collections.abc import Sequence
from datetime import timedelta, tzinfo

from tests.fakes.instant.faults import INSTANT, Faults, cell_of

from plimsoll.domain.attempt.load_summary import LeftoverWork
from plimsoll.domain.campaign.specs import ProductSpec, VariantSpec
from plimsoll.domain.hosts.fingerprint import JvmFacts, NodeFingerprint, ProcessFingerprint
from plimsoll.domain.keys.process import Event, EventKind, LogLine, Process
from plimsoll.domain.keys.variant import JvmConfiguration, Variant
from plimsoll.domain.text.errors import DeployError, Problem
from plimsoll.ports.host import Host
from plimsoll.ports.product import Evidence, Product


class SilentLog(Evidence):
    """A log that tells nothing."""

    kinds: Sequence[EventKind] = ()

    def events(self, process: str, text: str, zone: tzinfo) -> Sequence[Event]:
        """Return no events."""
        return ()

    def lines(self, process: str, text: str, zone: tzinfo) -> Sequence[LogLine]:
        """Return no line, because none has a time."""
        return ()


class InstantProduct(Product):
    """A product that is up at once and reports what the definition asks for."""

    settles = True
    evidence: Evidence = SilentLog()

    def __init__(self, faults: Faults, name: str = INSTANT) -> None:
        self._faults, self.name = faults, name

    def check(self, spec: ProductSpec) -> Sequence[Problem]:
        """Return no problem."""
        return ()

    def prepare(self, spec: ProductSpec) -> None:
        """Do nothing."""

    def deploy(self, spec: VariantSpec, nodes: Sequence[Host], load: Host, expires: timedelta) -> None:
        """Leave a log on each node."""
        for node in nodes:
            if self._faults.hits(cell_of(node), "deploy"):
                raise DeployError("was told to fail", where=node.info.name)
            node.write(node.root / "logs" / "system.log", "up\n")

    def fingerprint(self, variant: Variant, nodes: Sequence[Host]) -> Sequence[NodeFingerprint]:
        """Return nodes as defined."""
        return [
            NodeFingerprint(
                host=node.info.name,
                address=node.info.address,
                facts=node.facts(),
                processes=[
                    ProcessFingerprint(name=one.name, jvm=_jvm(one.jvm) if one.jvm else None)
                    for one in self.processes(variant)
                ],
                database=self.name,
                database_version="4.0.1",
            )
            for node in nodes
        ]

    def processes(self, variant: Variant) -> Sequence[Process]:
        """Return one process, which is named like the product."""
        return [Process(self.name, variant.jvm, "system.log", "gc.log", ("logs/*",))]

    def hides_leftover_work(self, spec: VariantSpec) -> bool:
        """Return False: the product leaves nothing to do."""
        return False

    def leftover_work(self, nodes: Sequence[Host], job_id: str) -> LeftoverWork | None:
        """Return the outcome at once."""
        return LeftoverWork(settled=True, left={node.info.name: 0 for node in nodes})

    def down(self, nodes: Sequence[Host]) -> Sequence[str]:
        """Return nodes that a fault takes down. Nodes that keep data for later loads must have been deployed.

        Nobody else asks the hosts, so that a silent one is noticed when it is collected from.
        """
        down = [f"{node.info.name} was told to be down" for node in nodes if self._faults.hits(cell_of(node), "down")]
        return down or [
            f"{node.info.name} was never started"
            for node in nodes
            if _keeps_data(node) and not node.files(node.root / "logs")
        ]


def _jvm(jvm: JvmConfiguration) -> JvmFacts:
    return JvmFacts(
        version=f"{jvm.jdk_version}+8",
        vendor="made up",
        name="OpenJDK 64-Bit Server VM",
        collector=jvm.collector,
        collector_beans=(jvm.collector,),
        heap_max_bytes=jvm.heap,
        arguments=jvm.flags,
        flags={"MaxHeapSize": str(jvm.heap)},
    )


def _keeps_data(node: Host) -> bool:
    return node.root.name.endswith("-data")
