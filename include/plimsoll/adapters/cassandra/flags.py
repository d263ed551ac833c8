"""The JVM flags that make a node of a variant.

The published benchmarks name flags to a different degree, and what they do not name they took from Cassandra:

- `azul-2022` gives the heap (40 GB for every collector) and names nothing else: flag set `shipped`. For CMS and G1
  those are the release's own (`cassandra_4_0.py` and its like), with the young generation of CMS sized as
  `cassandra-env.sh` does it. For Shenandoah, ZGC, Parallel, Serial and C4 no release has any, so the JDK's defaults
  hold.
- `tlp-2020` names them all: flag set `tlp-2020`. `-XX:+UseParNewGC` of its CMS set is given to JDK 8 alone: a later
  JDK does not start with it.
"""

from plimsoll.adapters.cassandra.release import Release
from plimsoll.domain.units import format_size
from plimsoll.domain.variant import Collector, JvmConfiguration

_MIB = 1 << 20

# What it takes to choose a collector. C4 is the only one that its JVM has.
CHOICE: dict[Collector, tuple[str, ...]] = {
    "G1": ("-XX:+UseG1GC",),
    "CMS": ("-XX:+UseConcMarkSweepGC",),
    "Shenandoah": ("-XX:+UseShenandoahGC",),
    "ZGC": ("-XX:+UnlockExperimentalVMOptions", "-XX:+UseZGC"),
    "Parallel": ("-XX:+UseParallelGC",),
    "Serial": ("-XX:+UseSerialGC",),
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
_TOLD_BY_JDK_8 = (
    "GCDetails",
    "GCDateStamps",
    "HeapAtGC",
    "TenuringDistribution",
    "GCApplicationStoppedTime",
    "PromotionFailure",
)


def collector_flags(release: Release, jvm: JvmConfiguration, cpus: int) -> tuple[str, ...]:
    """The flags that choose the variant's collector and tune it; `cpus` are the node's."""
    if jvm.flag_set == "tlp-2020":
        beside_cms = ("-XX:+UseParNewGC",) if jvm.collector == "CMS" and jdk_major(jvm) == 8 else ()
        return (*beside_cms, *TLP_2020[jvm.collector], *_young(jvm, jvm.heap // 2))
    shipped = release.collector_flags.get(jvm.collector, CHOICE[jvm.collector])
    return (*shipped, *_young(jvm, min(100 * _MIB * cpus, jvm.heap // 4)))


def heap_flags(jvm: JvmConfiguration) -> tuple[str, ...]:
    """Minimum and maximum alike."""
    return f"-Xms{_whole(jvm.heap)}", f"-Xmx{_whole(jvm.heap)}"


def gc_log_flags(jvm: JvmConfiguration, path: str) -> tuple[str, ...]:
    """Collections and safepoints into one file that is never rotated away; on JDK 8 as Cassandra asks for them."""
    if jdk_major(jvm) > 8:
        return (f"-Xlog:gc*,safepoint:file={path}:time,uptime,level,tags:filecount=0",)
    return (f"-Xloggc:{path}", *(f"-XX:+Print{what}" for what in _TOLD_BY_JDK_8))


def jdk_major(jvm: JvmConfiguration) -> int:
    """11 of `openjdk-11.0.13`, 8 of `openjdk-1.8.0`."""
    numbers = [int(number) for number in jvm.jdk_version.split(".")]
    return numbers[1] if numbers[0] == 1 else numbers[0]


def _young(jvm: JvmConfiguration, size: int) -> tuple[str, ...]:
    """Only CMS wants to be told the size of its young generation."""
    return (f"-Xmn{_whole(size)}",) if jvm.collector == "CMS" else ()


def _whole(size: int) -> str:
    """Whole mebibytes: the JVM takes no fractions."""
    return format_size(size // _MIB * _MIB)
