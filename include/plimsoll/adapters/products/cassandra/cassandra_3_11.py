"""Cassandra 3.11 as shipped, with the values of its `conf/` (`cassandra.yaml`, `jvm.options`, `cassandra-env.sh`).

It runs on JDK 8 only.
"""

from collections.abc import Mapping

from pydantic import JsonValue

from plimsoll.adapters.products.cassandra import cassandra_4_0
from plimsoll.adapters.products.cassandra.release import Release

# Lines of conf/cassandra.yaml that differ from those of 4.0.
SETTINGS: Mapping[str, JsonValue] = {
    **cassandra_4_0.SETTINGS,
    "num_tokens": 256,
    "compaction_throughput_mb_per_sec": 16,
    # The protocol of old clients: the code's default is on, the shipped file turns it off.
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

# The young generation's collector had to be named until JDK 9; a later JDK does not start with the flag.
CMS_FLAGS = ("-XX:+UseParNewGC", *cassandra_4_0.CMS_FLAGS)
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
    reports_compactions=False,
)
