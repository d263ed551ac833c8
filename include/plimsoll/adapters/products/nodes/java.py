"""A Java program of a product on its host: its JDK and its jars."""

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from plimsoll.ports.artefacts import Jdk
from plimsoll.ports.host import Host


@dataclass(frozen=True)
class Installation:
    """The paths of a node's artefacts on its host."""

    java: PurePosixPath
    jars: tuple[PurePosixPath, ...]


def install(host: Host, jdk: Jdk, jars: Path) -> Installation:
    """Copy the artefacts to the host if they are not there yet. Returns their paths there."""
    home = host.install(jdk.home)
    folder = host.install(jars)
    # Sorted by name, because the order of files in a directory differs from host to host.
    names = sorted(jar.name for jar in jars.glob("*.jar"))
    return Installation(java=home / jdk.java.relative_to(jdk.home), jars=tuple(folder / name for name in names))


def file_url(path: PurePosixPath) -> str:
    """Return a path on a host as a URL. (`PurePath.as_uri` is deprecated since Python 3.14.)"""
    return f"file://{quote(str(path))}"
