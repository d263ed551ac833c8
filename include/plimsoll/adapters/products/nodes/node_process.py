"""The one process of a node."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath


@dataclass(frozen=True)
class NodeProcess:
    """The product's name, which is the id of the process's job too, and the paths of its logs below a host's root.

    The first log is the one in which the process says that it is up.
    """

    name: str
    logs: Callable[[PurePosixPath], Sequence[PurePosixPath]]
