"""The lock files beside this module: the files that may be downloaded, with their checksums.

A lock file names coordinates and checksums but never a host, because each machine has its own registries.
"""

from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter

from plimsoll.domain.text.base import Model

FOLDER = Path(__file__).parent / "locks"
JDKS = FOLDER / "jdks.json"

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class LockedJar(Model):
    """One file of a Maven repository."""

    coordinates: Annotated[str, Field(pattern=r"^[^:/]+:[^:/]+:[^:/]+(:[^:/]+)?$", description="group:name:version")]
    sha256: Sha256
    size_bytes: int
    packaging: Annotated[str, Field(pattern=r"^[a-z]+(\.[a-z]+)?$", description="The file's kind, and its ending")] = (
        "jar"
    )

    @property
    def name(self) -> str:
        """Return the file's name: `guava-27.0-jre.jar`."""
        return f"{'-'.join(self.coordinates.split(':')[1:])}.{self.packaging}"


class LockedSet(Model):
    """All jars that one program needs at run time, as they were resolved once."""

    name: Annotated[str, Field(description="`cassandra-4.0.1`, `load-generator`, `ecj`")]
    roots: Annotated[tuple[str, ...], Field(description="Coordinates that it was resolved from")]
    jars: tuple[LockedJar, ...]

    @property
    def size_bytes(self) -> int:
        """Return the size of all files together, bytes."""
        return sum(jar.size_bytes for jar in self.jars)

    @property
    def checksums(self) -> dict[str, str]:
        """Map each file name to its sha256."""
        return {jar.name: jar.sha256 for jar in self.jars}


class LockedJdk(Model):
    """A wheel with a Java runtime inside."""

    id: Annotated[str, Field(description="As definitions name it: `openjdk-11.0.13`")]
    requirement: Annotated[str, Field(pattern=r"^[\w-]+==[\w.]+$", description="Package and version")]
    sha256: Sha256
    size_bytes: int


@cache
def locked_set(name: str) -> LockedSet | None:
    """Return the set with that name; None where it has no lock file."""
    path = FOLDER / f"{name}.json"
    return LockedSet.model_validate_json(path.read_bytes()) if path.is_file() and path != JDKS else None


@cache
def locked_jdks() -> dict[str, LockedJdk]:
    """Return every JDK with a lock file, by its id."""
    return {jdk.id: jdk for jdk in TypeAdapter(tuple[LockedJdk, ...]).validate_json(JDKS.read_bytes())}


def database_versions(product: str) -> tuple[str, ...]:
    """Return the releases of a database with lock files, sorted as text."""
    return tuple(sorted(path.stem.removeprefix(f"{product}-") for path in FOLDER.glob(f"{product}-*.json")))
