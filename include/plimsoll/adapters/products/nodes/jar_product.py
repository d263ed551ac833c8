"""What all products have in common whose processes run jars on a JVM: their software."""

from collections.abc import Sequence

from plimsoll.adapters.products.nodes.jvm_checks import unchecked_flags
from plimsoll.adapters.products.nodes.tool import NodeTool
from plimsoll.domain.download import Download
from plimsoll.domain.product_spec import ProductSpec
from plimsoll.ports.artefacts import ArtefactSource
from plimsoll.ports.product import Product


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
