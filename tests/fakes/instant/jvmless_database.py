"""A second product beside `instant`, one that runs in no JVM."""

from collections.abc import Sequence

from tests.fakes.instant.database import InstantDatabase
from tests.fakes.instant.faults import Faults

from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import Problem
from plimsoll.domain.fingerprint import NodeFingerprint
from plimsoll.domain.variant import Variant
from plimsoll.ports.host import Host

JVMLESS = "jvmless"
VERSION = "2.5"


class JvmlessDatabase(InstantDatabase):
    """Up at once; refuses variants that name a JVM, and releases but one."""

    def __init__(self, faults: Faults) -> None:
        super().__init__(faults, JVMLESS)

    def check(self, definition: Definition) -> Sequence[Problem]:
        """What it can't run of its own variants."""
        return [problem for place in definition.of_product(JVMLESS) for problem in _problems(definition, *place)]

    def fingerprint(self, variant: Variant, nodes: Sequence[Host], load: Host) -> Sequence[NodeFingerprint]:
        """Nodes without a JVM."""
        own = {"jvm": None, "database": JVMLESS, "database_version": VERSION}
        return [node.model_copy(update=own) for node in super().fingerprint(variant, nodes, load)]


def _problems(definition: Definition, number: int, variant: Variant) -> Sequence[Problem]:
    where, found = f"variants[{number}] ({variant.id})", []
    if variant.jvm is not None:
        found.append(Problem(f"{where}.jvm", f"{JVMLESS} runs in no JVM", "leave `jvm` out"))
    if definition.version_of(variant) != VERSION:
        found.append(Problem(f"{where}.version", "there is no such release", f"use {VERSION}"))
    return found
