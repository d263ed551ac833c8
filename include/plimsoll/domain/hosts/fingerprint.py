"""The real environment of an attempt, read from its hosts, their processes and JVMs; and the origin of an imported one:
a run that somebody measured without Plimsoll, of which only what somebody states is known.
"""

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from plimsoll.domain.hosts.cluster import load_host_name
from plimsoll.domain.keys.host_bounds import HostFigures
from plimsoll.domain.keys.variant import Collector
from plimsoll.domain.text.base import LeftOutIfEmpty, Model

ENVIRONMENT_FACTS = (
    "operating system",
    "kernel",
    "CPU",
    "CPUs",
    "memory",
    "page size",
    "transparent huge pages",
    "swap",
    "instance type",
    "JVM",
    "JVM flags",
    "load generator",
    "load host",
)
"""The facts that Plimsoll reads from the hosts of a cell that it runs. Of an import, only what somebody states."""


class HostFacts(Model):
    """A host's hardware and operating system."""

    os: str
    kernel: str
    cpu_model: str
    cpus: int
    memory_bytes: int
    page_size_bytes: int
    transparent_huge_pages: str
    shared_huge_pages: Annotated[str, Field(description="Transparent huge pages of shared memory, such as ZGC's heap")]
    swap_bytes: int = 0
    utc_offset_s: Annotated[
        int | None, Field(description="Local time less UTC, s: the zone of logs that leave it out; none: not known")
    ] = None
    data_disk: Annotated[str, Field(description="What the disk of its folder is, and its size")]
    data_disk_device: Annotated[str, Field(description="Its device, whose name may differ between equal hosts")]
    provider: dict[str, str] = {}


class JvmFacts(Model):
    """Facts that a running JVM reports about itself."""

    version: Annotated[str, Field(description="java.runtime.version, such as 11.0.13+8")]
    vendor: str
    name: str
    collector: Collector | None
    collector_beans: tuple[str, ...]
    heap_max_bytes: int
    arguments: tuple[str, ...]
    flags: Annotated[dict[str, str], Field(description="Flags that the running JVM reports")]


class ProcessFingerprint(Model):
    """The environment of one process of a database node."""

    name: str
    jvm: Annotated[JvmFacts | None, Field(description="None: the process runs in no JVM")] = None
    version: Annotated[LeftOutIfEmpty[str], Field(description="Empty: that of the database")] = ""


class NodeFingerprint(Model):
    """The environment of one database node."""

    host: str
    address: str
    facts: HostFacts
    processes: tuple[ProcessFingerprint, ...]
    database: str
    database_version: str
    archive: Annotated[
        LeftOutIfEmpty[str], Field(description="Archive that it was started from, with its sha256; empty: a release")
    ] = ""
    clock_offset_ms: Annotated[float, Field(description="Host's clock less the controller's, ms")] = 0.0


class ReportedNode(Model):
    """What a database that somebody else runs tells of one of its nodes. All else is not known."""

    address: str
    data_centre: str
    rack: str
    release_version: str
    facts: Annotated[
        LeftOutIfEmpty[dict[str, str]], Field(description="What else it told, by a command of the definition")
    ] = {}


class Fingerprint(Model):
    """The whole environment of an attempt."""

    nodes: tuple[NodeFingerprint, ...]
    load_host: Annotated[HostFacts, Field(description="The first load host")]
    further_load_hosts: Annotated[dict[str, HostFacts], Field(description="The others, by name")] = {}
    load_clock_offset_ms: Annotated[float, Field(description="First load host's clock less the controller's, ms")] = 0.0
    load_generator: Annotated[str, Field(description="Name and version of the generator, and what it runs on")]
    reported_nodes: Annotated[
        LeftOutIfEmpty[tuple[ReportedNode, ...]],
        Field(description="Nodes that somebody else runs, in the place of `nodes`, by the database's own tables"),
    ] = ()
    counted_rows: Annotated[
        int | None, Field(description="Rows that make the size on disk that was asked for; none: no size was")
    ] = None
    canary: Annotated[tuple[HostFigures, ...], Field(description="What hosts reached before their load")] = ()
    cluster: Annotated[str, Field(description="Name of the kept hosts, `hosts/2`; empty: hosts of the cell alone")] = ""
    replaces: Annotated[str, Field(description="Why these kept hosts took the place of others; empty: first ones")] = ""
    data_of: Annotated[
        LeftOutIfEmpty[tuple[str, ...]],
        Field(
            description="Attempts whose loads ran on the same data before, as `cell/attempt`, the one that populated "
            "first; empty: data of its own"
        ),
    ] = ()

    @property
    def load_hosts(self) -> dict[str, HostFacts]:
        return {load_host_name(1): self.load_host, **self.further_load_hosts}

    @property
    def runs_several(self) -> bool:
        """Tell whether nodes run several processes, so that reports must name the process of a figure."""
        return any(len(node.processes) > 1 for node in self.nodes)

    def ahead_ms(self) -> dict[str, float]:
        """Tell how far each node's clock is ahead of the load host's, ms. Subtract it from the node's times."""
        return {node.host: node.clock_offset_ms - self.load_clock_offset_ms for node in self.nodes}


class Provenance(Model):
    """The origin of an imported attempt, how its files were read, and which facts about it are missing."""

    source: Annotated[str, Field(description="Who published the data, and where")]
    licence: str = ""
    files: Annotated[tuple[str, ...], Field(description="Names at the source, in the order of the manifest")]
    format: Annotated[str, Field(description="What the files were taken for; empty before they are judged")] = ""
    unit_taken: Annotated[
        str, Field(description="Unit that the values were taken to be in, and why; empty before they are judged")
    ] = ""
    forced_format: Annotated[str | None, Field(description="Format that the user named, if any")] = None
    unit: Annotated[Literal["ms", "us", "ns"] | None, Field(description="Of histograms' values, if given")] = None
    tags: Annotated[tuple[str, ...], Field(description="Of logs with tags, those that are judged; none: all")] = ()
    columns: Annotated[
        LeftOutIfEmpty[dict[str, str]], Field(description="Of a log of operations: what each column holds, if given")
    ] = {}
    operations: Annotated[dict[str, str], Field(description="Further operations' names → reads or writes")] = {}
    loaders: Annotated[
        LeftOutIfEmpty[dict[str, tuple[str, ...]]],
        Field(description="Load generators that shared the load, each with its files; none: not told apart"),
    ] = {}
    environment: Annotated[dict[str, str], Field(description="Facts as stated by the person who imported it")] = {}
    unknown: Annotated[
        tuple[str, ...], Field(description="Facts that nobody stated, and the definition's keys left at their defaults")
    ] = ()
    imported_at: AwareDatetime
