"""A Java program of a product on its host, its JDK and its jars, and what all products that run such share."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from plimsoll.adapters.products.nodes.jvm_flags import unchecked_flags
from plimsoll.adapters.products.nodes.tool import NodeTool
from plimsoll.domain.download import Download
from plimsoll.domain.specs import ProductSpec
from plimsoll.ports.artefacts import ArtefactSource, Jdk
from plimsoll.ports.host import Host
from plimsoll.ports.product import Product


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


class JarProduct(Product):
    """A base of products with `name`: the JDKs and jars of its variants, and the node tool that asks their JVMs."""

    def __init__(self, artefacts: ArtefactSource) -> None:
        self._artefacts, self._tool = artefacts, NodeTool(artefacts)

    def unchecked(self, spec: ProductSpec) -> Sequence[str]:
        """Return sentences that name the JVM flags that could not be checked with their JDK on this machine."""
        return list(unchecked_flags(spec, self._artefacts))

    def downloads(self, spec: ProductSpec) -> Sequence[Download]:
        """Return the releases and JDKs of its variants, and what the node tool is compiled from."""
        of_variants = self._artefacts.downloads_of_variants(spec.variants)
        return [*of_variants, *self._artefacts.downloads_of_program("node-tool")]

    def prepare(self, spec: ProductSpec) -> None:
        """Fetch all artefacts."""
        self._artefacts.prepare_variants(spec.variants)
        self._artefacts.prepare_program("node-tool")
