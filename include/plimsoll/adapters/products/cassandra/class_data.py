"""Class data archives of nodes. They save a third of the CPU time of a node's start.

Their effect is over before anything is measured. Fingerprints show the flag.
"""

import gzip
from importlib.resources import files
from pathlib import Path

from plimsoll.adapters.artefacts.class_data import archive, jars_of
from plimsoll.domain.units import parse_size
from plimsoll.domain.variant import JvmConfiguration
from plimsoll.ports.artefacts import ArtefactSource

# Archives need compressed references. ZGC of JDK 11 does not have them, nor has a heap of 32 GB or more. C4 is part of
# another JVM.
_WITHOUT = ("ZGC", "C4")
_LEAST_WITHOUT = parse_size("32G")


def class_list(version: str) -> bytes | None:
    """The names of the classes that a node of that version loads, one per line; None where they were not recorded."""
    recorded = files(__package__) / "class_lists" / f"{version}.gz"
    return gzip.decompress(recorded.read_bytes()) if recorded.is_file() else None


def class_data(artefacts: ArtefactSource, jvm: JvmConfiguration, version: str) -> Path | None:
    """A folder with the archive for such a node, which is made if it is missing; None where no archive can be used.

    Raises ArtefactError where the JVM can't make the archive.
    """
    names = class_list(version)
    if names is None or jvm.collector in _WITHOUT or jvm.heap >= _LEAST_WITHOUT:
        return None
    java = artefacts.jdk(jvm.jdk, jvm.archive).java
    jars = jars_of(artefacts.database("cassandra", version))
    return archive(artefacts, f"cassandra-{version}", java, jars, names)
