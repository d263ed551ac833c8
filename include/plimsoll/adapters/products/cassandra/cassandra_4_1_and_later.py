"""Cassandra 4.1 and 5.0 as shipped: the values of their `conf/` that differ from those of the line before."""

from collections.abc import Mapping

from pydantic import JsonValue

from plimsoll.adapters.products.cassandra.cassandra_4_0 import CASSANDRA_4_0, CMS_FLAGS, JDK_FLAGS, ON_17
from plimsoll.adapters.products.cassandra.release import Release
from plimsoll.adapters.products.nodes.jvm_flags import exported

# conf/cassandra.yaml: durations and rates have units since 4.1.
SETTINGS: Mapping[str, JsonValue] = {
    "num_tokens": 16,
    "partitioner": "org.apache.cassandra.dht.Murmur3Partitioner",
    "endpoint_snitch": "SimpleSnitch",
    "commitlog_sync": "periodic",
    "commitlog_sync_period": "10000ms",
    "disk_failure_policy": "stop",
    "commit_failure_policy": "stop",
    "compaction_throughput": "64MiB/s",
    "internode_compression": "dc",
    "inter_dc_tcp_nodelay": False,
}

# conf/jvm11-server.options. G1 is the default, and the flags of CMS are comments in this file.
G1_FLAGS = (
    "-XX:+UseG1GC",
    "-XX:+ParallelRefProcEnabled",
    "-XX:MaxTenuringThreshold=1",
    "-XX:G1HeapRegionSize=16m",
    "-XX:G1RSetUpdatingPauseTimePercent=5",
    "-XX:MaxGCPauseMillis=300",
    "-XX:InitiatingHeapOccupancyPercent=70",
)

CASSANDRA_4_1 = Release(
    line="4.1",
    settings=SETTINGS,
    jvm_flags=CASSANDRA_4_0.jvm_flags,
    jdk_flags={11: JDK_FLAGS[11]},
    collector_flags={"CMS": CMS_FLAGS, "G1": G1_FLAGS},
    environment=CASSANDRA_4_0.environment,
    agent_jar=CASSANDRA_4_0.agent_jar,
    listening=CASSANDRA_4_0.listening,
    ready=CASSANDRA_4_0.ready,
    allocation_setting=CASSANDRA_4_0.allocation_setting,
)

# 4.1 has this flag for every JDK. 5.0 has it for JDK 11 only, because later JDKs do not know it.
_ON_11_ONLY = "-XX:-UseBiasedLocking"

JVM_FLAGS = tuple(flag for flag in CASSANDRA_4_1.jvm_flags if flag != _ON_11_ONLY)
_NETTY = ("-Dio.netty.allocator.useCacheForAllThreads=true", "-Dio.netty.allocator.maxOrder=11")

CASSANDRA_5_0 = Release(
    line="5.0",
    settings=CASSANDRA_4_1.settings,
    jvm_flags=JVM_FLAGS,
    jdk_flags={
        11: (_ON_11_ONLY, *CASSANDRA_4_1.jdk_flags[11], *exported("java.base/jdk.internal.util"), *_NETTY),
        17: (*ON_17, *_NETTY),
    },
    collector_flags={"CMS": CMS_FLAGS, "G1": G1_FLAGS},
    environment=CASSANDRA_4_1.environment,
    agent_jar=CASSANDRA_4_1.agent_jar,
    listening=CASSANDRA_4_1.listening,
    ready=CASSANDRA_4_1.ready,
    allocation_setting=CASSANDRA_4_1.allocation_setting,
)
