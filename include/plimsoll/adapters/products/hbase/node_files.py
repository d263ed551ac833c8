"""The paths of a process's files on its host."""

from dataclasses import dataclass
from pathlib import PurePosixPath

from plimsoll.adapters.products.nodes.jmx import JmxAccess
from plimsoll.adapters.products.nodes.process_files import ProcessFiles

LOG, GC_LOG, METRICS = "server.log", "gc.log", "metrics.json"
"""The names of a process's own log, which is not its console's, of its JVM's, and of what it tells of itself."""
FORMAT = "format-hdfs"
"""The id of the job that makes the NameNode's folder, once."""


@dataclass(frozen=True)
class RoleFiles(ProcessFiles):
    """All paths of one process. Its configuration is the first entry of its class path."""

    @property
    def scratch(self) -> PurePosixPath:
        """Return the folder where web servers and native libraries are unpacked. A killed process leaves them there."""
        return self.home / "tmp"

    @property
    def log(self) -> PurePosixPath:
        """Return the path of its own log."""
        return self.logs / LOG

    @property
    def jmx(self) -> JmxAccess:
        """Return the files that open JMX of all processes of the host to Plimsoll."""
        return JmxAccess(self.root / "jmx.password", self.root / "jmx.access")
