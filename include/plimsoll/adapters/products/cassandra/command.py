"""The command that starts a node. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from plimsoll.adapters.products.cassandra.flags import collector_flags
from plimsoll.adapters.products.cassandra.node_files import GC_LOG, NodeFiles
from plimsoll.adapters.products.cassandra.release import Release
from plimsoll.adapters.products.nodes.java import Installation, file_url
from plimsoll.adapters.products.nodes.jmx import jmx_flags
from plimsoll.adapters.products.nodes.jvm_flags import gc_log_flags, heap_flags, jdk_major
from plimsoll.domain.variant import JvmConfiguration

JMX_PORT = 7199


@dataclass(frozen=True)
class NodePlace:
    """The place of a node: its host, addresses and folders."""

    address: str
    cpus: int
    files: NodeFiles
    gc_log: str = GC_LOG


def node_command(
    release: Release, jvm: JvmConfiguration, installation: Installation, place: NodePlace, flags: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the program and the arguments of a node. `flags`: those that only this start needs."""
    return (
        str(installation.java),
        *jvm_arguments(release, jvm, place.cpus),
        *gc_log_flags(jvm, str(place.files.logs / place.gc_log)),
        *_file_arguments(release, installation, place.files),
        *jmx_flags(place.address, JMX_PORT, place.files.jmx),
        *_START,
        *flags,
        "-cp",
        ":".join(str(jar) for jar in installation.jars),
        "org.apache.cassandra.service.CassandraDaemon",
    )


def jvm_arguments(release: Release, jvm: JvmConfiguration, cpus: int) -> tuple[str, ...]:
    """Return the JVM arguments of a variant.

    Its own flags come last, because the JVM takes the later one of two flags.
    """
    return (
        *release.jvm_flags,
        *release.jdk_flags[jdk_major(jvm)],
        *heap_flags(jvm),
        *collector_flags(release, jvm, cpus),
        *jvm.flags,
    )


# A new cluster has no ring to settle and nobody to say goodbye to.
_START = (
    "-Dcassandra-foreground=yes",
    "-Dcassandra.skip_wait_for_gossip_to_settle=0",
    "-Dcassandra.superuser_setup_delay_ms=0",
    "-Dcassandra.shutdown_announce_in_ms=0",
)


def _file_arguments(release: Release, installation: Installation, files: NodeFiles) -> Iterator[str]:
    yield f"-XX:ErrorFile={files.logs}/hs_err_%p.log"
    yield f"-XX:CompileCommandFile={files.compiler_hints}"
    # Native libraries are unpacked there, and a node that is killed leaves them.
    yield f"-Djava.io.tmpdir={files.home}"
    yield from (f"-javaagent:{jar}" for jar in installation.jars if jar.name.startswith(release.agent_jar))
    yield f"-Dlogback.configurationFile={file_url(files.logback)}"
    yield f"-Dcassandra.config={file_url(files.settings)}"
    yield f"-Dcassandra.logdir={files.logs}"
    yield f"-Dcassandra.storagedir={files.data}"
