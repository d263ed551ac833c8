"""The one process of a node, and what its logs say in words of its product."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath


@dataclass(frozen=True)
class LogWords:
    """Patterns of a product's own in its logs, beside those of a JVM and of the system.

    `noise`: beginnings of lines that explain nothing; `repeats`: the beginning of a line that only repeats an earlier
    error; `remedies`: errors, each with advice, of which the first match counts.
    """

    noise: Sequence[str] = ()
    repeats: str = ""
    remedies: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class NodeProcess:
    """The product's name, which is the id of the process's job too, and the paths of its logs below a host's root.

    The first log is the one in which the process says that it is up.
    """

    name: str
    logs: Callable[[PurePosixPath], Sequence[PurePosixPath]]
    words: LogWords = LogWords()
