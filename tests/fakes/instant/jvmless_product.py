"""A second product beside `instant`, one that runs in no JVM."""

from collections.abc import Sequence
from datetime import datetime, timedelta, tzinfo

from tests.fakes.instant.faults import Faults
from tests.fakes.instant.product import InstantProduct, SilentLog

from plimsoll.domain.campaign.specs import ProductSpec, VariantSpec
from plimsoll.domain.hosts.fingerprint import NodeFingerprint
from plimsoll.domain.keys.process import LogLine
from plimsoll.domain.keys.variant import Variant
from plimsoll.domain.text.errors import Problem
from plimsoll.ports.host import Host
from plimsoll.ports.product import Evidence

JVMLESS = "jvmless"
VERSION = "2.5"


class TimedLog(SilentLog):
    """A log whose lines have local times."""

    def lines(self, process: str, text: str, zone: tzinfo) -> Sequence[LogLine]:
        """Return lines that each have a time, of that zone."""
        times = ((line, datetime.fromisoformat(line[:19]).replace(tzinfo=zone)) for line in text.splitlines())
        return [LogLine(at=at, text=line) for line, at in times]


class JvmlessProduct(InstantProduct):
    """Up at once; refuses variants that name a JVM, and releases but one."""

    evidence: Evidence = TimedLog()

    def __init__(self, faults: Faults, name: str = JVMLESS) -> None:
        super().__init__(faults, name)

    def check(self, spec: ProductSpec) -> Sequence[Problem]:
        """Return problems of its own variants."""
        return [problem for one in spec.variants for problem in _problems(one)]

    def deploy(self, spec: VariantSpec, nodes: Sequence[Host], load: Host, expires: timedelta) -> None:
        """Leave a log with local times on each node."""
        super().deploy(spec, nodes, load, expires)
        for node in nodes:
            node.write(node.root / "logs" / "system.log", "2026-01-31 14:00:05 compaction stalled\n")

    def fingerprint(self, variant: Variant, nodes: Sequence[Host]) -> Sequence[NodeFingerprint]:
        """Return nodes without a JVM."""
        own = {"database": self.name, "database_version": VERSION}
        return [node.model_copy(update=own) for node in super().fingerprint(variant, nodes)]


def _problems(spec: VariantSpec) -> Sequence[Problem]:
    found = []
    if spec.variant.jvm is not None:
        found.append(Problem(f"{spec.where}.jvm", f"{JVMLESS} runs in no JVM", "leave `jvm` out"))
    if spec.version != VERSION:
        found.append(Problem(f"{spec.where}.version", "there is no such release", f"use {VERSION}"))
    return found
