"""The command that starts a node, and the JVM flags in it. Pure.

Not every published benchmark names all flags. Those that it does not name are the flags that Cassandra ships:

- `azul-2022` names only the heap, 40 GB for every collector: flag set `shipped`. CMS and G1 get the flags that the
  release ships (`release.py`), and the young generation of CMS gets the size that `cassandra-env.sh` computes. No
  release ships flags for Shenandoah, ZGC, Parallel, Serial and C4, so these run with the JDK's defaults.
- `tlp-2020` names all flags of its collectors: flag set `tlp-2020`. Only JDK 8 gets `-XX:+UseParNewGC` of its CMS
  flags, because later JDKs do not start with it.

With both sets CMS also gets the flag that `cassandra-env.sh` adds to it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from plimsoll.adapters.artefacts.java_programs import Installation
from plimsoll.adapters.products.cassandra.node_files import GC_LOG, NodeFiles
from plimsoll.adapters.products.cassandra.release import CMS_FLAGS, Release
from plimsoll.adapters.products.nodes.jvm_flags import (
    CHOICE,
    file_url,
    gc_log_flags,
    heap_flags,
    jdk_major,
    whole_mebibytes,
)
from plimsoll.adapters.products.nodes.own_machine import jmx_flags
from plimsoll.domain.keys.variant import Collector, JvmConfiguration

JMX_PORT = 7199
_MIB = 1 << 20

TLP_2020: dict[Collector, tuple[str, ...]] = {
    "CMS": (*CMS_FLAGS, "-XX:ParallelGCThreads=8", "-XX:ConcGCThreads=8"),
    "G1": (
        "-XX:+UseG1GC",
        "-XX:G1RSetUpdatingPauseTimePercent=5",
        "-XX:MaxGCPauseMillis=300",
        "-XX:InitiatingHeapOccupancyPercent=70",
        "-XX:ParallelGCThreads=8",
        "-XX:ConcGCThreads=8",
    ),
    "ZGC": (
        "-XX:+UnlockExperimentalVMOptions",
        "-XX:+UseZGC",
        "-XX:ConcGCThreads=8",
        "-XX:ParallelGCThreads=8",
        "-XX:+UseTransparentHugePages",
        "-verbose:gc",
    ),
    "Shenandoah": (
        "-XX:+UnlockExperimentalVMOptions",
        "-XX:+UseShenandoahGC",
        "-XX:ConcGCThreads=8",
        "-XX:ParallelGCThreads=8",
        "-XX:+UseTransparentHugePages",
    ),
}


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
        *_file_arguments(installation, place.files),
        *jmx_flags(place.address, JMX_PORT, place.files.jmx),
        *_START,
        *flags,
        "-cp",
        ":".join(str(jar) for jar in installation.jars),
        "org.apache.cassandra.service.CassandraDaemon",
    )


def jvm_arguments(release: Release, jvm: JvmConfiguration, cpus: int) -> tuple[str, ...]:
    """Return the JVM arguments of a variant. Its own flags come last, as the JVM takes the later of two."""
    return (
        *release.jvm_flags,
        *release.jdk_flags[jdk_major(jvm)],
        *heap_flags(jvm),
        *collector_flags(release, jvm, cpus),
        *jvm.flags,
    )


# A new cluster has no ring to settle and nobody to say goodbye to.
_START = (
    *("-Duser.language=en", "-Duser.country=US"),  # For the numbers in its logs, whatever its host's language
    "-Dcassandra-foreground=yes",  # Otherwise a node closes its standard output
    "-Dcassandra.skip_wait_for_gossip_to_settle=0",
    "-Dcassandra.superuser_setup_delay_ms=0",
    "-Dcassandra.shutdown_announce_in_ms=0",
)


def _file_arguments(installation: Installation, files: NodeFiles) -> Iterator[str]:
    yield f"-XX:ErrorFile={files.logs}/hs_err_%p.log"
    yield f"-XX:CompileCommandFile={files.compiler_hints}"
    # Native libraries are unpacked there, and a node that is killed leaves them.
    yield f"-Djava.io.tmpdir={files.home}"
    # The agent that measures objects
    yield from (f"-javaagent:{jar}" for jar in installation.jars if jar.name.startswith("jamm-"))
    yield f"-Dlogback.configurationFile={file_url(files.logback)}"
    yield f"-Dcassandra.config={file_url(files.settings)}"
    yield f"-Dcassandra.logdir={files.logs}"
    yield f"-Dcassandra.storagedir={files.data}"


def collector_flags(release: Release, jvm: JvmConfiguration, cpus: int) -> tuple[str, ...]:
    """Return the flags that choose and tune the variant's collector. `cpus` is the number of the node's processors."""
    is_cms = jvm.collector == "CMS"
    if jvm.flag_set == "tlp-2020":
        beside_cms = ("-XX:+UseParNewGC",) if is_cms and jdk_major(jvm) == 8 else ()
        # The publication has a young generation of half the heap: `-Xmx16G -Xmn8G`
        flags, young = (*beside_cms, *TLP_2020[jvm.collector]), jvm.heap // 2
    else:
        flags = release.collector_flags.get(jvm.collector, CHOICE[jvm.collector])
        young = min(100 * _MIB * cpus, jvm.heap // 4)
    # `cassandra-env.sh` of every release line adds the first on 64 bits, whichever flags choose the collector. Only
    # CMS needs the size of the young generation.
    return (*flags, "-XX:+UseCondCardMark", f"-Xmn{whole_mebibytes(young)}") if is_cms else flags
