"""The JVM flags of a variant's nodes.

Not every published benchmark names all flags. Those that it does not name are the flags that Cassandra ships:

- `azul-2022` names only the heap, 40 GB for every collector: flag set `shipped`. CMS and G1 get the flags that the
  release ships (`cassandra_4_0.py` and the modules of other releases), and the young generation of CMS gets the size
  that `cassandra-env.sh` computes. No release ships flags for Shenandoah, ZGC, Parallel, Serial and C4, so these run
  with the JDK's defaults.
- `tlp-2020` names all flags of its collectors: flag set `tlp-2020`. Only JDK 8 gets `-XX:+UseParNewGC` of its CMS
  flags, because later JDKs do not start with it.

With both sets CMS also gets the flag that `cassandra-env.sh` adds to it.
"""

from plimsoll.adapters.artefacts.collector_flags import COLLECTOR_FLAGS
from plimsoll.adapters.products.cassandra.release import Release
from plimsoll.domain.units import format_size
from plimsoll.domain.variant import Collector, JvmConfiguration

_MIB = 1 << 20

# What chooses a collector. C4 has no flag, and JDK 11 offers ZGC only as an experiment.
CHOICE: dict[Collector, tuple[str, ...]] = {
    **{collector: (f"-XX:+{flag}",) for collector, flag in COLLECTOR_FLAGS.items()},
    "ZGC": ("-XX:+UnlockExperimentalVMOptions", f"-XX:+{COLLECTOR_FLAGS['ZGC']}"),
    "C4": (),
}

TLP_2020: dict[Collector, tuple[str, ...]] = {
    "CMS": (
        "-XX:+UseConcMarkSweepGC",
        "-XX:+CMSParallelRemarkEnabled",
        "-XX:SurvivorRatio=8",
        "-XX:MaxTenuringThreshold=1",
        "-XX:CMSInitiatingOccupancyFraction=75",
        "-XX:+UseCMSInitiatingOccupancyOnly",
        "-XX:CMSWaitDuration=10000",
        "-XX:+CMSParallelInitialMarkEnabled",
        "-XX:+CMSEdenChunksRecordAlways",
        "-XX:+CMSClassUnloadingEnabled",
        "-XX:ParallelGCThreads=8",
        "-XX:ConcGCThreads=8",
    ),
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


# conf/jvm.options of 3.11 and conf/jvm8-server.options of 4.0.
_PRINTED_BY_JDK_8 = (
    "GCDetails",
    "GCDateStamps",
    "HeapAtGC",
    "TenuringDistribution",
    "GCApplicationStoppedTime",
    "PromotionFailure",
)

# What `cassandra-env.sh` of every release line adds on 64 bits, whichever flags choose the collector.
_ADDED: dict[Collector, tuple[str, ...]] = {"CMS": ("-XX:+UseCondCardMark",)}


def collector_flags(release: Release, jvm: JvmConfiguration, cpus: int) -> tuple[str, ...]:
    """Return the flags that choose and tune the variant's collector. `cpus` is the number of the node's processors."""
    if jvm.flag_set == "tlp-2020":
        beside_cms = ("-XX:+UseParNewGC",) if jvm.collector == "CMS" and jdk_major(jvm) == 8 else ()
        return (*beside_cms, *TLP_2020[jvm.collector], *_added(jvm), *_young(jvm, jvm.heap // 2))
    shipped = release.collector_flags.get(jvm.collector, CHOICE[jvm.collector])
    return (*shipped, *_added(jvm), *_young(jvm, min(100 * _MIB * cpus, jvm.heap // 4)))


def heap_flags(jvm: JvmConfiguration) -> tuple[str, ...]:
    """Return the flags of the heap, whose minimum and maximum are equal unless the variant has an `initial_heap`."""
    return f"-Xms{_whole(jvm.initial_heap or jvm.heap)}", f"-Xmx{_whole(jvm.heap)}"


def gc_log_flags(jvm: JvmConfiguration, path: str) -> tuple[str, ...]:
    """Return the flags that log collections and safepoints to one file without rotation.

    JDK 8 gets the flags of Cassandra.
    """
    if jdk_major(jvm) > 8:
        return (f"-Xlog:gc*,safepoint:file={path}:time,uptime,level,tags:filecount=0",)
    return (f"-Xloggc:{path}", *(f"-XX:+Print{what}" for what in _PRINTED_BY_JDK_8))


def jdk_major(jvm: JvmConfiguration) -> int:
    """Return the JDK's major version: 11 for `openjdk-11.0.13`, 8 for `openjdk-1.8.0`."""
    numbers = [int(number) for number in jvm.jdk_version.split(".")]
    return numbers[1] if numbers[0] == 1 else numbers[0]


def _added(jvm: JvmConfiguration) -> tuple[str, ...]:
    return _ADDED.get(jvm.collector, ())


def _young(jvm: JvmConfiguration, size: int) -> tuple[str, ...]:
    """Return the flag for the size of the young generation, which only CMS needs."""
    return (f"-Xmn{_whole(size)}",) if jvm.collector == "CMS" else ()


def _whole(size: int) -> str:
    """Return the size in whole mebibytes, because the JVM takes no fractions."""
    return format_size(size // _MIB * _MIB)
