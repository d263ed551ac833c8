"""ScyllaDB as a product under test. It was written by its public documentation, and has met no real ScyllaDB yet."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import PurePosixPath

from plimsoll.adapters.products.nodes.compactions import leftover_work
from plimsoll.adapters.products.nodes.node_state import down
from plimsoll.adapters.products.nodes.tool import WHOLE, NodeTool
from plimsoll.adapters.products.nodes.waiting import Patience
from plimsoll.adapters.products.scylladb.checks import problems, unknown
from plimsoll.adapters.products.scylladb.events import ScyllaDbLog
from plimsoll.adapters.products.scylladb.inquiry import fingerprint, save_metrics, settle_command
from plimsoll.adapters.products.scylladb.node import PROGRAM, Blueprint, start
from plimsoll.adapters.products.scylladb.node_files import NODE, PRODUCT, NodeFiles
from plimsoll.adapters.products.scylladb.settings import PORTS
from plimsoll.domain.download import Download
from plimsoll.domain.errors import DeployError, Problem
from plimsoll.domain.fingerprint import NodeFingerprint
from plimsoll.domain.leftover_work import LeftoverWork
from plimsoll.domain.process import Process
from plimsoll.domain.product_spec import ProductSpec, VariantSpec
from plimsoll.domain.variant import Variant
from plimsoll.ports.artefacts import ArtefactSource
from plimsoll.ports.clock import Clock
from plimsoll.ports.host import Host
from plimsoll.ports.product import Evidence, Product

_LISTENS = "Starting listening for CQL clients"
_PATIENCE = timedelta(minutes=15)


class ScyllaDb(Product):
    """One program on each node. `patience`: longest time for all nodes to start, where a definition gives none."""

    name = PRODUCT
    ports: Sequence[int] = PORTS
    evidence: Evidence = ScyllaDbLog()
    settles = True

    def __init__(self, artefacts: ArtefactSource, clock: Clock, patience: timedelta = _PATIENCE) -> None:
        self._artefacts, self._clock, self._patience = artefacts, clock, patience
        self._tool = NodeTool(artefacts)

    def check(self, spec: ProductSpec) -> Sequence[Problem]:
        """Return problems with archives and settings."""
        return problems(spec, self._artefacts)

    def unchecked(self, spec: ProductSpec) -> Sequence[str]:
        """Name what only hosts can tell."""
        return list(unknown(spec))

    def downloads(self, spec: ProductSpec) -> Sequence[Download]:
        """Return the archives of its variants, and what the node tool is compiled from."""
        variants = [one.variant for one in spec.variants]
        archives = {one.archive: one.id for one in variants if one.archive}
        found = [
            Download(name=f"ScyllaDB of variant {name}", size_bytes=None, is_there=self._artefacts.has_archive(archive))
            for archive, name in archives.items()
        ]
        return [*found, *self._artefacts.downloads_of_program("node-tool")]

    def prepare(self, spec: ProductSpec) -> None:
        """Fetch the archives and the node tool."""
        for one in spec.variants:
            if one.variant.archive is not None:
                self._artefacts.unpacked(one.variant.archive, PROGRAM, thorough=True)
        self._artefacts.prepare_program("node-tool")

    def deploy(self, spec: VariantSpec, nodes: Sequence[Host], load: Host, expires: timedelta) -> None:
        """Start one node after the other, as nodes must join, and wait until clients can use all of them.

        Nodes that were started before are waited for like new ones. Raises DeployError, with the last log lines of a
        node that did not start.
        """
        if spec.variant.archive is None:
            raise DeployError("it names no archive", where=f"variant {spec.variant.id}", mend="run `plimsoll plan`")
        home = self._artefacts.unpacked(spec.variant.archive, PROGRAM)
        blueprint = Blueprint(home, spec.settings, nodes, expires)
        until = self._clock.now() + (spec.start_within or self._patience)
        patience = Patience(self._clock, until)
        with ThreadPoolExecutor(len(nodes) + 1) as pool:
            brought = [pool.submit(node.install, home) for node in nodes]
            pool.submit(self._tool.argv, load).result()
            [one.result() for one in brought]
        for node in nodes:
            start(node, blueprint)
            patience.await_line([(node, NODE)], _LISTENS)
        self._tool.probe(load, nodes, max(until - self._clock.now(), WHOLE), PRODUCT)

    def processes(self, variant: Variant) -> Sequence[Process]:  # noqa: ARG002 - every node runs the same program
        """Return the one program of a node."""
        files = NodeFiles(PurePosixPath())
        return [Process(PRODUCT, log=files.log.name, files=(str(files.kept / "*"), str(files.log)))]

    def fingerprint(self, variant: Variant, nodes: Sequence[Host]) -> Sequence[NodeFingerprint]:  # noqa: ARG002
        """Read what really runs on each node, as the node reports it."""
        return [fingerprint(node) for node in nodes]

    def hides_leftover_work(self, spec: VariantSpec) -> bool:  # noqa: ARG002
        """Return True, because clients can read in no table how many compactions are left."""
        return True

    def leftover_work(self, nodes: Sequence[Host], job_id: str) -> LeftoverWork | None:
        """Wait for compactions by the REST API, on the nodes' own machines."""
        return leftover_work(nodes, job_id, settle_command)

    def down(self, nodes: Sequence[Host]) -> Sequence[str]:
        """Return a sentence with the last log lines for each node that is not running."""
        return [sentence for node in nodes if (sentence := down(node, NODE))]

    def save(self, node: Host) -> None:
        """Save the node's metrics."""
        save_metrics(node)
