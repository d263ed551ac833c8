"""The paths of a process's files on its host."""

from dataclasses import dataclass
from pathlib import PurePosixPath

from plimsoll.adapters.hosts.jobs import console_path
from plimsoll.adapters.products.nodes.jmx import JmxAccess

LOG, GC_LOG, METRICS = "server.log", "gc.log", "metrics.json"
"""The names of a process's own log, which is not its console's, of its JVM's, and of what it tells of itself."""
FORMAT = "format-hdfs"
"""The id of the job that makes the NameNode's folder, once."""


@dataclass(frozen=True)
class RoleFiles:
    """All paths of one process, `name`, below its host's root."""

    root: PurePosixPath
    name: str

    @property
    def home(self) -> PurePosixPath:
        """Return the process's folder and working directory."""
        return self.root / self.name

    @property
    def data(self) -> PurePosixPath:
        """Return the folder of everything that the process stores. No second one may use it."""
        return self.home / "data"

    @property
    def scratch(self) -> PurePosixPath:
        """Return the folder where web servers and native libraries are unpacked. A killed process leaves them there."""
        return self.home / "tmp"

    @property
    def configuration(self) -> PurePosixPath:
        """Return the folder of its configuration, which is the first entry of its class path."""
        return self.home / "conf"

    @property
    def logs(self) -> PurePosixPath:
        """Return the folder of everything that is worth keeping."""
        return self.home / "logs"

    @property
    def log(self) -> PurePosixPath:
        """Return the path of its own log."""
        return self.logs / LOG

    @property
    def console(self) -> PurePosixPath:
        """Return the output of the process. Only here does the JVM say why it does not start."""
        return console_path(self.root, self.name)

    @property
    def jmx(self) -> JmxAccess:
        """Return the files that open JMX of all processes of the host to Plimsoll."""
        return JmxAccess(self.root / "jmx.password", self.root / "jmx.access")
