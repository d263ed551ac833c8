"""Class data archives: what a JVM makes of a program's classes, so that it need not read and verify them at each start.

An archive holds only the metadata of classes. It is made with a collector that can't store objects in it, so all
collectors get the same archive. It does not change how code is compiled. The JVM ignores an archive that was made with
another JVM or other jars.
"""

import gzip
import hashlib
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from plimsoll.adapters.artefacts.processes import run_java
from plimsoll.domain.errors import ArtefactError
from plimsoll.ports.artefacts import OWN_JDK, ProgramSource

ARCHIVE = "classes.jsa"
_LIST = "classes"
_RECIPE = "1"


def archive(artefacts: ProgramSource, program: str, java: Path, jars: Sequence[Path], names: bytes) -> Path:
    """A folder with the archive of these classes for that JVM and that class path; it is made if it is missing.

    `names` has a class in each line. Raises ArtefactError where the JVM can't make the archive.
    """
    key = f"{program}-classes-{_digest(java, jars, names)}"
    return artefacts.derived(key, lambda folder: _build(folder, program, java, jars, names))


def of_program(artefacts: ProgramSource, program: str, bundle: Path) -> Path:
    """A folder with the archive of one of Plimsoll's own programs, `node-tool` or `load-generator`, for its own JDK.

    `bundle` is the folder with its jars. Raises ArtefactError where the JVM can't make the archive.
    """
    names = gzip.decompress((files(__package__) / "class_lists" / f"{program}.gz").read_bytes())
    return archive(artefacts, program, artefacts.jdk(OWN_JDK).java, jars_of(bundle), names)


def jars_of(folder: Path) -> list[Path]:
    """The class path of a folder, in an order that is the same on all hosts."""
    return sorted(folder.glob("*.jar"))


def _digest(java: Path, jars: Sequence[Path], names: bytes) -> str:
    """A digest of everything that the JVM compares before it uses the archive."""
    parts = [f"{path} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in (java, *jars)]
    return hashlib.sha256("\n".join([_RECIPE, *parts]).encode() + names).hexdigest()[:12]


def _build(folder: Path, program: str, java: Path, jars: Sequence[Path], names: bytes) -> None:
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
            f"the JVM made no archive of {program}'s classes (exit code {ended.exit_code}): {ended.output[-1000:]}",
            where=str(java),
            mend="mend the reason given",
        )
