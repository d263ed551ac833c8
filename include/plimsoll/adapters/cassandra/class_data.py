"""Class data archives. They save a third of the CPU time of a node's start, because the JVM need not verify classes.

An archive holds only the metadata of classes. It is made with a collector that can't store objects in it, so all
collectors get the same archive. It does not change how code is compiled, and its effect is over before anything is
measured. The JVM ignores an archive that was made with another JVM or other jars. Fingerprints show the flag.
"""

import gzip
import hashlib
from importlib.resources import files
from pathlib import Path

from plimsoll.adapters.artefacts.processes import run_java
from plimsoll.domain.errors import ArtefactError
from plimsoll.domain.units import parse_size
from plimsoll.domain.variant import JvmConfiguration
from plimsoll.ports.artefacts import ArtefactSource

ARCHIVE = "classes.jsa"
_LIST = "classes"
_RECIPE = "1"
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
    jars = sorted(artefacts.database("cassandra", version).glob("*.jar"))
    key = f"cassandra-{version}-classes-{_digest(java, jars, names)}"
    return artefacts.derived(key, lambda folder: _build(folder, java, jars, names))


def _digest(java: Path, jars: list[Path], names: bytes) -> str:
    """A digest of everything that the JVM compares before it uses the archive."""
    parts = [f"{path} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in (java, *jars)]
    return hashlib.sha256("\n".join([_RECIPE, *parts]).encode() + names).hexdigest()[:12]


def _build(folder: Path, java: Path, jars: list[Path], names: bytes) -> None:
    (folder / _LIST).write_bytes(names)
    ended = run_java(
        java,
        "-XX:+UseSerialGC",
        "-Xshare:dump",
        f"-XX:SharedClassListFile={folder / _LIST}",
        f"-XX:SharedArchiveFile={folder / ARCHIVE}",
        "-cp",
        ":".join(str(jar) for jar in jars),
    )
    if ended.exit_code != 0 or not (folder / ARCHIVE).is_file():
        raise ArtefactError(
            f"the JVM made no archive of Cassandra's classes (exit code {ended.exit_code}): {ended.output[-1000:]}",
            where=str(java),
            mend="mend the reason given",
        )
