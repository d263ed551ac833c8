"""The release lines that can be deployed, as shipped, with the values of their `conf/`: each as it differs from 4.0.

Cassandra 3.11 runs on JDK 8 only. The values of 4.0 before its betas were read in the tarball of 4.0-alpha2, which is
on Maven Central. 4.0-alpha4 is of April 2020; Cassandra changed the two settings in July 2020, before the first beta.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from pydantic import JsonValue

from plimsoll.adapters.products.cassandra.release import CASSANDRA_4_0, LAST_FLAGS, ON_17, Release
from plimsoll.adapters.products.nodes.jvm_flags import exported

# Lines of conf/cassandra.yaml that differ from those of 4.0: before its betas, and in 3.11.
_SETTINGS_BEFORE: Mapping[str, JsonValue] = {
    **CASSANDRA_4_0.settings,
    "num_tokens": 256,
    "compaction_throughput_mb_per_sec": 16,
}
# The protocol of old clients: the code's default is on, the shipped file turns it off.
SETTINGS: Mapping[str, JsonValue] = {**_SETTINGS_BEFORE, "start_rpc": False}

JVM_FLAGS = (
    "-ea",
    "-XX:+UseThreadPriorities",
    "-XX:ThreadPriorityPolicy=42",
    "-XX:+HeapDumpOnOutOfMemoryError",
    "-Xss256k",
    "-XX:StringTableSize=1000003",
    *LAST_FLAGS,
)

# The young generation's collector had to be named until JDK 9; a later JDK does not start with the flag.
CMS_FLAGS = ("-XX:+UseParNewGC", *CASSANDRA_4_0.collector_flags["CMS"])

G1_FLAGS = ("-XX:+UseG1GC", "-XX:G1RSetUpdatingPauseTimePercent=5", "-XX:MaxGCPauseMillis=500")

CASSANDRA_3_11 = Release(
    line="3.11",
    settings=SETTINGS,
    jvm_flags=JVM_FLAGS,
    jdk_flags={8: ()},
    collector_flags={"CMS": CMS_FLAGS, "G1": G1_FLAGS},
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
        17: (*ON_17, *_NETTY),
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
