"""Where the files of a node lie on its host."""

from dataclasses import dataclass
from pathlib import PurePosixPath

JOB = "cassandra"
"""Id of the job that is the node."""


@dataclass(frozen=True)
class NodeFiles:
    """Everything of one node, below its host's root."""

    root: PurePosixPath

    @property
    def home(self) -> PurePosixPath:
        """The node's own folder, and its working directory: heap dumps and unpacked libraries land here."""
        return self.root / "cassandra"

    @property
    def data(self) -> PurePosixPath:
        """Tables, commit log, hints and caches: no second node may use it."""
        return self.home / "data"

    @property
    def configuration(self) -> PurePosixPath:
        """`cassandra.yaml` and what else is written for the node."""
        return self.home / "conf"

    @property
    def logs(self) -> PurePosixPath:
        """What the node itself writes down."""
        return self.home / "logs"

    @property
    def settings(self) -> PurePosixPath:
        """The settings as rendered."""
        return self.configuration / "cassandra.yaml"

    @property
    def logback(self) -> PurePosixPath:
        """Configuration of the logging library."""
        return self.configuration / "logback.xml"

    @property
    def compiler_hints(self) -> PurePosixPath:
        """What the release tells the JIT compiler to inline and what not."""
        return self.configuration / "hotspot_compiler"

    @property
    def command(self) -> PurePosixPath:
        """The whole command, an argument a line, for people. Among the logs: the JVM opens one there at once."""
        return self.logs / "command.txt"

    @property
    def system_log(self) -> PurePosixPath:
        """Cassandra's own log."""
        return self.logs / "system.log"

    @property
    def gc_log(self) -> PurePosixPath:
        """Collections and safepoints."""
        return self.logs / "gc.log"

    @property
    def console(self) -> PurePosixPath:
        """What the process printed: the JVM's own refusals are only here."""
        return self.root / "jobs" / f"{JOB}.log"
