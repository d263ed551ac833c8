"""Release lines of Cassandra: everything that differs from one line to the next. 4.0 is as shipped, with the values of
`conf/` in release 4.0.1; the others as they differ from 4.0.

The jars on Maven Central come without `conf/`. Published benchmarks of 4.0 used the files of the release that they ran,
except for the changes that they name. Nodes started here therefore get the same values.

Cassandra 3.11 runs on JDK 8 only. The values of 4.0 before its betas were read in the tarball of 4.0-alpha2, which is
on Maven Central. 4.0-alpha4 is of April 2020; Cassandra changed the two settings in July 2020, before the first beta.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from pydantic import JsonValue

from plimsoll.adapters.products.nodes.jvm_flags import exported, opened
from plimsoll.domain.keys.variant import Collector

PRODUCT = "cassandra"
"""The name of Cassandra in definitions."""


@dataclass(frozen=True)
class Release:
    """One release line, such as 4.0. A new release line is a new object of this class."""

    line: str
    settings: Mapping[str, JsonValue]
    """`cassandra.yaml` as shipped, without the settings that differ from node to node."""
    jvm_flags: tuple[str, ...]
    """The flags for every JDK and collector."""
    jdk_flags: Mapping[int, tuple[str, ...]]
    """Flags by the JDK's major version. This release line can't run on a JDK that is missing here."""
    collector_flags: Mapping[Collector, tuple[str, ...]]
    """Flags by collector, as shipped. A collector that is missing here gets only the flags that choose it."""
    listening: str
    """Text of the log line that says that other nodes can connect."""
    ready: str
    """Text of the log line that says that clients can connect."""
    allocation_setting: str = ""
    """The setting by which a joining node chooses tokens for a number of replicas; empty: it takes random ones."""
    reports_compactions: bool = True
    """Whether clients can ask a node for its compactions (virtual tables)."""


def maven_roots(version: str) -> tuple[str, ...]:
    """Return the Maven coordinates that a release is resolved from."""
    # Clients of the old protocol are a dependency of 3.x that its own coordinates leave out.
    thrift = (f"org.apache.cassandra:cassandra-thrift:{version}",) if version.startswith("3.") else ()
    return (f"org.apache.cassandra:cassandra-all:{version}", *thrift)


SETTINGS: Mapping[str, JsonValue] = {
    # Lines of conf/cassandra.yaml that differ from the defaults in the code, and settings without a default.
    "num_tokens": 16,
    "partitioner": "org.apache.cassandra.dht.Murmur3Partitioner",
    "endpoint_snitch": "SimpleSnitch",
    "commitlog_sync": "periodic",
    "commitlog_sync_period_in_ms": 10000,
    "disk_failure_policy": "stop",
    "commit_failure_policy": "stop",
    "compaction_throughput_mb_per_sec": 64,
    "internode_compression": "dc",
    "inter_dc_tcp_nodelay": False,
}

# The end of conf/jvm-server.options, of conf/jvm.options before 4.0, and the one JVM option that conf/cassandra-env.sh
# adds for every collector.
_LAST_FLAGS = (
    "-XX:+AlwaysPreTouch",
    "-XX:-UseBiasedLocking",
    "-XX:+UseTLAB",
    "-XX:+ResizeTLAB",
    "-XX:+UseNUMA",
    "-XX:+PerfDisableSharedMem",
    "-Djava.net.preferIPv4Stack=true",
    "-XX:OnOutOfMemoryError=kill -9 %p",
)
# conf/jvm-server.options
JVM_FLAGS = (
    "-ea",
    "-da:net.openhft...",
    "-XX:+UseThreadPriorities",
    "-XX:+HeapDumpOnOutOfMemoryError",
    "-Xss256k",
    *_LAST_FLAGS,
)


def _of_base(*packages: str) -> tuple[str, ...]:
    return tuple(f"java.base/{package}" for package in packages)


_RMI_AND_SQL = (
    "java.management.rmi/com.sun.jmx.remote.internal.rmi",
    "java.rmi/sun.rmi.registry",
    "java.rmi/sun.rmi.server",
    "java.sql/java.sql",
)
_OPENS = (
    *_of_base("java.lang.module", "jdk.internal.loader", "jdk.internal.ref", "jdk.internal.reflect"),
    *_of_base("jdk.internal.math", "jdk.internal.module", "jdk.internal.util.jar"),
    "jdk.management/com.sun.management.internal",
)

# conf/jvm11-server.options, which the start script takes for every JDK from 11 on; without the exports and opens the
# JVM ends with exit code 3. JDKs before 16 open all other packages that JDK 8 had.
_FROM_11 = (
    "-Djdk.attach.allowAttachSelf=true",
    *exported(*_of_base("jdk.internal.misc", "jdk.internal.ref", "sun.nio.ch"), *_RMI_AND_SQL),
    *opened(*_OPENS),
    "-Dio.netty.tryReflectionSetAccessible=true",
)
# conf/jvm17-server.options of 5.0, less the cache of Netty.
_ON_17 = (
    "-Djdk.attach.allowAttachSelf=true",
    *exported(
        "java.base/jdk.internal.misc",
        *_RMI_AND_SQL,
        "java.base/java.lang.ref",
        "jdk.unsupported/sun.misc",
        "jdk.compiler/com.sun.tools.javac.file",
        "jdk.attach/sun.tools.attach",
    ),
    *opened(
        *_OPENS,
        *_of_base("sun.nio.ch", "java.io", "java.lang.reflect"),
        "jdk.compiler/com.sun.tools.javac",
        *_of_base("java.lang", "java.util"),
    ),
    "-Dio.netty.tryReflectionSetAccessible=true",
)
# JDKs from 16 on close packages to reflection unless a flag opens them. 4.0 ships no options for these JDKs. Its jamm
# reads fields of the packages below by reflection; 5.0's does not.
_FROM_16 = (
    *_ON_17,
    *opened(
        *_of_base("java.math", "java.net", "java.nio", "java.nio.charset", "java.nio.file.spi"),
        *_of_base("java.util.concurrent", "java.util.concurrent.atomic"),
    ),
)
JDK_FLAGS = {
    8: ("-XX:ThreadPriorityPolicy=42",),  # conf/jvm8-server.options
    11: _FROM_11,
    # Published benchmarks ran 4.0 on these JDKs: tlp-2020 on 14, datastax-2021 on 16.
    14: _FROM_11,
    16: _FROM_16,
    # For datastax-2021 on one machine, because no registry has a JDK 16.
    17: _FROM_16,
}

# conf/jvm11-server.options. CMS is the default of 4.0, and the flags of G1 are comments in this file. It has no flags
# for ZGC and Shenandoah.
CMS_FLAGS = (
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
)
_G1_FLAGS = (
    "-XX:+UseG1GC",
    "-XX:+ParallelRefProcEnabled",
    "-XX:G1RSetUpdatingPauseTimePercent=5",
    "-XX:MaxGCPauseMillis=500",
)

CASSANDRA_4_0 = Release(
    line="4.0",
    settings=SETTINGS,
    jvm_flags=JVM_FLAGS,
    jdk_flags=JDK_FLAGS,
    collector_flags={"CMS": CMS_FLAGS, "G1": _G1_FLAGS},
    listening="Listening on address:",
    ready="Startup complete",
    allocation_setting="allocate_tokens_for_local_replication_factor",
)


# Lines of conf/cassandra.yaml that differ from those of 4.0: before its betas, and in 3.11.
_SETTINGS_BEFORE: Mapping[str, JsonValue] = {
    **CASSANDRA_4_0.settings,
    "num_tokens": 256,
    "compaction_throughput_mb_per_sec": 16,
}
CASSANDRA_3_11 = Release(
    line="3.11",
    # The protocol of old clients: the code's default is on, the shipped file turns it off.
    settings={**_SETTINGS_BEFORE, "start_rpc": False},
    jvm_flags=(
        *("-ea", "-XX:+UseThreadPriorities", "-XX:ThreadPriorityPolicy=42", "-XX:+HeapDumpOnOutOfMemoryError"),
        *("-Xss256k", "-XX:StringTableSize=1000003", *_LAST_FLAGS),
    ),
    jdk_flags={8: ()},
    collector_flags={
        # The young generation's collector had to be named until JDK 9; a later JDK does not start with the flag.
        "CMS": ("-XX:+UseParNewGC", *CASSANDRA_4_0.collector_flags["CMS"]),
        "G1": ("-XX:+UseG1GC", "-XX:G1RSetUpdatingPauseTimePercent=5", "-XX:MaxGCPauseMillis=500"),
    },
    listening="Starting Messaging Service on ",
    ready="Starting listening for CQL clients on ",
    reports_compactions=False,
)

# 4.1, as shipped where it differs from 4.0. conf/cassandra.yaml: durations and rates have units since then.
# conf/jvm11-server.options: G1 is the default, and the flags of CMS are comments in this file.
_WITHOUT_UNITS = ("commitlog_sync_period_in_ms", "compaction_throughput_mb_per_sec")
CASSANDRA_4_1 = replace(
    CASSANDRA_4_0,
    line="4.1",
    settings={
        **{key: value for key, value in CASSANDRA_4_0.settings.items() if key not in _WITHOUT_UNITS},
        "commitlog_sync_period": "10000ms",
        "compaction_throughput": "64MiB/s",
    },
    jdk_flags={11: CASSANDRA_4_0.jdk_flags[11]},
    collector_flags={
        "CMS": CASSANDRA_4_0.collector_flags["CMS"],
        "G1": (
            "-XX:+UseG1GC",
            "-XX:+ParallelRefProcEnabled",
            "-XX:MaxTenuringThreshold=1",
            "-XX:G1HeapRegionSize=16m",
            "-XX:G1RSetUpdatingPauseTimePercent=5",
            "-XX:MaxGCPauseMillis=300",
            "-XX:InitiatingHeapOccupancyPercent=70",
        ),
    },
)

# 4.1 has this flag for every JDK. 5.0 has it for JDK 11 only, because later JDKs do not know it.
_ON_11_ONLY = "-XX:-UseBiasedLocking"
_NETTY = ("-Dio.netty.allocator.useCacheForAllThreads=true", "-Dio.netty.allocator.maxOrder=11")
CASSANDRA_5_0 = replace(
    CASSANDRA_4_1,
    line="5.0",
    jvm_flags=tuple(flag for flag in CASSANDRA_4_1.jvm_flags if flag != _ON_11_ONLY),
    jdk_flags={
        11: (_ON_11_ONLY, *CASSANDRA_4_1.jdk_flags[11], *exported("java.base/jdk.internal.util"), *_NETTY),
        17: (*_ON_17, *_NETTY),
    },
)

RELEASES = (CASSANDRA_3_11, CASSANDRA_4_0, CASSANDRA_4_1, CASSANDRA_5_0)

CASSANDRA_4_0_ALPHA = replace(
    CASSANDRA_4_0,
    settings=_SETTINGS_BEFORE,
    jvm_flags=(*CASSANDRA_4_0.jvm_flags, "-XX:StringTableSize=1000003"),
    # The log line that says that clients can connect has another text than in later versions.
    ready=CASSANDRA_3_11.ready,
    allocation_setting="",
)


def release_of(version: str) -> Release | None:
    """Return the release line of a version such as `4.0.1` or `4.0-alpha4`; None where that line is not known here."""
    if version.startswith("4.0-alpha"):
        return CASSANDRA_4_0_ALPHA
    return next((release for release in RELEASES if re.match(rf"{re.escape(release.line)}[.-]", version)), None)
