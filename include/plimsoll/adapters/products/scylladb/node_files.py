"""The paths of a node's files on its host."""

from dataclasses import dataclass
from pathlib import PurePosixPath

from plimsoll.adapters.products.nodes.node_process import LogWords, NodeProcess
from plimsoll.adapters.products.nodes.process_files import ProcessFiles

PRODUCT = "scylladb"
"""The name of ScyllaDB in definitions, of a node's job and of its process."""
SETTINGS, IO_PROPERTIES, COMMAND, METRICS = "scylla.yaml", "io_properties.yaml", "command.txt", "metrics.txt"
"""The files that are kept: settings, what the disk can do, the command for people, and metrics in Prometheus' form."""


@dataclass(frozen=True)
class NodeFiles(ProcessFiles):
    """All paths of one node, below its host's root."""

    name: str = PRODUCT

    @property
    def kept(self) -> PurePosixPath:
        """Return the folder of everything that is worth keeping, except for the log."""
        return self.home / "kept"

    @property
    def log(self) -> PurePosixPath:
        """Return the node's log: ScyllaDB writes it to its standard output."""
        return self.console


_WORDS = LogWords(
    remedies=(
        (r"aio-max-nr|[Cc]ould not setup Async I/O", "raise `fs.aio-max-nr` of the host"),
        (r"Unable to contact any seeds", "see that the hosts reach each other by network"),
    )
)
NODE = NodeProcess(PRODUCT, lambda root: (NodeFiles(root).log,), _WORDS)
