"""Release lines of Cassandra: everything that differs from one line to the next, and 4.0 as shipped, with the values of
`conf/` in release 4.0.1.

The jars on Maven Central come without `conf/`. Published benchmarks of 4.0 used the files of the release that they ran,
except for the changes that they name. Nodes started here therefore get the same values. The alphas were shipped with
other ones: `releases.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

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
LAST_FLAGS = (
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
    *LAST_FLAGS,
)

_EXPORTS = (
    "java.base/jdk.internal.misc",
    "java.base/jdk.internal.ref",
    "java.base/sun.nio.ch",
    "java.management.rmi/com.sun.jmx.remote.internal.rmi",
    "java.rmi/sun.rmi.registry",
    "java.rmi/sun.rmi.server",
    "java.sql/java.sql",
)
OPENS = (
    "java.base/java.lang.module",
    "java.base/jdk.internal.loader",
    "java.base/jdk.internal.ref",
    "java.base/jdk.internal.reflect",
    "java.base/jdk.internal.math",
    "java.base/jdk.internal.module",
    "java.base/jdk.internal.util.jar",
    "jdk.management/com.sun.management.internal",
)


# conf/jvm11-server.options, which the start script takes for every JDK from 11 on; without the exports and opens the
# JVM ends with exit code 3. JDKs before 16 open all other packages that JDK 8 had.
_FROM_11 = (
    "-Djdk.attach.allowAttachSelf=true",
    *exported(*_EXPORTS),
    *opened(*OPENS),
    "-Dio.netty.tryReflectionSetAccessible=true",
)
# conf/jvm17-server.options of 5.0, less the cache of Netty.
ON_17 = (
    "-Djdk.attach.allowAttachSelf=true",
    *exported(
        "java.base/jdk.internal.misc",
        "java.management.rmi/com.sun.jmx.remote.internal.rmi",
        "java.rmi/sun.rmi.registry",
        "java.rmi/sun.rmi.server",
        "java.sql/java.sql",
        "java.base/java.lang.ref",
        "jdk.unsupported/sun.misc",
        "jdk.compiler/com.sun.tools.javac.file",
        "jdk.attach/sun.tools.attach",
    ),
    *opened(
        *OPENS,
        "java.base/sun.nio.ch",
        "java.base/java.io",
        "java.base/java.lang.reflect",
        "jdk.compiler/com.sun.tools.javac",
        "java.base/java.lang",
        "java.base/java.util",
    ),
    "-Dio.netty.tryReflectionSetAccessible=true",
)
# JDKs from 16 on close packages to reflection unless a flag opens them. 4.0 ships no options for these JDKs. Its jamm
# reads fields of the packages below by reflection; 5.0's does not.
_FROM_16 = (
    *ON_17,
    *opened(
        "java.base/java.math",
        "java.base/java.net",
        "java.base/java.nio",
        "java.base/java.nio.charset",
        "java.base/java.nio.file.spi",
        "java.base/java.util.concurrent",
        "java.base/java.util.concurrent.atomic",
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
G1_FLAGS = (
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
    collector_flags={"CMS": CMS_FLAGS, "G1": G1_FLAGS},
    listening="Listening on address:",
    ready="Startup complete",
    allocation_setting="allocate_tokens_for_local_replication_factor",
)
