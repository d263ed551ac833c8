"""What all products have of a node's process: the paths of its files, the times in its logs, and what these say,
even where nobody reads them.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from pathlib import PurePosixPath

from plimsoll.adapters.hosts.jobs import console_path
from plimsoll.domain.keys.process import Event, EventKind, LogLine
from plimsoll.ports.product import Evidence


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


@dataclass(frozen=True)
class ProcessFiles:
    """The paths of one process, `name`, below its host's root."""

    root: PurePosixPath
    name: str

    @property
    def home(self) -> PurePosixPath:
        """Return the folder of the process, and its working directory. Heap dumps are written here."""
        return self.root / self.name

    @property
    def data(self) -> PurePosixPath:
        """Return the folder of everything that the process stores. No second one may use it."""
        return self.home / "data"

    @property
    def configuration(self) -> PurePosixPath:
        """Return the folder of the files that are written for the process."""
        return self.home / "conf"

    @property
    def logs(self) -> PurePosixPath:
        """Return the folder of the process's own logs, and of what else is worth keeping."""
        return self.home / "logs"

    @property
    def console(self) -> PurePosixPath:
        """Return the output of the process. Only here does a JVM say why it does not start."""
        return console_path(self.root, self.name)


class UnreadLogs(Evidence):
    """An implementation of the Evidence port for logs whose form is not known, or which nobody here has."""

    kinds: Sequence[EventKind] = ()

    def events(self, process: str, text: str, zone: tzinfo) -> Sequence[Event]:  # noqa: ARG002 - nobody can read it
        """Return nothing."""
        return ()

    def lines(self, process: str, text: str, zone: tzinfo) -> Sequence[LogLine]:  # noqa: ARG002 - nobody can read it
        """Return nothing."""
        return ()


def time_of(line: re.Match[str], zone: tzinfo) -> datetime:
    """Parse the group `time` of a matched line."""
    return datetime.strptime(line["time"], "%Y-%m-%d %H:%M:%S,%f").replace(tzinfo=zone)


def timed_lines(pattern: re.Pattern[str], text: str, zone: tzinfo) -> Sequence[LogLine]:
    """Return the lines that begin as the pattern says."""
    matches = filter(None, map(pattern.match, text.splitlines()))
    return tuple(LogLine(time_of(match, zone), match[0]) for match in matches)
