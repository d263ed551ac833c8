"""Flags of JVMs that no product changes: heap, choice of the collector, GC log, access to a JDK's packages."""

from plimsoll.adapters.artefacts.collector_flags import COLLECTOR_FLAGS
from plimsoll.domain.units import format_size
from plimsoll.domain.variant import Collector, JvmConfiguration

_MIB = 1 << 20

# What chooses a collector. C4 has no flag, and JDK 11 offers ZGC only as an experiment.
CHOICE: dict[Collector, tuple[str, ...]] = {
    **{collector: (f"-XX:+{flag}",) for collector, flag in COLLECTOR_FLAGS.items()},
    "ZGC": ("-XX:+UnlockExperimentalVMOptions", f"-XX:+{COLLECTOR_FLAGS['ZGC']}"),
    "C4": (),
}

# conf/jvm.options of Cassandra 3.11 and conf/jvm8-server.options of 4.0.
_PRINTED_BY_JDK_8 = (
    "GCDetails",
    "GCDateStamps",
    "HeapAtGC",
    "TenuringDistribution",
    "GCApplicationStoppedTime",
    "PromotionFailure",
)


def heap_flags(jvm: JvmConfiguration) -> tuple[str, ...]:
    """Return the flags of the heap, whose minimum and maximum are equal unless the variant has an `initial_heap`."""
    return f"-Xms{whole_mebibytes(jvm.initial_heap or jvm.heap)}", f"-Xmx{whole_mebibytes(jvm.heap)}"


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


def whole_mebibytes(size: int) -> str:
    """Return the size in whole mebibytes, because the JVM takes no fractions."""
    return format_size(size // _MIB * _MIB)


def exported(*packages: str) -> tuple[str, ...]:
    """Return the flags with which a JDK that has modules exports these packages."""
    return tuple(f"--add-exports={package}=ALL-UNNAMED" for package in packages)


def opened(*packages: str) -> tuple[str, ...]:
    """Return the flags with which such a JDK opens these packages to reflection."""
    return tuple(f"--add-opens={package}=ALL-UNNAMED" for package in packages)
