"""Cassandra 3.11 as it is shipped: what its own `conf/` says (`cassandra.yaml`, `jvm.options`, `cassandra-env.sh`).

It runs on JDK 8 and on no later one.
"""

from collections.abc import Mapping

from pydantic import JsonValue

from plimsoll.adapters.cassandra.release import Release

SETTINGS: Mapping[str, JsonValue] = {
    "num_tokens": 256,
    "partitioner": "org.apache.cassandra.dht.Murmur3Partitioner",
    "endpoint_snitch": "SimpleSnitch",
    "commitlog_sync": "periodic",
    "commitlog_sync_period_in_ms": 10000,
    "disk_failure_policy": "stop",
    "commit_failure_policy": "stop",
    "compaction_throughput_mb_per_sec": 16,
    "internode_compression": "dc",
    "inter_dc_tcp_nodelay": False,
    # Clients of the old protocol: on by default in the code, off as shipped.
    "start_rpc": False,
}

JVM_FLAGS = (
    "-ea",
    "-XX:+UseThreadPriorities",
    "-XX:ThreadPriorityPolicy=42",
    "-XX:+HeapDumpOnOutOfMemoryError",
    "-Xss256k",
    "-XX:StringTableSize=1000003",
    "-XX:+AlwaysPreTouch",
    "-XX:-UseBiasedLocking",
    "-XX:+UseTLAB",
    "-XX:+ResizeTLAB",
    "-XX:+UseNUMA",
    "-XX:+PerfDisableSharedMem",
    "-Djava.net.preferIPv4Stack=true",
    "-XX:OnOutOfMemoryError=kill -9 %p",
)

CMS_FLAGS = (
    "-XX:+UseParNewGC",
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
    "-XX:+UseCondCardMark",  # conf/cassandra-env.sh
)
G1_FLAGS = ("-XX:+UseG1GC", "-XX:G1RSetUpdatingPauseTimePercent=5", "-XX:MaxGCPauseMillis=500")

CASSANDRA_3_11 = Release(
    line="3.11",
    settings=SETTINGS,
    jvm_flags=JVM_FLAGS,
    jdk_flags={8: ()},
    collector_flags={"CMS": CMS_FLAGS, "G1": G1_FLAGS},
    environment={"MALLOC_ARENA_MAX": "4"},  # conf/cassandra-env.sh
    agent_jar="jamm-",
    listening="Starting Messaging Service on ",
    ready="Starting listening for CQL clients on ",
)
